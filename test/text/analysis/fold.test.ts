// TX05: the cases of the fourth stage.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fold } from '../../../engine/text/analysis/fold.js';
import { foldCase, normalize } from '../../../engine/text/analysis/normalize.js';

const cases: [what: string, word: string, expected: string][] = [
  ['French', 'crème', 'creme'],
  ['German', 'über', 'uber'],
  ['Polish', 'łódź', 'lodz'],
  ['Danish', 'rødgrød', 'rodgrod'],
  ['Icelandic', 'þingvellir', 'thingvellir'],
  ['Turkish', 'ığdır', 'igdir'],
  ['Vietnamese', 'đặng', 'dang'],
  ['Greek', 'σίσυφοσ', 'σισυφοσ'],
  ['Greek with breathings', 'ἀθῆναι', 'αθηναι'],
  ['Russian ё', 'ёлка', 'елка'],
  ['Russian й', 'йод', 'йод'],
  ['Ukrainian', 'їжак', 'іжак'],
  ['Hebrew points', 'שָׁלוֹם', 'שלום'],
  ['Arabic vowel signs', 'كِتَابٌ', 'كتاب'],
  ['Arabic tatweel', 'كتـــاب', 'كتاب'],
  ['Arabic alef forms', 'أحمد', 'احمد'],
  ['Arabic alef maksura', 'موسى', 'موسي'],
  ['Persian kaf and yeh', 'کی', 'كي'],
  ['Arabic digits', '٢٠٢٤', '2024'],
  ['Persian digits', '۱۲', '12'],
  ['Devanagari stays', 'नमस्ते', 'नमस्ते'],
  ['Devanagari digits', '२०', '20'],
  ['Tamil stays', 'தமிழ்', 'தமிழ்'],
  ['Thai stays', 'ง่าย', 'ง่าย'],
  ['Japanese voice marks stay', 'がぎぐ', 'がぎぐ'],
  ['Korean stays', '한국어', '한국어'],
];

it.each(cases)('TX05: %s', (_, word, expected) => {
  expect(fold(word)).toBe(expected);
});

it('TX05: a folded word does not change again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const once = fold(foldCase(normalize(text)));
      expect(fold(once)).toBe(once);
    }),
  );
});
