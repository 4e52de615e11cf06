// The steps of a search: encode the query, search the graph or scan, write the result.
import { hasManyDeleted, searchFiltered, walkAmongFine } from './filtered-search';
import { answerResults, scanAllowed, scanSlots, writeAnswer } from './top-k';
import { centredOf, encodeQuery } from './scalar-quantizer';
import {
  H_MEAN, H_METRIC, H_PADDED, H_SLOTS, H_STATE, L_ANSWERS, L_CENTRED, L_FINE, L_KEEP_ALL, L_NORM,
  L_RESULT, L_RESULT_COUNT, L_ROTATED, L_VISITED, L_WEIGHT, METRIC_DOT, METRIC_L2, NODE_DELETED,
  NODE_FREE, NODE_LINKED, POOL_MAX, RESULT_MAX, STATE_SCAN,
} from './layout';
import { distanceOf } from './kernel/sorted-keys';
import { buildTable } from './kernel/fastscan';
import { nodeAt } from './memory';
import { prepare } from './segment';
import { buildBounds, scanBlocks, scanSketches } from './sketch';
import { searchLayer, searchRefined } from './search-layer';
import { Node } from './kernel/node';

/** Prepares the query at L_QUERY for all functions below. */
export function beginQuery(lane: usize): void {
  // The order by inner product does not depend on the query's length.
  const metric = load<u32>(0, H_METRIC);
  prepare(lane, metric != METRIC_L2);
  codeQuery(lane);
}

/** Encodes the rotated query as the metric requires. */
export function codeQuery(lane: usize): void {
  store<f32>(lane, load<u32>(0, H_METRIC) == METRIC_DOT ? 0 : 1, L_WEIGHT);
  if (load<u32>(0, H_STATE) != STATE_SCAN) encodeQuery(lane);
}

/** Returns the number of results kept for k: the best of them are found by scoring them again. */
function wanted(k: i32): i32 {
  return min(max(32, 3 * k), RESULT_MAX);
}

/** Returned by a search whose width was too small. */
const TOO_NARROW: i32 = -1;

/**
 * Finds the k best by a graph search (search-layer.ts). Returns their number, or TOO_NARROW if deleted nodes
 * took too many entries.
 */
export function searchGraph(lane: usize, k: i32, ef: i32, follow: bool): i32 {
  buildTable(lane);
  store<u32>(lane, 0, L_KEEP_ALL);
  const want = wanted(k);
  searchLayer(lane, ef, want, follow);
  if (hasManyDeleted(lane)) return TOO_NARROW;
  if (!answerResults(lane, k, true)) {
    searchRefined(lane, ef, want);
    answerResults(lane, k, true);
  }
  return writeAnswer(lane);
}

/**
 * Finds the k best by a filtered graph search (filtered-search.ts): they are neither deleted nor refused by
 * the filter. Returns their number, or TOO_NARROW if more than `most` entries would be needed.
 */
export function searchAmong(lane: usize, k: i32, ef: i32, most: i32): i32 {
  buildTable(lane);
  store<u32>(lane, 0, L_KEEP_ALL);
  const want = wanted(k);
  if (!searchFiltered(lane, ef, most, want)) return TOO_NARROW;
  if (!answerResults(lane, k, true)) {
    if (!walkAmongFine(lane, ef, most, want)) return TOO_NARROW;
    answerResults(lane, k, true);
  }
  return writeAnswer(lane);
}

/** Finds the k best of the allowed ids, each scored by its code. */
export function searchList(lane: usize, k: i32): i32 {
  const want = wanted(k);
  scanAllowed(lane, want, false);
  if (!answerResults(lane, k, false)) {
    scanAllowed(lane, want, true);
    answerResults(lane, k, false);
  }
  return writeAnswer(lane);
}

/** Finds the k best of the allowed ids: sketches rule most of them out, the others are scored by codes. */
export function searchFlat(lane: usize, k: i32): i32 {
  buildBounds(lane);
  const want = min(wanted(k), POOL_MAX);
  if (!scanSketches(lane, min(max(256, 12 * k), POOL_MAX), want)) {
    // Very many bounds are alike: the scored vectors tell how near the others must be.
    const full = load<i32>(lane, L_RESULT_COUNT) == want;
    scanBlocks(lane, want, full ? farthestOf(lane, want) : Infinity, true);
    if (load<i32>(lane, L_RESULT_COUNT) < want) scanBlocks(lane, want, Infinity, true);
  }
  return answerResults(lane, k, false) ? writeAnswer(lane) : searchList(lane, k);
}

/** Finds the k best of all live, allowed slots, each scored exactly. */
export function searchExact(lane: usize, k: i32): i32 {
  store<i32>(lane, 0, L_ANSWERS);
  scanSlots(lane, 0, atomic.load<u32>(H_SLOTS), k);
  return writeAnswer(lane);
}

/** Width of the graph search before a scan, which finds an upper bound of the distance. */
const NARROW = 32;
/** Number of results above which such a graph search costs more than it saves. */
const NARROW_MOST = 96;

/**
 * Finds the k best of all vectors: sketches rule out vectors that cannot be among them, the others are scored
 * by codes.
 */
export function searchScan(lane: usize, k: i32): i32 {
  store<u32>(lane, 0, L_KEEP_ALL);
  const want = min(k + 8 + (k >> 2), RESULT_MAX);
  const worst = farthestOfWalk(lane, want);
  buildBounds(lane);
  store<i32>(lane, 0, L_VISITED);
  scanBlocks(lane, want, worst, false);
  // Too few results: many vectors are exactly as far as the last result of the graph search.
  if (load<i32>(lane, L_RESULT_COUNT) < want) scanBlocks(lane, want, Infinity, false);
  if (!answerResults(lane, k, false)) {
    store<u32>(lane, 1, L_FINE);
    scanBlocks(lane, want, Infinity, false);
    answerResults(lane, k, false);
  }
  return writeAnswer(lane);
}

/** Returns a distance by codes below which there are `want` vectors; infinity if none is known. */
function farthestOfWalk(lane: usize, want: i32): f32 {
  store<u32>(lane, 0, L_FINE);
  if (want > NARROW_MOST) return Infinity;
  buildTable(lane);
  searchLayer(lane, max(NARROW, want), want, false);
  if (load<i32>(lane, L_RESULT_COUNT) < want) return Infinity;
  return farthestOf(lane, want);
}

/** Returns slightly more than the distance of the last of `want` results. */
function farthestOf(lane: usize, want: i32): f32 {
  const results = <usize>load<u32>(lane, L_RESULT);
  const worst = distanceOf(load<u64>(results + ((<usize>(want - 1)) << 3)));
  return worst + <f32>1e-6 * abs(worst);
}

/** Begins a query that is made of stored vectors, instead of the vector at L_QUERY. */
export function clearQuery(lane: usize): void {
  memory.fill(<usize>load<u32>(lane, L_ROTATED), 0, (<usize>load<u32>(0, H_PADDED)) << 2);
  store<f32>(lane, 1, L_NORM);
}

/**
 * Adds `part` times the direction of a slot's vector to the query (l2: of the vector itself). Returns false
 * if the vector is deleted or zero.
 */
export function addToQuery(lane: usize, slot: u32, part: f32): bool {
  const node = nodeAt(slot);
  const norm = Node.norm(node);
  const flags = Node.flags(node);
  if ((flags & (NODE_LINKED | NODE_DELETED | NODE_FREE)) != NODE_LINKED || norm == 0) return false;
  const rotated = <usize>load<u32>(lane, L_ROTATED);
  const centred = <usize>load<u32>(lane, L_CENTRED);
  const mean = <usize>load<u32>(0, H_MEAN);
  const bytes = (<usize>load<u32>(0, H_PADDED)) << 2;
  const share = f32x4.splat(load<u32>(0, H_METRIC) == METRIC_L2 ? part : part / norm);
  centredOf(node, centred);
  for (let at: usize = 0; at < bytes; at += 16) {
    const vector = f32x4.add(v128.load(centred + at), v128.load(mean + at));
    v128.store(rotated + at, f32x4.add(v128.load(rotated + at), f32x4.mul(share, vector)));
  }
  return true;
}
