// Cases of the analyzer: cutting, letter case, stop words, stems.
import { expect, it } from 'vitest';
import { analyze } from '../../engine/text/analyzer.js';

const cases: [string, string[]][] = [
  ['', []],
  ['the of and', []],
  ['Ferns like shade', ['fern', 'shade']],
  ['running runner RUNS', ['run', 'runner', 'run']],
  ['boundary-layer_flow/over.wings', ['boundari', 'layer', 'flow', 'over', 'wing']],
  ['x y2 3', ['x', 'y2', '3']],
  ['École Straße ÑANDÚ', ['école', 'straße', 'ñandú']],
  ['Ἀθῆναι 東京 мир', ['ἀθῆναι', '東京', 'мир']],
  ['𝒜lgebra 𝟙 😀 ok', ['𝒜lgebra', '𝟙', 'ok']],
  ["don't", ['don', 't']],
  ['constructor __proto__ toString', ['constructor', 'proto', 'tostr']],
  ['a\u0000b', ['b']],
];

it.each(cases)('%j', (text, terms) => {
  expect(analyze(text)).toEqual(terms);
  // A second time from the memo.
  expect(analyze(text)).toEqual(terms);
});

it('stops at the limit and takes words of any length', () => {
  expect(analyze('one two three four', 2)).toEqual(['on', 'two']);
  const long = 'x'.repeat(1_000_000);
  expect(analyze(`a ${long}`)).toEqual([long]);
});
