// Cost model of the methods to search a segment, in microseconds as measured at 16 to 800 dimensions on one
// machine. Only the order of the costs matters: each search takes the cheapest method that finds enough.
import { H_SCORED, H_METRIC, METRIC_DOT } from '../../wasm/layout.js';
import { defaultEf, type GraphSearchParams } from './search-params.js';
import type { Segment } from './segment.js';

/** Cost of a graph search: neighbors are scored by their codes or, cheaper, followed by their estimates. */
export function graphMicros(padded: number, { pool, follow }: GraphSearchParams): number {
  return pool * (follow ? 0.2 + padded * 0.001 : 0.6 + padded * 0.0035);
}

/** Bytes of codes that are assumed to stay in the processor's caches from one search to the next. */
const cachedBytes = 2 ** 22;

/**
 * Cost of scoring `count` vectors by their codes. `population`: number of vectors that different searches score.
 */
export function scoreMicros(padded: number, count: number, population: number): number {
  const isCached = population * (padded + 64) <= cachedBytes;
  return count * (isCached ? 0.025 + padded * 0.00009 : 0.075 + padded * 0.00025);
}

/** The graph search before a scan, which finds an upper bound of the distance (wasm/query.ts). */
const narrowSearch: GraphSearchParams = { pool: 32, follow: false };

/**
 * Cost of a scan for k results by sketches, in a segment in which a scan for 10 results scores `scored`
 * vectors.
 */
export function scanMicros({ padded, slots, live }: Segment, k: number, scored: number): number {
  const blocks = slots / 32;
  const sketches = blocks * (0.015 + padded * 0.00035);
  const judging = scoreMicros(padded, scored * (1 + k / 64), live);
  return graphMicros(padded, narrowSearch) + sketches + judging;
}

/**
 * Factor by which a scan must be cheaper than a graph search of a sufficient width. If the default width is
 * sufficient, the vectors form clusters, and a graph search costs about half of the estimate. This does not
 * hold under dot, where long vectors mislead a search.
 */
export function marginOver(segment: Segment, width: number): number {
  return width > defaultEf || segment.field(H_METRIC) === METRIC_DOT ? 1 : 2;
}

/** Whether a scan for k results costs less than a graph search, as far as the calibration tells. */
export function isScanCheaper(segment: Segment, k: number, params: GraphSearchParams): boolean {
  const scored = segment.field(H_SCORED);
  if (scored === 0) return false;
  const scan = marginOver(segment, segment.width) * scanMicros(segment, k, scored - 1);
  return scan <= graphMicros(segment.padded, params);
}
