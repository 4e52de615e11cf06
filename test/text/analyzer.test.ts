// The stages together: terms of words, and how a document counts them.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type DocumentRules,
  analyze,
  analyzeWords,
  countTerms,
} from '../../engine/text/analysis/analyzer.js';

const cases: [string, string[]][] = [
  ['', []],
  ['the of and', []],
  ['Ferns like shade', ['fern', 'shade']],
  ['running runner RUNS', ['run', 'runner', 'run']],
  ['boundary-layer_flow/over.wings', ['boundari', 'layer', 'flow', 'over', 'wing']],
  ['x y2 3', ['x', 'y2', '3']],
  ['École Straße ÑANDÚ', ['ecol', 'strass', 'nandu']],
  ['Ἀθῆναι 東京都 мир', ['αθηναι', '東京', '京都', 'мир']],
  ['𝒜lgebra 𝟙 😀 ok', ['algebra', '1', '😀', 'ok']],
  ["don't", ['don', 't']],
  ['constructor __proto__ toString', ['constructor', 'proto', 'tostr']],
  ['a\u0000b', ['b']],
];

it.each(cases)('the terms of %j that count', (text, terms) => {
  expect(analyze(text)).toEqual(terms);
  // A second time from the table.
  expect(analyze(text)).toEqual(terms);
});

const rules: DocumentRules = { documentTerms: 1_000_000, language: 'english' };
const count = (text: string, documentTerms = rules.documentTerms) => {
  const { frequencies, length } = countTerms([text], { ...rules, documentTerms });
  return { length, terms: Object.fromEntries(frequencies) };
};

it('TX04: parts and further forms find a word, and do not count for the length', () => {
  expect(count('getUserById')).toEqual({
    length: 1,
    terms: { getuserbyid: 1, get: 1, user: 1, by: 1, id: 1 },
  });
  expect(count('1,000,000')).toMatchObject({ length: 3, terms: { '1000000': 1, '1,000,000': 1 } });
  expect(count('C++ and C#')).toMatchObject({ length: 2, terms: { c: 2, 'c++': 1, 'c#': 1 } });
  expect(count('東京')).toEqual({ length: 1, terms: { 東京: 1, 京: 1 } });
});

it('TX07: stop words are indexed and do not count for the length', () => {
  expect(count('The cat and the dog')).toEqual({
    length: 2,
    terms: { cat: 1, dog: 1, the: 2, and: 1 },
  });
  expect(count('The Who')).toEqual({ length: 0, terms: { the: 1, who: 1 } });
});

it('a document ends at its largest number of terms', () => {
  expect(count('one the two three the four', 2)).toEqual({
    length: 2,
    terms: { on: 1, two: 1, the: 1 },
  });
  expect(count('a-b-c-d', 3).length).toBe(3);
  const long = 'x'.repeat(1_000_000);
  expect(analyze(`a ${long}`)).toEqual([long]);
});

it('TX08: a weight multiplies frequencies and length', () => {
  const { frequencies, length } = countTerms(
    [{ text: 'cat dog', search: { weight: 3 } }, 'cat'],
    rules,
  );
  expect(Object.fromEntries(frequencies)).toEqual({ cat: 4, dog: 3 });
  expect(length).toBe(7);
});

it('document and query go the same way', () => {
  const word = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    fc.constantFrom(
      'getUserById',
      "don't",
      '1,000',
      '東京都庁',
      'ภาษาไทย',
      'crème',
      'the',
      '👍🏽',
      'C++',
    ),
  );
  const words = fc.array(word, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(words, fc.nat(), fc.nat(), (list, a, b) => {
      const pieces = list.join(' ').split(/\s+/);
      const [from, to] = [a % pieces.length, b % pieces.length].sort((x, y) => x - y);
      const { frequencies } = countTerms([pieces.join(' ')], rules);
      for (const { counted, stopWords, forms, parts } of analyzeWords(
        pieces.slice(from, to! + 1).join(' '),
        'english',
      ))
        for (const term of [...counted, ...stopWords, ...forms, ...parts])
          expect(frequencies.get(term), term).toBeGreaterThan(0);
    }),
    { numRuns: 1000 },
  );
});
