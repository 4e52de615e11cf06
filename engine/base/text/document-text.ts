// The texts of which the keyword document of an element consists.
import type { SearchOptions } from './search-options.js';

/** A text of a document; a string has weight 1 and the language of the configuration. */
export type DocumentText = string | MarkedText;

/** A text of a property that bears `SEARCH`. */
export interface MarkedText {
  text: string;
  search: SearchOptions;
}

const textOf = (one: DocumentText): string => (typeof one === 'string' ? one : one.text);

/** Returns true if two documents of one type have the same texts. */
export function sameTexts(a: readonly DocumentText[], b: readonly DocumentText[]): boolean {
  return a.length === b.length && a.every((one, i) => textOf(one) === textOf(b[i]!));
}
