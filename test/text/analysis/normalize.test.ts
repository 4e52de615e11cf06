// TX01: the cases of the first stage, and of folding the case.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { foldCase, isAscii, normalize } from '../../../engine/text/analysis/normalize.js';

const cases: [what: string, text: string, expected: string][] = [
  ['ASCII stays', "Don't, C++ 1,000", "Don't, C++ 1,000"],
  ['full width becomes plain', 'ＡＢＣ１２３', 'ABC123'],
  ['half-width Katakana becomes full', 'ｶﾀｶﾅ', 'カタカナ'],
  ['marks join their letters', 'cafe\u0301', 'café'],
  ['ligatures are taken apart', 'ﬁne ㎏ №', 'fine kg No'],
  ['mathematical letters become plain', '𝒜lgebra 𝟙', 'Algebra 1'],
  ['a soft hyphen goes', 'co\u00adoperate', 'cooperate'],
  ['a zero-width space and a byte order mark go', '\ufefffoo\u200bbar', 'foobar'],
  ['a variation selector goes', '❤\ufe0f', '❤'],
  ['a joiner goes from Persian', 'می\u200cخواهم', 'میخواهم'],
  ['a joiner stays in Devanagari', 'क्\u200dष', 'क्\u200dष'],
  ['a joiner stays in emoji', '👨\u200d👩\u200d👧', '👨\u200d👩\u200d👧'],
  ['a typographic apostrophe becomes plain', 'don’t rock ‘n’ roll', "don't rock 'n' roll"],
  ['a Hebrew quotation mark inside a word joins', 'צה״ל צה"ל', "צה'ל צה'ל"],
  ['a typographic hyphen becomes plain', 'e\u2010mail e\u2011mail', 'e-mail e-mail'],
];

it.each(cases)('TX01: %s', (_, text, expected) => {
  expect(normalize(text)).toBe(expected);
});

const folds: [word: string, expected: string][] = [
  ['README', 'readme'],
  ['Straße', 'strasse'],
  ['STRASSE', 'strasse'],
  ['ΣΊΣΥΦΟΣ', 'σίσυφοσ'],
  ['Σίσυφος', 'σίσυφοσ'],
  ['İstanbul', 'istanbul'],
  ['МОСКВА', 'москва'],
  ['Եվ', 'եվ'],
  ['ÀÉÎ', 'àéî'],
];

it.each(folds)('TX01: the case of %s is folded', (word, expected) => {
  expect(foldCase(word)).toBe(expected);
});

it('TX01: a normalized text and a folded word do not change again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const once = normalize(text);
      expect(normalize(once)).toBe(once);
      if (isAscii(text)) expect(once).toBe(text);
      expect(foldCase(foldCase(once))).toBe(foldCase(once));
    }),
  );
});
