// From what the user configures to what a segment is formatted with.
import {
  GRAPH_DIMENSION_MAX,
  HALF_CODES,
  HAS_EDGE_CODES,
  HAS_GRAPH,
  KEEP_VECTORS,
  METRIC_COSINE,
  METRIC_DOT,
  METRIC_L2,
} from '../../wasm/layout.js';
import type { IndexOptions, Layout, Metric } from './index.js';

/** Vectors that begin a graph; fewer are scanned exactly. */
export const graphFrom = 1000;

/** Bytes of one segment's memory at most: what wasm can address, less a page. */
export const segmentBytesMax = 2 ** 32 - 65536;

/** The layout that `auto` (or a layout the dimension is too great for) stands for. */
export function chosenLayout(options: IndexOptions, dimension: number): Exclude<Layout, 'auto'> {
  if (options.exact || dimension + 1 > GRAPH_DIMENSION_MAX - 31) return 'flat';
  if (options.layout !== 'auto') return options.layout;
  return options.resident === false ? 'compact' : 'fast';
}

/**
 * Numbers of a vector from which codes of 4 bits are enough: with fewer, what they leave open is much of a
 * distance, and vectors are small anyway.
 */
const halfFrom = 256;

/** Whether an index has codes of 4 bits only. */
export function isHalf(options: IndexOptions, dimension: number): boolean {
  const isAsked = options.resident === false && dimension >= halfFrom;
  return isAsked && chosenLayout(options, dimension) === 'compact';
}

/** Layout flags of a segment. */
export function layoutFlags(options: IndexOptions, dimension: number): number {
  const layout = chosenLayout(options, dimension);
  if (layout === 'flat') return KEEP_VECTORS;
  if (layout === 'compact') return isHalf(options, dimension) ? HAS_GRAPH | HALF_CODES : HAS_GRAPH;
  return HAS_GRAPH | KEEP_VECTORS | HAS_EDGE_CODES;
}

export function metricNumber(metric: Metric): number {
  return metric === 'cosine' ? METRIC_COSINE : metric === 'dot' ? METRIC_DOT : METRIC_L2;
}

/** Options of which come a metric number and layout flags; the rest of them does not show in a file. */
export function optionsOf(metric: number, flags: number): IndexOptions {
  const layout =
    (flags & HAS_GRAPH) === 0 ? 'flat' : (flags & KEEP_VECTORS) === 0 ? 'compact' : 'fast';
  const metrics: Metric[] = ['cosine', 'dot', 'l2'];
  return {
    metric: metrics.find((each) => metricNumber(each) === metric) ?? 'cosine',
    m: 16,
    efConstruction: 128,
    efSearch: 128,
    layout,
    resident: (flags & HALF_CODES) === 0,
    exact: layout === 'flat',
    memoryBytes: Number.POSITIVE_INFINITY,
  };
}
