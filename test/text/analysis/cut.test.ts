// TX02, TX03: the cases of the second stage, and the fast path for ASCII against the general expression.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  cutWords,
  dictionaryWords,
  pairsOf,
  segmentsOf,
  runsOf,
} from '../../../engine/text/analysis/cut.js';
import { languageOf } from '../../../engine/text/analysis/language.js';
import { analyzeWord } from '../../../engine/text/analysis/word.js';
import { WordTable } from '../../../engine/text/analysis/word-table.js';

const cases: [text: string, words: string[]][] = [
  ['', []],
  [' .,;:!? ', []],
  ['one, two;three', ['one', 'two', 'three']],
  ["don't 1,000,000 1.2.3", ["don't", '1,000,000', '1.2.3']],
  ['a,b 1,b 1,2', ['a', 'b', '1', 'b', '1,2']],
  ['boundary-layer_flow/over.wings', ['boundary-layer_flow/over.wings']],
  ['user@example.com #tag @name', ['user@example.com', '#tag', '@name']],
  ['C# C++ c+ F#.', ['C#', 'C++', 'c+', 'F#']],
  ['-5 --flag a--b', ['5', 'flag', 'a', 'b']],
  ['كِتَابٌ جديد', ['كِتَابٌ', 'جديد']],
  ['नमस्ते दुनिया', ['नमस्ते', 'दुनिया']],
  ['我们 去。东京', ['我们', '去', '东京']],
  ['😀👍🏽 🇩🇪', ['😀', '👍🏽', '🇩🇪']],
  ['👨\u200d👩\u200d👧!', ['👨\u200d👩\u200d👧']],
  ['5 € → 3×', ['5', '€', '→', '3', '×']],
  ['a = b + c', ['a', 'b', 'c']],
];

it.each(cases)('TX02: %j is cut into words', (text, words) => {
  expect(cutWords(text)).toEqual(words);
});

it('TX02: a word is cut into segments at its joiners', () => {
  expect(segmentsOf("l'homme")).toEqual(['l', 'homme']);
  expect(segmentsOf('1,000.5')).toEqual(['1', '000', '5']);
  expect(segmentsOf('€')).toEqual([]);
});

it('TX03: a word is cut into runs where its script begins or ends to have spaces', () => {
  expect(runsOf('iPhone手机')).toEqual([
    { kind: 'plain', text: 'iPhone' },
    { kind: 'pairs', text: '手机' },
  ]);
  expect(runsOf('第3回').map(({ kind }) => kind)).toEqual(['pairs', 'plain', 'pairs']);
  expect(runsOf('ロビー').map(({ text }) => text)).toEqual(['ロビー']);
  expect(runsOf('ไทยabc').map(({ kind }) => kind)).toEqual(['dictionary', 'plain']);
  expect(runsOf('русский')).toEqual([{ kind: 'plain', text: 'русский' }]);
});

it('TX03: a run gives each two neighbors', () => {
  expect(pairsOf([...'北京大学'])).toEqual(['北京', '京大', '大学']);
  expect(pairsOf([...'𠮷野家'])).toEqual(['𠮷野', '野家']);
  expect(pairsOf(['京'])).toEqual(['京']);
});

it('TX03: ICU cuts Thai, Lao, Khmer and Burmese', () => {
  expect(dictionaryWords('ภาษาไทยง่ายมาก')).toEqual(['ภาษา', 'ไทย', 'ง่าย', 'มาก']);
  for (const run of ['ພາສາລາວງ່າຍ', 'ភាសាខ្មែរងាយ', 'မြန်မာစာလွယ်သည်']) {
    const words = dictionaryWords(run);
    expect(words.length, run).toBeGreaterThan(1);
    expect(words.join('')).toBe(run);
  }
  const long = 'ภาษา'.repeat(5000);
  expect(dictionaryWords(long).join('')).toBe(long);
});

it('TX02: an ASCII text has the same words on its fast path', () => {
  const rules = { language: languageOf('english'), hasSurfaces: true };
  const table = new WordTable(rules);
  const ascii = fc.string({
    unit: fc.constantFrom(...'aB1 ,.-_/@#+\'"!\n'),
    maxLength: 30,
  });
  fc.assert(
    fc.property(ascii, (text) => {
      const count = table.cut(text);
      const found = Array.from(table.ids.subarray(0, count), (id) => table.terms[id]!);
      expect(found).toEqual(cutWords(text).map((word) => analyzeWord(word, rules)));
    }),
    { numRuns: 2000 },
  );
});

it('the table of words forgets, grows and keeps words apart', () => {
  const rules = { language: languageOf('none'), hasSurfaces: false };
  const table = new WordTable(rules);
  for (let round = 0; round < 3; round++) {
    table.begin();
    const words = Array.from({ length: 70_000 }, (_, i) => `word${i * 7 + round}`);
    const count = table.cut(`${words.join(' ')} é ${words[5]}`);
    expect(count).toBe(words.length + 2);
    expect(table.ids[count - 1]).toBe(table.ids[5]);
    expect(table.terms[table.ids[69_999]!]).toMatchObject({ counted: [words[69_999]] });
    expect(table.terms[table.ids[70_000]!]).toBe('e');
  }
});
