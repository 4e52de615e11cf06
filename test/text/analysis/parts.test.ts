// TX04: the cases of the third stage.
import { expect, it } from 'vitest';
import { joinedForms, partsOf } from '../../../engine/text/analysis/parts.js';

const parts: [segment: string, expected: string[]][] = [
  ['getUserById', ['get', 'User', 'By', 'Id']],
  ['HTTPServer', ['HTTP', 'Server']],
  ['iPhone', ['i', 'Phone']],
  ['McDonald', ['Mc', 'Donald']],
  ['h2o', ['h', '2', 'o']],
  ['y2', ['y', '2']],
  ['ÉcoleNormale', ['École', 'Normale']],
  ['10km', []],
  ['USA', []],
  ['IDs', []],
  ['plain', []],
  ['Plain', []],
  ['мирТруд', ['мир', 'Труд']],
  [`${'aB'.repeat(200)}`, []],
];

it.each(parts)('TX04: the parts of %s', (segment, expected) => {
  expect(partsOf(segment)).toEqual(expected);
});

const forms: [word: string, expected: string[]][] = [
  ['plain', []],
  ["don't", ["don't", 'dont']],
  ["rock'n'roll", ["rock'n'roll", 'rocknroll']],
  ['1,000,000', ['1,000,000', '1000000']],
  ['1.2.3', ['1.2.3']],
  ['C#', ['C#']],
  ['C++', ['C++']],
  ['@name', ['@name']],
  ['user@example.com', ['user@example.com']],
  ['well-known', ['well-known']],
];

it.each(forms)('TX04: the further forms of %s', (word, expected) => {
  expect(joinedForms(word)).toEqual(expected);
});
