// The vectors of a cell of the recall grid, and the exact answers. All numbers are f32 values, so that
// an index of f32 and one of f64 are given the same vectors; truth is computed in f64. Invariant: the
// data depend on nothing but the cell's metric-free axes, the size and the seed.
import type { AllowList, Metric } from '../../engine/vector/index.js';
import type { Cell, FilterKind, Norms } from './recall-axes.js';
import { randomOf } from '../support/seeded-random.js';

/** Vectors per cluster: k = 10 nearest lie well within one, so that its inner order is asked for. */
const perCluster = 120;

export interface RecallData {
  dimension: number;
  rows: Float64Array[];
  /** As many more, for histories that delete them again. */
  others: Float64Array[];
  queries: Float64Array[];
  /** Length of every row. */
  cluster: Uint16Array;
}

export interface DataSize {
  size: number;
  queries: number;
  seed: number;
}

function gaussianOf(uniform: () => number): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** What row `i` of `count` is multiplied by; `isUnit`: after it was brought to length 1. */
function lengthOf(
  kind: Norms,
  part: number,
  gaussian: () => number,
  uniform: () => number,
): number {
  switch (kind) {
    case 'lognormal.3':
      return Math.exp(0.3 * gaussian());
    case 'lognormal1':
      return Math.exp(gaussian());
    case 'two':
      return uniform() < 0.5 ? 1 : 10;
    case 'growing':
      // The second half ten times as long as the first, and growing on.
      return part < 0.5 ? 1 + part : 10 + 20 * part;
    case 'tiny':
      return 1e-25;
    case 'huge':
      return 1e20;
    case 'mixed':
      return [1, 1e20, 1e-25][Math.floor(part * 3)]!;
    default:
      return 1;
  }
}

const clustersOf = (size: number): number => Math.max(2, Math.round(size / perCluster));

const natural = new Set<Norms>(['zeros', 'tiny', 'huge', 'mixed']);

export function makeData(
  { spread, norms, dimension }: Pick<Cell, 'spread' | 'norms' | 'dimension'>,
  { size, queries, seed }: DataSize,
): RecallData {
  const uniform = randomOf(seed);
  const gaussian = gaussianOf(uniform);
  const clusters = clustersOf(size);
  const centres = Array.from({ length: clusters }, () =>
    Float64Array.from({ length: dimension }, gaussian),
  );
  const draw = (of: number, part: number): Float64Array => {
    const row = centres[of]!.map((x) => x + spread * gaussian());
    const norm = Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));
    const factor = lengthOf(norms, part, gaussian, uniform) / (natural.has(norms) ? 1 : norm);
    return row.map((x) => Math.fround(x * factor));
  };
  const cluster = new Uint16Array(size);
  const rows: Float64Array[] = [];
  const others: Float64Array[] = [];
  for (let i = 0; i < size; i++) {
    cluster[i] = Math.floor(uniform() * clusters);
    rows.push(draw(cluster[i]!, i / size));
    others.push(draw(Math.floor(uniform() * clusters), i / size));
  }
  const asked = Array.from({ length: queries }, (_, i) => draw(i % clusters, (i + 0.5) / queries));
  if (norms === 'zeros') addZeros(rows, uniform);
  return { dimension, rows, others, queries: asked, cluster };
}

/** The first row and one in thirty become zero, one in twenty becomes a copy of an earlier one. */
function addZeros(rows: Float64Array[], uniform: () => number): void {
  for (let i = 0; i < rows.length; i++) {
    if (i % 30 === 0) rows[i] = new Float64Array(rows[i]!.length);
    else if (i % 20 === 7) rows[i] = rows[Math.floor(uniform() * i)]!;
  }
}

/** Ids (row + 1) that a filter lets pass for a query; undefined: all. */
export type Filter = (query: number) => AllowList | undefined;

export function filterOf(data: RecallData, kind: FilterKind, seed: number): Filter {
  if (kind === 'none') return () => undefined;
  if (kind === 'elsewhere') return elsewhereOf(data);
  const uniform = randomOf(seed + 1);
  const share = kind === 'hundredth' ? 0.01 : 0.1;
  // Clusters 0, 10, 20 ...: a tenth of the queries lie in them, the others far outside.
  const allow = allowOf(data, (row) =>
    kind === 'cluster' ? data.cluster[row]! % 10 === 0 : uniform() < share,
  );
  return () => allow;
}

function allowOf({ rows }: RecallData, isAllowed: (row: number) => boolean): AllowList {
  const words = new Uint32Array((rows.length + 32) >>> 5);
  let count = 0;
  for (let row = 0; row < rows.length; row++) {
    if (!isAllowed(row)) continue;
    words[(row + 1) >>> 5]! |= 1 << ((row + 1) & 31);
    count++;
  }
  return { words, count };
}

/** Queries take the clusters by turns. */
function elsewhereOf(data: RecallData): Filter {
  const clusters = clustersOf(data.rows.length);
  const kept = new Map<number, AllowList>();
  return (query) => {
    const own = query % clusters;
    const allow = kept.get(own) ?? allowOf(data, (row) => data.cluster[row] !== own);
    kept.set(own, allow);
    return allow;
  };
}

export const passes = (allow: AllowList | undefined, id: number): boolean =>
  allow === undefined || ((allow.words[id >>> 5]! >>> (id & 31)) & 1) === 1;

/** The vector by which distances are taken: under cosine brought to length 1. */
function judged(metric: Metric, vector: Float64Array): Float64Array {
  if (metric !== 'cosine') return vector;
  // Twice, first by the largest number: squares of 1e-25 or 1e20 and their sums stay exact enough.
  const largest = vector.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  if (largest === 0) return vector;
  const near = vector.map((x) => x / largest);
  const norm = Math.sqrt(near.reduce((sum, x) => sum + x * x, 0));
  return near.map((x) => x / norm);
}

/** Exact distances of all rows to one query, in the order of the metric. */
function distancesTo(metric: Metric, rows: readonly Float64Array[], query: Float64Array) {
  const dimension = query.length;
  return Float64Array.from(rows, (row) => {
    let sum = 0;
    if (metric === 'dot') {
      for (let d = 0; d < dimension; d++) sum -= row[d]! * query[d]!;
      return sum;
    }
    // Under cosine half the squared difference of unit vectors: 1 - cos without its cancellation.
    let square = 0;
    for (let d = 0; d < dimension; d++) {
      const difference = row[d]! - query[d]!;
      sum += difference * difference;
      square += row[d]! * row[d]!;
    }
    if (metric === 'l2') return sum;
    return square === 0 ? 1 : sum / 2;
  });
}

/** Exact order of a data set under a metric, and how right an answer is. */
export class Truth {
  readonly #distances: Float64Array[];
  readonly #metric: Metric;
  /** Metric dot: rounding of the sums, per query. */
  readonly #slack: number[];

  constructor(
    metric: Metric,
    readonly data: RecallData,
  ) {
    this.#metric = metric;
    const rows = data.rows.map((row) => judged(metric, row));
    const queries = data.queries.map((query) => judged(metric, query));
    this.#distances = queries.map((query) => distancesTo(metric, rows, query));
    const sizeOf = (vector: Float64Array): number =>
      Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
    const longest = Math.max(...rows.map(sizeOf));
    this.#slack = queries.map((query) => 1e-13 * longest * sizeOf(query));
  }

  /** The best k of `ids` by exact distance, as every answer of the server is re-scored. */
  best(query: number, ids: ArrayLike<number>, k: number): number[] {
    const distances = this.#distances[query]!;
    const all = [...new Set(Array.from(ids))];
    return all.sort((a, b) => distances[a - 1]! - distances[b - 1]! || a - b).slice(0, k);
  }

  /**
   * Returns the share of the min(k, matching) results that are among the nearest. An id counts if it is
   * no farther than the last true neighbor, within rounding. Two orders of summing D products in f64
   * differ by less than D * 2^-53 of their sizes, 2e-13 at 1,536 dimensions. The tolerance is a billionth
   * of a distance: more than that, and far less than f32 resolves (6e-8). Sums under dot can cancel, so
   * the lengths determine the tolerance there.
   */
  recall(query: number, ids: ArrayLike<number>, k: number, allow: AllowList | undefined): number {
    const distances = this.#distances[query]!;
    const matching = distances.filter((_, row) => passes(allow, row + 1)).sort();
    const want = Math.min(k, matching.length);
    if (want === 0) return 1;
    const last = matching[want - 1]!;
    const limit = last + (this.#metric === 'dot' ? this.#slack[query]! : 1e-9 * last);
    const isRight = (id: number): boolean => passes(allow, id) && distances[id - 1]! <= limit;
    const right = new Set(Array.from(ids).filter(isRight));
    return Math.min(want, right.size) / want;
  }
}
