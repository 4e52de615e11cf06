// The vectors of the `hash` model that the specification lists, and what it promises about all
// others.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hashEmbedding } from '../../engine/embed/provider/hash.js';

const rounded = (text: string, dimensions = 8): number[] =>
  [...hashEmbedding(text, dimensions)].map((x) => Number(x.toFixed(6)));

const half = Number(Math.SQRT1_2.toFixed(6));
const cases: [string, number[]][] = [
  ['hello world', [0, 0, 0, 0, 0, 0, half, half]],
  ['HELLO,\tworld!', [0, 0, 0, 0, 0, 0, half, half]],
  ['ｈｅｌｌｏ world', [0, 0, 0, 0, 0, 0, half, half]],
  ['graph databases store graph data', [0, 0, 0.301511, 0, 0.904534, 0, 0, 0.301511]],
  ['', [1, 0, 0, 0, 0, 0, 0, 0]],
  [' -- ', [1, 0, 0, 0, 0, 0, 0, 0]],
];
it.each(cases)('%j', (text, vector) => {
  expect(rounded(text)).toEqual(vector);
});

it('yields unit vectors of any dimension; texts with shared words are nearer', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 65_535 }), (text, dimensions) => {
      const vector = hashEmbedding(text, dimensions);
      expect(vector.length).toBe(dimensions);
      expect(vector.reduce((sum, x) => sum + x * x, 0)).toBeCloseTo(1, 9);
    }),
  );
  const dot = (a: string, b: string): number => {
    const other = hashEmbedding(b, 256);
    return hashEmbedding(a, 256).reduce((sum, x, i) => sum + x * other[i]!, 0);
  };
  expect(dot('fern and moss', 'moss and fern')).toBeCloseTo(1, 12);
  expect(dot('fern and moss', 'fern likes shade')).toBeGreaterThan(0);
});
