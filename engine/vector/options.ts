// From what the user configures to what a segment is formatted with. The user's m,
// ef_construction and ef_search keep their HNSW meaning; the mapping to our own pool sizes is
// here and nowhere else.
import {
  GRAPH_DIMENSION_MAX,
  HAS_EDGE_CODES,
  HAS_GRAPH,
  KEEP_VECTORS,
  METRIC_COSINE,
  METRIC_DOT,
  METRIC_L2,
  POOL_MAX,
  SIEVE_DIMENSION_MAX,
} from '../../wasm/layout.js';
import type { IndexOptions, Layout, Metric } from './index.js';

/** Vectors that begin a graph; fewer are scanned exactly. */
export const graphFrom = 1000;

/** Bytes of one segment's memory at most: what wasm can address, less a page. */
export const segmentBytesMax = 2 ** 32 - 65536;

/** The layout that `auto` (or a layout the dimension is too great for) stands for. */
export function chosenLayout(options: IndexOptions, dimension: number): Exclude<Layout, 'auto'> {
  if (options.exact || dimension + 1 > GRAPH_DIMENSION_MAX - 31) return 'flat';
  return options.layout === 'auto' ? 'fast' : options.layout;
}

/** Layout flags of a segment. */
export function layoutFlags(options: IndexOptions, dimension: number): number {
  const layout = chosenLayout(options, dimension);
  if (layout === 'flat') return KEEP_VECTORS;
  if (layout === 'compact') return HAS_GRAPH;
  return HAS_GRAPH | KEEP_VECTORS | HAS_EDGE_CODES;
}

/** Dimension of the stored vectors: with the lift's (dot), to a multiple of 32. */
export function paddedDimension(metric: Metric, dimension: number): number {
  return Math.ceil((dimension + (metric === 'dot' ? 1 : 0)) / 32) * 32;
}

export function metricNumber(metric: Metric): number {
  return metric === 'cosine' ? METRIC_COSINE : metric === 'dot' ? METRIC_DOT : METRIC_L2;
}

/** Hard edges of a new node. Every node has room for 32 edges, so m beyond 24 changes nothing. */
export function hardEdges(m: number): number {
  return Math.max(4, Math.min(24, m));
}

/** Whether walks of a segment follow estimates (wasm/walk.ts) and not code distances. */
export function followsEstimates(layout: number, padded: number): boolean {
  return (layout & HAS_EDGE_CODES) !== 0 && padded > SIEVE_DIMENSION_MAX;
}

/**
 * Pool of an insertion. A pool place may hold an estimate, and one node take several; 1.8 places
 * are taken for one then.
 */
export function insertionPool(efConstruction: number, estimates: boolean): number {
  const pool = Math.round(efConstruction * (estimates ? 1.8 : 1));
  return Math.max(64, Math.min(POOL_MAX, pool));
}

/** Pool of a search that wants k. Estimates are noisier than distances: twice ef of them are held. */
export function searchPool(ef: number, k: number, estimates: boolean): number {
  const pool = estimates ? Math.max(ef * 2, 8 + k + (k >> 1)) : Math.max(ef, k + (k >> 1));
  return Math.max(8, Math.min(POOL_MAX, pool));
}
