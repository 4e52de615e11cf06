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
} from '../../wasm/layout.js';
import type { IndexOptions, Layout, Metric } from './index.js';

/** Dimension up to which edge codes do not pay: their noise grows as 1/sqrt(D). */
const codesFrom = 193;

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
  return HAS_GRAPH | KEEP_VECTORS | (dimension >= codesFrom ? HAS_EDGE_CODES : 0);
}

export function metricNumber(metric: Metric): number {
  return metric === 'cosine' ? METRIC_COSINE : metric === 'dot' ? METRIC_DOT : METRIC_L2;
}

/** Hard edges of a new node. Every node has room for 32 edges, so m beyond 24 changes nothing. */
export function hardEdges(m: number): number {
  return Math.max(4, Math.min(24, m));
}

/**
 * Pool of an insertion. With edge codes a pool place holds an estimate and one node may take
 * several, so 1.8 places are taken for one.
 */
export function insertionPool(efConstruction: number, edgeCodes: boolean): number {
  const pool = Math.round(efConstruction * (edgeCodes ? 1.8 : 1));
  return Math.max(64, Math.min(POOL_MAX, pool));
}

/**
 * Pool of a search that wants k. Estimates from edge codes are noisier than distances: twice ef of
 * them are held.
 */
export function searchPool(ef: number, k: number, edgeCodes: boolean): number {
  const pool = edgeCodes ? Math.max(ef * 2, 8 + k + (k >> 1)) : Math.max(ef, k + (k >> 1));
  return Math.max(8, Math.min(POOL_MAX, pool));
}
