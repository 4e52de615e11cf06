// Indexes to test with, and the naive answer every index is measured against.
import type { IndexOptions, Metric } from '../../engine/vector/index.js';
import { searchWithMargin } from '../../engine/vector/oversampling.js';
import {
  createVectorIndex,
  type IndexHooks,
  type SharedIndex,
} from '../../engine/vector/shared-index.js';
import { nextTurn } from '../support/run/next-turn.js';

export const long = process.env.TRELLIS_TEST_LONG === '1';

export const defaults: IndexOptions = {
  metric: 'l2',
  m: 16,
  efConstruction: 128,
  efSearch: 100,
  layout: 'auto',
  exact: false,
  memoryBytes: 4e9,
};

/** Internal distance order of each metric. */
export function naiveDistance(metric: Metric, a: Float64Array, b: Float64Array): number {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  let squares = 0;
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!;
    aa += a[i]! ** 2;
    bb += b[i]! ** 2;
    squares += (a[i]! - b[i]!) ** 2;
  }
  if (metric === 'l2') return squares;
  if (metric === 'dot') return -dot;
  if (aa === 0 || bb === 0) return 1;
  const [p, q] = [Math.sqrt(aa), Math.sqrt(bb)];
  // Half the squared difference of unit vectors: 1 - cos, but for its cancellation between near ones.
  return a.reduce((sum, x, i) => sum + (x / p - b[i]! / q) ** 2, 0) / 2;
}

/** Ids of the k nearest of a map, nearest first. */
export function naiveSearch(
  metric: Metric,
  vectors: ReadonlyMap<number, Float64Array>,
  query: Float64Array,
  k: number,
): { id: number; distance: number }[] {
  const all = [...vectors].map(([id, v]) => ({ id, distance: naiveDistance(metric, query, v) }));
  return all.sort((a, b) => a.distance - b.distance).slice(0, k);
}

export function indexOf(
  vectors: readonly Float64Array[],
  options: Partial<IndexOptions> = {},
  hooks: IndexHooks = {},
): SharedIndex {
  const index = createVectorIndex('Test', { ...defaults, ...options }, hooks);
  for (const [i, vector] of vectors.entries()) index.put(i + 1, vector);
  index.finishGraph();
  return index;
}

/** The same, for so many that the loop of events must not stand meanwhile. */
export async function indexInTurns(
  vectors: readonly Float64Array[],
  options: Partial<IndexOptions> = {},
): Promise<SharedIndex> {
  const index = createVectorIndex('Test', { ...defaults, ...options }, {});
  for (const [i, vector] of vectors.entries()) {
    index.put(i + 1, vector);
    if (i % 500 === 499) await nextTurn();
  }
  index.finishGraph();
  return index;
}

/**
 * Mean share of the k nearest found, counting an equally near vector as found. With `margin`, the index is asked
 * for as many candidates as a query of the language takes.
 */
export function recallOf(
  index: SharedIndex,
  vectors: ReadonlyMap<number, Float64Array>,
  queries: readonly Float64Array[],
  options: { k?: number; ef?: number | 'measured'; margin?: boolean } = {},
): number {
  const { k = 10, ef = 100, margin = false } = options;
  const { metric } = index.options;
  let sum = 0;
  for (const query of queries) {
    const truth = naiveSearch(metric, vectors, query, k);
    const last = truth.at(-1)!.distance;
    const limit = last + 1e-6 * Math.abs(last);
    const width = ef === 'measured' ? {} : { ef };
    const found = margin ? searchWithMargin(index, query, k, width) : index.search(query, k, width);
    let hits = 0;
    for (let i = 0; i < found.count; i++) {
      const vector = vectors.get(found.ids[i]!);
      if (vector && naiveDistance(metric, query, vector) <= limit) hits++;
    }
    sum += Math.min(1, hits / truth.length);
  }
  return sum / queries.length;
}

export const asMap = (vectors: readonly Float64Array[]): Map<number, Float64Array> =>
  new Map(vectors.map((vector, i) => [i + 1, vector]));
