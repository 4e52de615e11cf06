// What is asked about a query in its call: `?explain=1`, `?profile=1`.

/** What the query string of a call asks for beside the answer. */
export function askedFor(queryString: string): 'explain' | 'profile' | undefined {
  if (queryString === '') return undefined;
  const parameters = new URLSearchParams(queryString);
  if (parameters.get('explain') === '1') return 'explain';
  return parameters.get('profile') === '1' ? 'profile' : undefined;
}
