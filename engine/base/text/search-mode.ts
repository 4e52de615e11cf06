// How a keyword search reads its text.

export const searchModes = ['any', 'all', 'phrase', 'query'] as const;

/**
 * `any`: documents with any of the words. `all`: with every word. `phrase`: with the words in this order,
 * each directly after the one before. `query`: as people type queries: `"a phrase"`, `+must`, `-not`,
 * `word*`.
 */
export type SearchMode = (typeof searchModes)[number];

export const isSearchMode = (text: string): text is SearchMode =>
  (searchModes as readonly string[]).includes(text);
