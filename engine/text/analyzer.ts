// Analyzes texts into terms, for documents and queries alike: lower case, cut at every character that is
// neither letter nor digit (Unicode), without English stop words, reduced to English stems. The stop words
// and the stemmer (M. Porter, "An algorithm for suffix stripping", 1980) are those of the package lunr. This
// file cuts the words, because the tokenizer of lunr cuts only at spaces and hyphens. Its trimmer treats
// letters beyond ASCII as punctuation.
import lunr from 'lunr';

/** Longer words are not stemmed: no English word is longer, and the time of the stemmer is not linear. */
const stemmedMax = 64;
const stemsMax = 65_536;

/** Stem by word; the empty string marks a stop word. Cleared when it is full. */
const stems = new Map<string, string>();

const words = /[\p{L}\p{N}]+/gu;

/** Returns the terms of a text in order, at most `limit` of them. */
export function analyze(text: string, limit = Number.POSITIVE_INFINITY): string[] {
  const terms: string[] = [];
  for (const word of text.toLowerCase().match(words) ?? []) {
    if (terms.length >= limit) break;
    const term = toTerm(word);
    if (term !== '') terms.push(term);
  }
  return terms;
}

/** Terms of a document with their frequencies; `length` counts all of them. */
export interface Document {
  frequencies: ReadonlyMap<string, number>;
  length: number;
}

/** Counts the terms of a document, up to `limit` in all. */
export function countTerms(texts: readonly string[], limit: number): Document {
  const frequencies = new Map<string, number>();
  let length = 0;
  for (const text of texts) {
    const terms = analyze(text, limit - length);
    for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    length += terms.length;
  }
  return { frequencies, length };
}

function toTerm(word: string): string {
  if (word.length > stemmedMax) return word;
  const known = stems.get(word);
  if (known !== undefined) return known;
  const term = stem(word);
  if (stems.size >= stemsMax) stems.clear();
  stems.set(word, term);
  return term;
}

function stem(word: string): string {
  const token = new lunr.Token(word, {});
  if (lunr.stopWordFilter(token) === undefined) return '';
  return lunr.stemmer(token).toString();
}
