// Stage 3 of the analysis of a text: the parts of a word that is made of words, and its other spellings.
// Names of programs have parts: `get` and `user` find `getUserById`. A word with joiners has other spellings:
// people write `1000000` for `1,000,000` and `dont` for `don't`.
//
// Invariant: pure. A part never replaces its word.
import { segmentsOf } from './cut.js';

/** Longer words are not names, and have no parts. */
const lengthMax = 256;

const hasParts = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}{2}|\p{L}\p{N}/u;
const parts = /\p{N}+|\p{Lu}+(?!\p{Ll})|\p{Lu}?[^\p{Lu}\p{N}]+/gu;

/** Returns the parts of a segment, cut at inner capitals and at digits after letters. None if it has one. */
export function partsOf(segment: string): readonly string[] {
  if (segment.length > lengthMax || !hasParts.test(segment)) return [];
  const found = segment.match(parts) ?? [];
  return found.length > 1 ? found : [];
}

/**
 * Returns the further forms of a word that has joiners: the word as it stands, and without apostrophes or the
 * commas of a number.
 */
export function joinedForms(word: string): readonly string[] {
  const segments = segmentsOf(word);
  if (word.length > lengthMax || word === segments[0]) return [];
  const inner = word.replace(/^[#@]/, '');
  const isJoined = /^[^'']+(?:'[^']+)+$/.test(inner) || /^\p{N}+(?:,\p{N}+)+$/u.test(inner);
  return isJoined ? [word, segments.join('')] : [word];
}
