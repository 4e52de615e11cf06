// Searches all segments of an index on one thread: selects the method for each segment, selects filters by
// cost, merges the results.
import { H_SCORED, POOL_MAX, RESULT_MAX } from '../../wasm/layout.js';
import { isScanCheaper, scoreMicros, scanMicros, graphMicros } from './search-cost.js';
import type { AllowList, Candidates, Metric } from './index.js';
import { graphFrom } from './options.js';
import { filteredSearchParams } from './filtered-params.js';
import { graphSearchParams, effectiveEf, type GraphSearchParams } from './search-params.js';
import type { Segment } from './segment.js';
import { distanceUnit, exponentOf, queryFactor } from './vector-scale.js';

const none: Candidates = {
  count: 0,
  ids: new Uint32Array(0),
  distances: new Float32Array(0),
  distanceError: 0,
};

/** Width of a graph search: given by the caller, or the default of the index. */
export interface Width {
  ef: number;
  isExplicit: boolean;
}

/** Returns the k nearest candidates of all segments; see VectorIndex.search. */
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

/** A query, and the factor for its numbers in a segment. */
interface ScaledQuery {
  query: Float64Array;
  factor: number;
}

/**
 * Number of slots that a scan passes in less time than a graph search takes, even if most of them are free.
 */
const scannedSlots = 8 * graphFrom;

function searchSegment(
  segment: Segment,
  scaled: ScaledQuery,
  k: number,
  width: Width,
  allow: AllowList | undefined,
): Candidates {
  const { kernel } = segment;
  const { address } = segment.scratch;
  if (segment.live === 0) return none;
  segment.load(scaled.query, scaled.factor);
  segment.filter(allow);
  // Read first: once there is a graph, the query is encoded for it.
  const hadGraph = segment.hasGraph;
  kernel.beginQuery(address);
  if (k > POOL_MAX) return scanAll(segment, k);
  if (!hadGraph) {
    const count = kernel.searchExact(address, k);
    // The graph was completed meanwhile, so the exact vectors that were scanned may be gone.
    if (segment.hasGraph) return searchSegment(segment, scaled, k, width, allow);
    return toCandidates(segment, count);
  }
  // A graph with few live vectors is scanned exactly.
  if (segment.live < graphFrom && segment.slots <= scannedSlots)
    return toCandidates(segment, kernel.searchExact(address, k));
  const ef = width.isExplicit ? width.ef : effectiveEf(width.ef, segment, k);
  if (allow === undefined) {
    // A pool too small for k different nodes is widened. The exact scan is the last resort.
    const needed = Math.min(k, segment.live);
    const params = graphSearchParams(ef, k, segment.canFollow, segment.padded);
    if (!width.isExplicit && isScanCheaper(segment, k, params)) {
      const count = kernel.searchScan(address, k);
      if (count >= needed) return toCandidates(segment, count);
    }
    for (let pool = params.pool; ; pool *= 4) {
      const wide = { pool: Math.min(pool, POOL_MAX), follow: params.follow };
      const count = searchGraph(segment, Math.max(ef, k), k, wide);
      if (count >= needed) return toCandidates(segment, count);
      if (pool >= POOL_MAX) break;
    }
    return toCandidates(segment, kernel.searchExact(address, k));
  }
  return searchFiltered(segment, k, ef, allow);
}

/**
 * Runs a graph search of width `ef` and leaves the k nearest in the scratch memory. Returns their number.
 * Among many deleted nodes, a filtered search replaces it, or a scan if that is no slower.
 */
export function searchGraph(
  segment: Segment,
  ef: number,
  k: number,
  params: GraphSearchParams,
): number {
  const { kernel } = segment;
  const { address } = segment.scratch;
  const count = kernel.searchGraph(address, k, params.pool, params.follow);
  if (count >= 0) return count;
  const scan = scanMicros(segment, k, segment.field(H_SCORED) || segment.live);
  const filtered = kernel.searchAllowed(address, k, ef, 0, maxPoolEntries(segment, 2 * ef, scan));
  return filtered >= 0 ? filtered : kernel.searchScan(address, k);
}

/**
 * Returns the pool size of a search that takes no longer than `micros` microseconds, but at least the
 * expected size.
 */
function maxPoolEntries({ padded }: Segment, likely: number, micros: number): number {
  const entries = Math.ceil(micros / graphMicros(padded, { pool: 1, follow: false }));
  return Math.min(POOL_MAX, Math.max(likely, entries));
}

/**
 * Runs a filtered graph search if it is cheaper than a scan for a filter that is equally selective
 * everywhere. Around the query, the filter may refuse far more: then a scan follows.
 */
function searchFiltered(segment: Segment, k: number, ef: number, allow: AllowList): Candidates {
  const { kernel } = segment;
  const { address } = segment.scratch;
  const passing = Math.min(allow.count, segment.live);
  const { width, minNodes, likely } = filteredSearchParams(ef, k, passing / segment.live, segment);
  const costs = filterCosts(segment, k, passing, likely);
  const scan = Math.min(costs.list, costs.flat);
  if (costs.graph <= scan) {
    const count = kernel.searchAllowed(
      address,
      k,
      width,
      minNodes,
      maxPoolEntries(segment, 2 * likely, scan),
    );
    if (count >= k) return toCandidates(segment, count, filteredDeviations);
  }
  const isFlat = costs.flat < costs.list;
  const count = isFlat ? kernel.searchFlat(address, k) : kernel.searchList(address, k);
  return toCandidates(segment, count, filteredDeviations);
}

/** For more results than this, a list is cheaper, because the pool of bounds is kept sorted. */
const flatMax = 128;

/**
 * Returns the microseconds of three methods for a filter that passes `count` vectors. `list` scores all of
 * them by their codes. `flat` computes bounds from the sketches of all blocks of 32 that contain one, and
 * scores about a hundred. `graph` scores neighbors by their codes. Only the order of the costs matters.
 */
function filterCosts(
  segment: Segment,
  k: number,
  count: number,
  pool: number,
): Record<'list' | 'flat' | 'graph', number> {
  const { padded, live } = segment;
  const list = scoreMicros(padded, count, count);
  // A search that needs more entries than a pool has cannot find enough.
  const graph =
    pool > POOL_MAX ? Number.POSITIVE_INFINITY : graphMicros(padded, { pool, follow: false });
  if (k > flatMax) return { list, flat: Number.POSITIVE_INFINITY, graph };
  const blocks = (segment.slots / 32) * (1 - (1 - count / live) ** 32);
  const flat = 45 + padded * 0.035 + count * 0.002 + blocks * (0.02 + padded * 0.0005);
  return { list, flat, graph };
}

/**
 * Number of standard deviations of a code distance in `distanceError`. At 2, one near result in a hundred is
 * missed.
 */
const deviations = 3;
/**
 * The number of standard deviations under a filter. All passing vectors may be far away, in clusters whose
 * distances 4-bit codes misjudge as a whole. The error is common to a cluster, and the lowest of many errors
 * is large.
 */
const filteredDeviations = 5;

function toCandidates(segment: Segment, count: number, allowed = deviations): Candidates {
  const { ids, distances } = segment.scratch;
  const error = allowed * segment.noiseOf(count);
  return {
    count,
    ids: ids.slice(0, count),
    distances: distances.slice(0, count),
    distanceError: error,
  };
}

/** Scores every live, allowed vector, in parts, for a k beyond what the kernel sorts. */
function scanAll(segment: Segment, k: number): Candidates {
  const { kernel } = segment;
  const { address, ids, distances } = segment.scratch;
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

/** Orders nearest first, ties by age. */
function byDistance(a: { id: number; distance: number }, b: typeof a): number {
  return a.distance - b.distance || a.id - b.id;
}

/** The result of a segment, and the unit of its distances. */
interface Part {
  found: Candidates;
  unit: number;
}

/** Merges results into the k nearest. An id that moves from one segment to another counts once. */
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
  const error = Math.max(...parts.map((part) => part.found.distanceError * part.unit));
  return { count: seen.size, ids, distances, distanceError: error };
}
