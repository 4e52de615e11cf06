// Reads the flags of a call that ask about its query: `?explain=1` and `?profile=1`.

/** What the query string requests in addition to the answer; undefined for nothing. */
export function explainFlagOf(queryString: string): 'explain' | 'profile' | undefined {
  if (queryString === '') return undefined;
  const parameters = new URLSearchParams(queryString);
  if (parameters.get('explain') === '1') return 'explain';
  return parameters.get('profile') === '1' ? 'profile' : undefined;
}
