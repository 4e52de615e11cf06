// Searching all segments of an index from one thread: how each is searched, filters by cost,
// merging.
import { H_JUDGED, POOL_MAX, RESULT_MAX } from '../../wasm/layout.js';
import { isScanCheaper, judgeMicros, scanMicros, walkMicros } from './search-cost.js';
import type { AllowList, Candidates, Metric } from './index.js';
import { graphFrom } from './options.js';
import { searchWalk, effectiveEf, type Walk } from './search-params.js';
import type { Segment } from './segment.js';
import { distanceUnit, exponentOf, queryFactor } from './vector-scale.js';

const none: Candidates = {
  count: 0,
  ids: new Uint32Array(0),
  distances: new Float32Array(0),
  distanceError: 0,
};

/** How wide walks are: as told by whoever searches, or as is standard for the index. */
export interface Width {
  ef: number;
  isTold: boolean;
}

/** The k nearest of all segments; see VectorIndex.search. */
export function search(
  segments: readonly Segment[],
  metric: Metric,
  query: Float64Array,
  k: number,
  width: Width,
  allow?: AllowList,
): Candidates {
  if (k <= 0 || segments.length === 0 || allow?.count === 0) return none;
  const exponent = exponentOf(query);
  const parts = segments.map((segment) => {
    const { scale } = segment;
    const factor = queryFactor(metric, scale, exponent);
    const found = searchSegment(segment, { query, factor }, k, width, allow);
    return { found, unit: distanceUnit(metric, scale, factor) };
  });
  return parts.length === 1 ? parts[0]!.found : merge(parts, k);
}

/** A query, and what its numbers are multiplied by in a segment. */
interface Scaled {
  query: Float64Array;
  factor: number;
}

/** Slots that a scan passes in less time than a walk takes, though most of them are free. */
const scannedSlots = 8 * graphFrom;

function searchSegment(
  segment: Segment,
  asked: Scaled,
  k: number,
  width: Width,
  allow: AllowList | undefined,
): Candidates {
  const { kernel } = segment;
  const { address } = segment.lane;
  if (segment.live === 0) return none;
  segment.load(asked.query, asked.factor);
  segment.filter(allow);
  // Asked first: once there is a graph, the query is coded for it.
  const hadGraph = segment.hasGraph;
  kernel.beginQuery(address);
  if (k > POOL_MAX) return scanAll(segment, k);
  if (!hadGraph) {
    const count = kernel.searchExact(address, k);
    // Made meanwhile: the exact vectors that were scanned may be gone.
    if (segment.hasGraph) return searchSegment(segment, asked, k, width, allow);
    return answer(segment, count);
  }
  // Few are left in a graph: they are looked at one by one, as before there was one.
  if (segment.live < graphFrom && segment.slots <= scannedSlots)
    return answer(segment, kernel.searchExact(address, k));
  const ef = width.isTold ? width.ef : effectiveEf(width.ef, segment, k);
  if (allow === undefined) {
    // A pool too small to meet k different nodes is widened; the exact scan is the last resort.
    const needed = Math.min(k, segment.live);
    const walk = searchWalk(ef, k, segment.canFollow, segment.padded);
    if (!width.isTold && isScanCheaper(segment, k, walk)) {
      const count = kernel.searchScan(address, k);
      if (count >= needed) return answer(segment, count);
    }
    for (let pool = walk.pool; ; pool *= 4) {
      const wide = { pool: Math.min(pool, POOL_MAX), follow: walk.follow };
      const count = walkGraph(segment, Math.max(ef, k), k, wide);
      if (count >= needed) return answer(segment, count);
      if (pool >= POOL_MAX) break;
    }
    return answer(segment, kernel.searchExact(address, k));
  }
  return searchFiltered(segment, k, ef, allow);
}

/**
 * Leaves the k nearest that a walk of a width of `ef` finds in the lane; returns how many. Amid deleted
 * nodes the walk that passes over them takes its place, and a scan where that one would take as long.
 */
export function walkGraph(segment: Segment, ef: number, k: number, walk: Walk): number {
  const { kernel } = segment;
  const { address } = segment.lane;
  const count = kernel.searchGraph(address, k, walk.pool, walk.follow);
  if (count >= 0) return count;
  const scan = scanMicros(segment, k, segment.field(H_JUDGED) || segment.live);
  const among = kernel.searchAmong(address, k, ef, mostPlaces(segment, 2 * ef, scan));
  return among >= 0 ? among : kernel.searchScan(address, k);
}

/** Places of a walk that takes no longer than `micros`, but for so many that it is likely to need. */
function mostPlaces({ padded }: Segment, likely: number, micros: number): number {
  const places = Math.ceil(micros / walkMicros(padded, { pool: 1, follow: false }));
  return Math.min(POOL_MAX, Math.max(likely, places));
}

/** A filter hides part of what lies near the answer: so much wider than without one is the walk. */
const filteredWidth = 1.5;

/**
 * A walk that passes over what the filter refuses, where that is cheaper than a scan if the filter is
 * the same everywhere. Around a query it may refuse far more: then it is a scan after all.
 */
function searchFiltered(segment: Segment, k: number, ef: number, allow: AllowList): Candidates {
  const { kernel } = segment;
  const { address } = segment.lane;
  const passing = Math.min(allow.count, segment.live);
  const width = Math.ceil(filteredWidth * Math.max(ef, k));
  const likely = Math.ceil((width * segment.live) / passing);
  const costs = filterCosts(segment, k, passing, likely);
  const scan = Math.min(costs.list, costs.flat);
  if (costs.graph <= scan) {
    const count = kernel.searchAmong(address, k, width, mostPlaces(segment, 2 * likely, scan));
    if (count >= k) return answer(segment, count, filteredDeviations);
  }
  const isFlat = costs.flat < costs.list;
  const count = isFlat ? kernel.searchFlat(address, k) : kernel.searchList(address, k);
  return answer(segment, count, filteredDeviations);
}

/** More answers than this are cheaper by a list: a pool of bounds is kept sorted. */
const flatMax = 128;

/**
 * Microseconds of the three ways through a filter that lets `count` vectors pass: judging all of them by their codes; bounds from the sketches of
 * all blocks of 32 that hold one, and judging about a hundred; a walk that judges neighbours by their
 * codes. Only their order matters.
 */
function filterCosts(
  segment: Segment,
  k: number,
  count: number,
  pool: number,
): Record<'list' | 'flat' | 'graph', number> {
  const { padded, live } = segment;
  const list = judgeMicros(padded, count, count);
  // More places than a pool has are not enough.
  const graph =
    pool > POOL_MAX ? Number.POSITIVE_INFINITY : walkMicros(padded, { pool, follow: false });
  if (k > flatMax) return { list, flat: Number.POSITIVE_INFINITY, graph };
  const blocks = (segment.slots / 32) * (1 - (1 - count / live) ** 32);
  const flat = 45 + padded * 0.035 + count * 0.002 + blocks * (0.02 + padded * 0.0005);
  return { list, flat, graph };
}

/** Deviations of a code distance that are allowed for: at 2 one near answer in a hundred is missed. */
const deviations = 3;
/**
 * Under a filter all that passes may lie far off, in clusters that codes of 4 bits take for nearer or
 * farther as a whole: the error is the same for all of one, and the least of many errors is large.
 */
const filteredDeviations = 5;

function answer(segment: Segment, count: number, allowed = deviations): Candidates {
  const { ids, distances } = segment.lane;
  const blur = allowed * segment.noiseOf(count);
  return {
    count,
    ids: ids.slice(0, count),
    distances: distances.slice(0, count),
    distanceError: blur,
  };
}

/** Every live, allowed vector judged, a piece at a time; for k beyond what the kernel sorts. */
function scanAll(segment: Segment, k: number): Candidates {
  const { kernel } = segment;
  const { address, ids, distances } = segment.lane;
  const { slots } = segment;
  const found: { id: number; distance: number }[] = [];
  for (let from = 0; from < slots; from += RESULT_MAX) {
    const count = kernel.listSlots(address, from, Math.min(slots, from + RESULT_MAX));
    for (let i = 0; i < count; i++) found.push({ id: ids[i]!, distance: distances[i]! });
  }
  found.sort(byDistance);
  const count = Math.min(k, found.length);
  return {
    count,
    ids: Uint32Array.from({ length: count }, (_, i) => found[i]!.id),
    distances: Float32Array.from({ length: count }, (_, i) => found[i]!.distance),
    distanceError: 0,
  };
}

/** Nearest first, ties by age. */
function byDistance(a: { id: number; distance: number }, b: typeof a): number {
  return a.distance - b.distance || a.id - b.id;
}

/** The answer of a segment, and what its distances are counted in. */
interface Part {
  found: Candidates;
  unit: number;
}

/**
 * The k nearest of several answers; an id that is being moved from one segment to another counts
 * once.
 */
function merge(parts: readonly Part[], k: number): Candidates {
  const all: { id: number; distance: number }[] = [];
  for (const { found, unit } of parts) {
    for (let i = 0; i < found.count; i++)
      all.push({ id: found.ids[i]!, distance: found.distances[i]! * unit });
  }
  all.sort(byDistance);
  const seen = new Set<number>();
  const ids = new Uint32Array(Math.min(k, all.length));
  const distances = new Float32Array(ids.length);
  for (const { id, distance } of all) {
    if (seen.size === k) break;
    if (seen.has(id)) continue;
    ids[seen.size] = id;
    distances[seen.size] = distance;
    seen.add(id);
  }
  const blur = Math.max(...parts.map((part) => part.found.distanceError * part.unit));
  return { count: seen.size, ids, distances, distanceError: blur };
}
