// Vectors of all sizes in one index, whichever comes first: each is found among its like, and an
// index of several segments takes vectors into all of them, also while an image of it is made.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Layout, Metric } from '../../engine/vector/index.js';
import { createVectorIndex, type SharedIndex } from '../../engine/vector/shared-index.js';
import { readSnapshot, writeSnapshotFile } from '../../engine/vector/snapshot.js';
import { asMap, defaults, indexOf, long, recallOf } from './fixture.js';
import { clustered } from './random.js';

const count = long ? 4000 : 1200;
const kinds: [string, (i: number) => number][] = [
  ['1, then 1e20', (i) => (i === 0 ? 1 : 1e20)],
  ['1, then 1e-25', (i) => (i === 0 ? 1 : 1e-25)],
  ['zero, then 1e20', (i) => (i === 0 ? 0 : 1e20)],
  ['zeros, then 1e-25', (i) => (i < 50 ? 0 : 1e-25)],
  ['1e20, 1 and 1e-25 in turn', (i) => [1e20, 1, 1e-25][i % 3]!],
  ['a million times as long later', (i) => (i < 1050 ? 1 : 1e6)],
];

const dataOf = (length: (i: number) => number): Float64Array[] =>
  clustered(count, 24, { seed: 71, spread: 0.2, length });

/** Queries of every size that there is. */
const queriesOf = (length: (i: number) => number): Float64Array[] =>
  clustered(24, 24, { seed: 71, spread: 0.2 })
    .slice(3)
    .map((v, i) => v.map((x) => x * length(i < 12 ? count - 1 - i : 60 + i)));

describe.each<Metric>(['l2', 'dot', 'cosine'])('%s', (metric) => {
  test.each(kinds)('%s', (_, length) => {
    const vectors = dataOf(length);
    const layouts: Layout[] = long ? ['fast', 'compact', 'flat'] : ['fast'];
    for (const layout of layouts) {
      const index = indexOf(vectors, { metric, layout });
      const recall = recallOf(index, asMap(vectors), queriesOf(length), { ef: 128 });
      expect(recall, layout).toBeGreaterThanOrEqual(0.98);
      expect(index.count).toBe(count);
      for (const segment of index.segments) expect(Number.isFinite(segment.scale)).toBe(true);
    }
  });
});

const mixed = kinds[4]![1];

test('many vectors go to their segments, replaced ones move', () => {
  const vectors = dataOf(mixed);
  const index = createVectorIndex('Test', { ...defaults, metric: 'l2' });
  const model = asMap(vectors);
  index.insertBatch(
    Uint32Array.from(vectors, (_, i) => i + 1),
    (i) => vectors[i],
  );
  index.finishGraph();
  expect(index.segments.length).toBe(3);
  for (let id = 1; id <= 300; id++) {
    const moved = vectors[id]!;
    index.put(id, moved);
    model.set(id, moved);
  }
  expect(index.count).toBe(count);
  expect(recallOf(index, model, queriesOf(mixed), { ef: 128 })).toBeGreaterThanOrEqual(0.98);
  for (const id of model.keys()) index.delete(id);
  expect(index.count).toBe(0);
});

test('a segment answers extreme queries', () => {
  const index = indexOf(
    dataOf(() => 1),
    { metric: 'l2' },
  );
  for (const size of [3e38, 1e30, 1e-30, 1e-45, 0]) {
    const query = new Float64Array(24).fill(size);
    const found = index.search(query, 10);
    expect(found.count).toBe(10);
    expect(found.distances.every((distance) => !Number.isNaN(distance))).toBe(true);
  }
});

test('a snapshot contains the changes of older segments during its copy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  const path = join(folder, 'Test.snap');
  const identity = { dbUuid: '0190a1b2-0000-7000-8000-000000000001', typeId: 7 };
  const vectors = dataOf(mixed);
  const index = createVectorIndex('Test', { ...defaults, metric: 'l2' });
  const put = (from: number, to: number): void => {
    for (let i = from; i < to; i++) index.put(i + 1, vectors[i]!);
  };
  put(0, 60);
  index.openMarks();
  let at = 60;
  const more = (): void => put(at, (at = Math.min(count, at + 400)));
  const begin = (): number => {
    put(at, count);
    return 5;
  };
  const still = { begin, end: () => {}, tick: more };
  expect(writeSnapshotFile(index, path, identity, still)).toBeDefined();
  index.closeMarks();
  const expected = { ...identity, dimension: 24 };
  const read = readSnapshot(path, 'Test', index.options, expected);
  rmSync(folder, { recursive: true });
  expect(read.reason).toBeUndefined();
  expectSame(read.index!, index, queriesOf(mixed));
});

function expectSame(copy: SharedIndex, index: SharedIndex, queries: Float64Array[]): void {
  expect(copy.count).toBe(index.count);
  for (const query of queries)
    expect([...copy.search(query, 10).ids]).toEqual([...index.search(query, 10).ids]);
}
