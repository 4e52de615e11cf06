// Searches under a filter, against brute force: whichever way is taken (a list, the sketches, the
// graph), recall is held and k answers come whenever k vectors match.
import { describe, expect, test } from 'vitest';
import type { AllowList, Layout, Metric } from '../../engine/vector/index.js';
import type { SharedIndex } from '../../engine/vector/shared-index.js';
import { asMap, indexOf, long, naiveDistance, naiveSearch } from './fixture.js';
import { clustered, randomFrom } from './random.js';

const shares = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.9, 1];

function draw(ids: Iterable<number>, share: number, seed: number): AllowList {
  const random = randomFrom(seed);
  const all = [...ids];
  const words = new Uint32Array((Math.max(...all) >>> 5) + 1);
  let count = 0;
  for (const id of all) {
    if (share < 1 && random() >= share) continue;
    words[id >>> 5]! |= 1 << (id & 31);
    count++;
  }
  return { words, count };
}

const passes = ({ words }: AllowList, id: number): boolean =>
  ((words[id >>> 5]! >>> (id & 31)) & 1) === 1;

/** Mean recall at k of a few queries under `allow`; equally near vectors count as found. */
function filteredRecall(
  index: SharedIndex,
  vectors: ReadonlyMap<number, Float64Array>,
  allow: AllowList,
  queries: readonly Float64Array[],
  k: number,
): number {
  const { metric } = index.options;
  const matching = new Map([...vectors].filter(([id]) => passes(allow, id)));
  let sum = 0;
  for (const query of queries) {
    const truth = naiveSearch(metric, matching, query, k);
    const found = index.search(query, k, { allow });
    expect(found.count).toBe(truth.length);
    if (truth.length === 0) sum++;
    else {
      const limit = truth.at(-1)!.distance + 1e-6 * Math.abs(truth.at(-1)!.distance) + 1e-9;
      let hits = 0;
      for (const id of found.ids) {
        expect(matching.has(id)).toBe(true);
        if (naiveDistance(metric, query, matching.get(id)!) <= limit) hits++;
      }
      sum += hits / truth.length;
    }
  }
  return sum / queries.length;
}

const count = long ? 5_000 : 3_800;

describe.each<[Metric, Layout, number]>([
  ['cosine', 'fast', 48],
  ['l2', 'fast', 250],
  ['dot', 'fast', 33],
  ['l2', 'compact', 96],
])('%s, layout %s, %i dimensions', (metric, layout, dimension) => {
  const rows = clustered(count, dimension, { seed: dimension, clusters: 60, spread: 1 });
  // What stands beside the graph: zero vectors, and one vector forty times.
  for (let i = 0; i < 40; i++) {
    rows[i * 97] = new Float64Array(dimension);
    rows[i * 97 + 5] = rows[5]!;
  }
  const index = indexOf(rows, { metric, layout });
  const vectors = asMap(rows);
  for (let id = 3; id <= count; id += 7) {
    index.delete(id);
    vectors.delete(id);
  }
  const queries = clustered(30, dimension, { seed: dimension, clusters: 60, spread: 1.2 });
  // Where vectors are not kept, the codes decide.
  const least = layout === 'compact' ? 0.95 : 0.99;

  test.each(shares)('share %d', (share) => {
    const allow = draw(vectors.keys(), share, 7);
    expect(filteredRecall(index, vectors, allow, queries, 10)).toBeGreaterThanOrEqual(least);
    expect(filteredRecall(index, vectors, allow, queries.slice(0, 3), 100)).toBeGreaterThanOrEqual(
      least,
    );
  });
});

test('reused slots are found by their new vectors', () => {
  const rows = clustered(3_000, 40, { seed: 4, clusters: 30 });
  const index = indexOf(rows);
  const vectors = asMap(rows);
  const fresh = clustered(1_500, 40, { seed: 5, clusters: 30 });
  for (let id = 1; id <= 1_500; id++) index.delete(id);
  while (index.maintain(100)) {
    // To the end: their slots are free then.
  }
  for (const [i, vector] of fresh.entries()) {
    vectors.delete(i + 1);
    vectors.set(10_001 + i, vector);
    index.put(10_001 + i, vector);
  }
  const allow = draw(vectors.keys(), 0.5, 3);
  const queries = fresh.slice(0, 20);
  expect(filteredRecall(index, vectors, allow, queries, 10)).toBeGreaterThanOrEqual(0.99);
});
