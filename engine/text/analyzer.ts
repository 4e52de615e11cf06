// Texts into terms: lower case, cut at everything that is neither letter nor digit (Unicode),
// English stop words dropped, the rest reduced to its English stem. Documents and queries go the
// same way. Stop words and stemmer (M. Porter, "An algorithm for suffix stripping", 1980) are
// lunr's. Its tokenizer cuts at spaces and hyphens only and its trimmer takes letters beyond ASCII
// for punctuation, so the cutting is done here.
import lunr from 'lunr';

/** Longer words are kept as they are: no English word is, and stemming is not linear. */
const stemmedMax = 64;
const memoMax = 65_536;

/** Stem by word; the empty string marks a stop word. Emptied when full. */
const memo = new Map<string, string>();

const words = /[\p{L}\p{N}]+/gu;

/** The terms of a text in order, at most `limit` of them. */
export function analyze(text: string, limit = Number.POSITIVE_INFINITY): string[] {
  const terms: string[] = [];
  for (const word of text.toLowerCase().match(words) ?? []) {
    if (terms.length >= limit) break;
    const term = termOf(word);
    if (term !== '') terms.push(term);
  }
  return terms;
}

function termOf(word: string): string {
  if (word.length > stemmedMax) return word;
  const known = memo.get(word);
  if (known !== undefined) return known;
  const term = stem(word);
  if (memo.size >= memoMax) memo.clear();
  memo.set(word, term);
  return term;
}

function stem(word: string): string {
  const token = new lunr.Token(word, {});
  if (lunr.stopWordFilter(token) === undefined) return '';
  return lunr.stemmer(token).toString();
}
