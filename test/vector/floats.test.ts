// The compiled reader of floats against the language's own: what it reads is bit for bit the same,
// and whatever it is not sure about it leaves.
import { describe, expect, test } from 'vitest';
import { readFloats } from '../../engine/vector/parse-floats.js';
import { long } from './fixture.js';
import { randomFrom } from './random.js';

/** Values and places read from a text that starts with a comma. */
function read(text: string): { values: number[]; places: number[]; heads: number[]; end: number } {
  const { entries, end } = readFloats(Buffer.from(text), 0, 1e9, 2, 8);
  const words = Int32Array.from(entries);
  const floats = new Float64Array(words.buffer);
  const indexes = Array.from({ length: words.length / 4 }, (_, i) => i);
  return {
    values: indexes.map((i) => floats[i * 2 + 1]!),
    places: indexes.map((i) => words[i * 4 + 1]!),
    heads: indexes.map((i) => words[i * 4]!),
    end,
  };
}

/** Tokens of many shapes: shortest forms of floats and singles, fixed and exponential, long ones. */
function tokenFrom(random: () => number): string {
  const value = (random() * 2 - 1) * 10 ** Math.floor(random() * 40 - 25);
  const shape = Math.floor(random() * 10);
  if (shape === 0) return String(Math.fround(value));
  if (shape === 1) return value.toFixed(Math.floor(random() * 25));
  if (shape === 2) return value.toPrecision(1 + Math.floor(random() * 21));
  if (shape === 3) return value.toExponential(Math.floor(random() * 20));
  if (shape === 4) return String(Math.floor(value * 1e18));
  if (shape === 5)
    return (Math.floor(random() * 2 ** 53) + 0.5).toFixed(1 + Math.floor(random() * 3));
  if (shape === 6) return `0.${'0'.repeat(Math.floor(random() * 9))}${Math.floor(random() * 1e15)}`;
  return String(random() * 2 - 1);
}

describe('floats', () => {
  test('fuzzed tokens are parsed as Number parses them, or left', () => {
    const random = randomFrom(61);
    let sure = 0;
    let total = 0;
    for (let round = 0; round < (long ? 20_000 : 1400); round++) {
      const tokens = Array.from({ length: 100 }, () => tokenFrom(random));
      total += tokens.length;
      for (const token of tokens) expectSame(token);
      sure += expectRun(tokens);
    }
    expect(total).toBeGreaterThan(128_000);
    expect(sure / total).toBeGreaterThan(0.85);
  });

  test('ordinary vectors are read whole', () => {
    const random = randomFrom(62);
    const values = Array.from({ length: 700 }, () => random() * 2 - 1);
    const text = `,${values.join(', ')}]`;
    const found = read(text);
    expect(found.values).toEqual(values);
    expect(found.end).toBe(text.length - 1);
    expect(found.places.map((at) => Number.parseFloat(text.slice(at)))).toEqual(values);
  });

  test.each([
    '01',
    '-01',
    '1.',
    '.5',
    '-',
    '+1',
    '1e',
    '1e+',
    '1.e5',
    '0x10',
    'NaN',
    '1_0',
    '1.5.5',
    '"1"',
    'null',
    '[1]',
    '',
    '1 ',
    '1e999',
    '1e-999',
    '4.9e-324',
    '12345678901234567890',
    '0.12345678901234567890123',
    '1e00000000000000000001',
  ])('%s is left', (token) => {
    const found = read(`,0.5,${token},0.25]`);
    expect(found.values).toEqual([0.5]);
    expect(found.end).toBe(4);
  });

  test('signs, zeros, kinds, the end of the bytes', () => {
    const found = read(',-0,0.0,-0.0,0e5,7,-12.50,1E2]');
    expect(found.values).toEqual([-0, 0, -0, 0, 7, -12.5, 100]);
    expect(found.heads).toEqual([2, 10, 10, 10, 2, 10, 10]);
    expect(read(',1,2').values).toEqual([1]);
    expect(read(']').values).toEqual([]);
    expect(read('').end).toBe(0);
  });

  test('a window ends between tokens', () => {
    const text = `,${Array.from({ length: 6000 }, (_, i) => i + 0.25).join(',')}]`;
    const found = read(text);
    expect(found.values.length).toBeGreaterThan(1000);
    expect(found.values).toEqual(found.values.map((_, i) => i + 0.25));
    expect(text[found.end]).toBe(',');
  });
});

function expectSame(token: string): void {
  const { values } = read(`,${token}]`);
  if (values.length > 0 && !Object.is(values[0], Number(token)))
    expect(values[0]).toBe(Number(token));
}

/** Reads a run of tokens, stepping over those that are left; answers how many were read. */
function expectRun(tokens: readonly string[]): number {
  let sure = 0;
  for (let from = 0; from < tokens.length; ) {
    const { values } = read(`,${tokens.slice(from).join(',')}]`);
    for (const [i, value] of values.entries()) {
      if (!Object.is(value, Number(tokens[from + i]))) expect(value).toBe(Number(tokens[from + i]));
    }
    sure += values.length;
    from += values.length + 1;
  }
  return sure;
}
