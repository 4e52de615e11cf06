// Vector sets for the benchmarks: those in ../shared/data next to the project (skipped when absent), and
// generated ones.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

export interface VectorSet {
  name: string;
  metric: 'cosine' | 'l2';
  dimension: number;
  base: Float32Array[];
  queries: Float32Array[];
  /** Rows of the 10 nearest, nearest first, per query. */
  truth: Uint32Array[];
  /** Rows of the 100 nearest, nearest first, per query; absent for sets whose truth has 10. */
  truth100?: Uint32Array[];
}

/** How vectors lie around the centres of a set that is generated. */
export interface VectorShape {
  dimensions: number;
  /**
   * Number of directions in which vectors differ from their center; 0 means all numbers independently.
   */
  intrinsic: number;
}

interface Matrix {
  n: number;
  d: number;
  row(i: number): ArrayLike<number>;
}

interface Loaded {
  metric: 'cosine' | 'euclidean';
  d: number;
  base: Matrix;
  query: Matrix;
  truth: Matrix;
}

const folder = resolve('..', 'shared', 'data');

const rows = (matrix: Matrix, count: number): Float32Array[] =>
  Array.from({ length: Math.min(count, matrix.n) }, (_, i) => Float32Array.from(matrix.row(i)));

/** Short names of the sets on disk. */
const storedSets: Record<string, string> = {
  sift: 'sift-5k-128-euclidean',
  mnist: 'mnist-10k-784-euclidean',
  lsa: 'lsa-wordnet-256-cosine',
  ada: 'openai-ada2-1536-cosine',
};

async function loadStored(name: string, folderName: string): Promise<VectorSet | undefined> {
  const loader = resolve(folder, 'load.mjs');
  if (!existsSync(loader)) return undefined;
  const data = (await import(pathToFileURL(loader).href)) as {
    hasSet(name: string): boolean;
    loadVectorSet(name: string): Loaded;
  };
  if (!data.hasSet(folderName)) return undefined;
  const loaded = data.loadVectorSet(folderName);
  const queries = rows(loaded.query, 1000);
  const truth = queries.map((_, i) => Uint32Array.from(loaded.truth.row(i)));
  const has100 = truth.every((nearest) => nearest.length >= 100);
  return {
    name,
    metric: loaded.metric === 'cosine' ? 'cosine' : 'l2',
    dimension: loaded.d,
    base: rows(loaded.base, Infinity),
    queries,
    truth: truth.map((nearest) => nearest.slice(0, 10)),
    ...(has100 ? { truth100: truth.map((nearest) => nearest.slice(0, 100)) } : {}),
  };
}

function generator(seed: number): () => number {
  let state = seed >>> 0;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

/**
 * Clusters with inner structure, as embeddings have it: each centre has its own few strong
 * directions. `count` base vectors and 200 queries of the same kind; the truth by brute force.
 */
export function generateSet(count: number, dimension: number, seed = 1): VectorSet {
  const gaussian = generator(seed);
  const draw = (n: number): Float32Array => Float32Array.from({ length: n }, gaussian);
  const inner = 24;
  const clusters = Math.max(10, Math.round(Math.sqrt(count)));
  const directions = Array.from({ length: 64 }, () => draw(dimension));
  const centres = Array.from({ length: clusters }, () => draw(dimension));
  const one = (i: number): Float32Array => {
    const centre = centres[Math.floor((i * 7919) % clusters)]!;
    const row = Float32Array.from(centre);
    for (let j = 0; j < inner; j++) {
      const weight = 0.35 * gaussian();
      const direction = directions[(i * 31 + j * 5 + ((i % clusters) % 3)) % 64]!;
      for (let d = 0; d < dimension; d++) row[d] = row[d]! + weight * direction[d]!;
    }
    return row;
  };
  const base = Array.from({ length: count }, (_, i) => one(i));
  const queries = Array.from({ length: 200 }, (_, i) => one(i * 13 + 5));
  const truth = queries.map((query) => nearest(base, query, 10));
  return {
    name: `clustered ${count} x ${dimension}`,
    metric: 'cosine',
    dimension,
    base,
    queries,
    truth,
  };
}

function nearest(base: readonly Float32Array[], query: Float32Array, k: number): Uint32Array {
  const scores = base.map((row) => {
    let dot = 0;
    let square = 0;
    for (let d = 0; d < row.length; d++) {
      dot += row[d]! * query[d]!;
      square += row[d]! * row[d]!;
    }
    return dot / Math.sqrt(square);
  });
  const order = Uint32Array.from(scores.keys());
  return order.sort((a, b) => scores[b]! - scores[a]!).slice(0, k);
}

/**
 * `sift`, `mnist`, `lsa`, `ada`, or `COUNTxDIMENSION` for a generated set. Undefined when the data
 * is absent.
 */
export async function vectorSet(name: string): Promise<VectorSet | undefined> {
  const generated = /^(\d+)x(\d+)$/.exec(name);
  if (generated) return generateSet(Number(generated[1]), Number(generated[2]));
  const stored = storedSets[name];
  return stored === undefined ? undefined : loadStored(name, stored);
}
