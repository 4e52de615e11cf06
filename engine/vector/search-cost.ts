// What the ways to search a segment cost, in microseconds as measured at 16 to 800 dimensions on one
// machine. Only their order matters: each search takes the cheapest way that finds enough.
import { H_JUDGED, H_METRIC, METRIC_DOT } from '../../wasm/layout.js';
import { defaultEf, type Walk } from './search-params.js';
import type { Segment } from './segment.js';

/** A walk: neighbours judged by their codes or, cheaper, followed by their estimates. */
export function walkMicros(padded: number, { pool, follow }: Walk): number {
  return pool * (follow ? 0.2 + padded * 0.001 : 0.6 + padded * 0.0035);
}

/** Bytes of codes that the processor's caches are taken to hold from one search to the next. */
const cachedBytes = 2 ** 22;

/** `count` vectors judged by their codes, of `among` that are judged by one search or another. */
export function judgeMicros(padded: number, count: number, among: number): number {
  const isCached = among * (padded + 64) <= cachedBytes;
  return count * (isCached ? 0.025 + padded * 0.00009 : 0.075 + padded * 0.00025);
}

/** The walk before a scan, that tells what is near enough (wasm/query.ts). */
const narrowWalk: Walk = { pool: 32, follow: false };

/** A scan for k by sketches of a segment in which one for `k` = 10 judges `judged` vectors. */
export function scanMicros({ padded, slots, live }: Segment, k: number, judged: number): number {
  const blocks = slots / 32;
  const sketches = blocks * (0.015 + padded * 0.00035);
  const judging = judgeMicros(padded, judged * (1 + k / 64), live);
  return walkMicros(padded, narrowWalk) + sketches + judging;
}

/**
 * By how much a scan must promise to cost less than a walk of a width that finds nearly all. Where the
 * standard width does, vectors lie in clusters, and a walk costs about half of what is said here; not
 * under dot, where it is led astray by what is long.
 */
export function marginOver(segment: Segment, width: number): number {
  return width > defaultEf || segment.field(H_METRIC) === METRIC_DOT ? 1 : 2;
}

/** Whether a scan for k by sketches costs less than a walk, as far as was measured. */
export function isScanCheaper(segment: Segment, k: number, walk: Walk): boolean {
  const judged = segment.field(H_JUDGED);
  if (judged === 0) return false;
  const scan = marginOver(segment, segment.width) * scanMicros(segment, k, judged - 1);
  return scan <= walkMicros(segment.padded, walk);
}
