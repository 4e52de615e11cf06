// Ad hoc queries: a text is compiled once for each program, and the cache keeps a bounded number of texts.
import { expect, test } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { queryOf } from '../../engine/database/ad-hoc.js';
import { compileShop } from './shop.js';

const text = (name: string) => `x <- N<Item>({key: "${name}"}) RETURN x`;

test('a repeated text uses the cached plan', () => {
  const program = compileShop('', false);
  const first = queryOf(text('a'), program, defaultLimits);
  expect(queryOf(text('a'), program, defaultLimits)).toBe(first);
  expect(queryOf(text('b'), program, defaultLimits)).not.toBe(first);
  expect(queryOf(text('a'), program, defaultLimits).plan).toBe(first.plan);
});

test('another program, other limits and invalid texts have no cached plan', () => {
  const program = compileShop('', false);
  const first = queryOf(text('a'), program, defaultLimits);
  expect(queryOf(text('a'), compileShop('', false), defaultLimits)).not.toBe(first);
  expect(queryOf(text('a'), program, { ...defaultLimits })).not.toBe(first);
  for (let i = 0; i < 2; i++) {
    expect(() => queryOf('RETURN nothing', program, defaultLimits)).toThrow('nothing');
  }
});

test('the least recently used plans are dropped', () => {
  const program = compileShop('', false);
  const long = (i: number) => text(`${i}${'x'.repeat(8_000)}`);
  const [first, second] = [0, 1].map((i) => queryOf(long(i), program, defaultLimits));
  for (let i = 2; i < 8; i++) queryOf(long(i), program, defaultLimits);
  expect(queryOf(long(0), program, defaultLimits)).toBe(first);
  queryOf(long(8), program, defaultLimits);
  expect(queryOf(long(0), program, defaultLimits)).toBe(first);
  expect(queryOf(long(1), program, defaultLimits)).not.toBe(second);
});
