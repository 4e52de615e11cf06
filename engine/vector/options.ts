// Maps the configured options to the format of a segment.
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

/** Number of vectors from which a graph is built. Fewer are scanned exactly. */
export const graphFrom = 1000;

/** Largest size of a segment's memory in bytes: what WebAssembly can address, minus a page. */
export const segmentBytesMax = 2 ** 32 - 65536;

/** Returns the layout that `auto` selects. Dimensions that are too large for a graph get `flat`. */
export function effectiveLayout(options: IndexOptions, dimension: number): Exclude<Layout, 'auto'> {
  if (options.exact || dimension + 1 > GRAPH_DIMENSION_MAX - 31) return 'flat';
  if (options.layout !== 'auto') return options.layout;
  return options.resident === false ? 'compact' : 'fast';
}

/**
 * Dimension from which 4-bit codes are accurate enough. Below it, their error is a large part of a distance,
 * and vectors are small anyway.
 */
const int4From = 256;

/** Whether an index stores only 4-bit codes. */
export function isInt4(options: IndexOptions, dimension: number): boolean {
  const isRequested = options.resident === false && dimension >= int4From;
  return isRequested && effectiveLayout(options, dimension) === 'compact';
}

/** Returns the layout flags of a segment. */
export function layoutFlags(options: IndexOptions, dimension: number): number {
  const layout = effectiveLayout(options, dimension);
  if (layout === 'flat') return KEEP_VECTORS;
  if (layout === 'compact') return isInt4(options, dimension) ? HAS_GRAPH | HALF_CODES : HAS_GRAPH;
  return HAS_GRAPH | HAS_EDGE_CODES;
}

export function metricNumber(metric: Metric): number {
  return metric === 'cosine' ? METRIC_COSINE : metric === 'dot' ? METRIC_DOT : METRIC_L2;
}

/**
 * Returns options that give this metric number and these layout flags. The file does not contain the other
 * options.
 */
export function optionsOf(metric: number, flags: number): IndexOptions {
  const layout =
    (flags & HAS_GRAPH) === 0 ? 'flat' : (flags & HAS_EDGE_CODES) === 0 ? 'compact' : 'fast';
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
