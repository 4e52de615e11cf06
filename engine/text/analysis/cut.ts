// Stage 2 of the analysis of a text: cuts it into words, and a word into runs that are analyzed alike.
//
// A word is a run of letters, digits and their marks. Single joiners inside it belong to it, as in `don't`,
// `1,000,000`, `1.2.3`, `layer_flow` and `user@example.com` (Unicode, UAX #29, widened to the names that
// programs use). Each emoji, and each symbol beyond ASCII, is a word.
//
// Chinese, Japanese and Korean have no spaces between words: a run of theirs gives each two neighbors. Thai,
// Lao, Khmer and Burmese have none either: the dictionaries of ICU cut them.
//
// Invariant: pure. word-table.ts cuts ASCII texts into the same words.
import { isAscii } from './normalize.js';

/** One or more letters, digits and marks, with the joiners that only look. */
const letters = String.raw`[\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M}\u200C\u200D]*`;
const joiner = String.raw`(?:[-'._/@#+]|(?<=\p{N}),(?=\p{N}))`;
const emoji = String.raw`(?:\p{RI}\p{RI}|(?![\0-\x7f])\p{Extended_Pictographic})(?:\p{Emoji_Modifier}|\u200D\p{Extended_Pictographic})*`;
const symbol = String.raw`(?![\0-\x7f])\p{S}`;

/** A word may begin with `#` or `@`, and end with `#`, `+` or `++`, as `C#` and `C++` do. */
const word = `[#@]?${letters}(?:${joiner}${letters})*(?:\\+\\+|[+#])?`;
const words = new RegExp(`${word}|${emoji}|${symbol}`, 'gu');

/** Returns the words of a normalized text in order, with their case. */
export const cutWords = (text: string): readonly string[] => text.match(words) ?? [];

/** A part of a word without joiners, by how it becomes terms. */
export interface Run {
  /** `pairs`: each two neighboring characters; `dictionary`: cut by ICU; `plain`: one term. */
  kind: 'plain' | 'pairs' | 'dictionary';
  text: string;
}

const segment = new RegExp(letters, 'gu');
const pairs = String.raw`\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Bopo}\u30FC`;
const dictionary = String.raw`\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}`;
const runs = new RegExp(`(?<pairs>[${pairs}]+)|(?<dictionary>[${dictionary}]+)|.`, 'gsu');
const unspaced = new RegExp(`[${pairs}${dictionary}]`, 'u');

/** Returns the segments of a word between its joiners: letters, digits and marks. None for a symbol. */
export const segmentsOf = (written: string): readonly string[] => written.match(segment) ?? [];

/** Cuts a segment of a word where it changes to or from a script without spaces. */
export function runsOf(segment: string): readonly Run[] {
  if (isAscii(segment) || !unspaced.test(segment)) return [{ kind: 'plain', text: segment }];
  const found: Run[] = [];
  for (const { 0: text, groups } of segment.matchAll(runs)) {
    const kind = groups!.pairs ? 'pairs' : groups!.dictionary ? 'dictionary' : 'plain';
    const last = found.at(-1);
    if (kind === 'plain' && last?.kind === 'plain') last.text += text;
    else found.push({ kind, text });
  }
  return found;
}

let segmenter: Intl.Segmenter | undefined;

/** Characters that ICU cuts in one call. Longer runs are not prose, and its time is not linear. */
const dictionaryMax = 10_000;

/** Returns the words that the dictionaries of ICU find in a run. */
export function dictionaryWords(run: string): string[] {
  segmenter ??= new Intl.Segmenter('th', { granularity: 'word' });
  const found: string[] = [];
  for (let at = 0; at < run.length; at += dictionaryMax)
    for (const { segment } of segmenter.segment(run.slice(at, at + dictionaryMax)))
      found.push(segment);
  return found;
}

/** Returns each two neighboring characters of a run, or the character of a run of one. */
export function pairsOf(characters: readonly string[]): string[] {
  if (characters.length === 1) return [characters[0]!];
  return characters.slice(1).map((character, i) => characters[i]! + character);
}
