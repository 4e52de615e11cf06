// The graph search: HNSW algorithm 2, SEARCH-LAYER (Malkov & Yashunin 2018), best first over a pool of
// candidates. A node counts as visited when it is expanded, so it may be in the pool more than once with
// different estimates. Expanded nodes are offered to the results with their code distance.
import { codeDistance, isInner, distanceTo } from './scalar-quantizer';
import {
  EDGES, ENTRY_BLOCKS, E_PARTS, H_CAPACITY, H_DELETED, H_EDGE_CODES, H_EDGE_CODE_BYTES, H_ENTRY,
  H_ENTRY_BYTES, H_NEIGHBOUR, H_PADDED, H_SLOTS, L_ALLOW, L_ALLOW_WORDS, L_ESTIMATES, L_FINE,
  L_KEEP_ALL, L_ORIGIN, L_POOL, L_POOL_COUNT, L_REJECTED, L_RESULT, L_RESULT_COUNT, L_RESULT_LIMIT,
  L_SEEN, L_TABLE_STEP, L_TOUCH, L_TOUCHED, L_TOUCHED_COUNT, L_VISITED, NODE_DELETED, STARTS,
  STARTS_MAX, TOUCHED_MAX,
} from './layout';
import { nodeAt } from './memory';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';
import { lowerEstimates, scanEdges } from './kernel/fastscan';
import { Node } from './kernel/node';

/** Adds `slot` to the visited set; returns false if it was in it. */
// @ts-ignore: decorator
@inline
export function markVisited(lane: usize, slot: u32): bool {
  const at = <usize>load<u32>(lane, L_SEEN) + ((<usize>(slot >> 5)) << 2);
  const word = load<u32>(at);
  const bit: u32 = 1 << (slot & 31);
  if (word & bit) return false;
  store<u32>(at, word | bit);
  // Writes the entry without a branch on the data. If the word was listed already, the next call overwrites
  // the entry.
  const count = load<u32>(lane, L_TOUCHED_COUNT);
  const touched = <usize>load<u32>(lane, L_TOUCHED);
  store<u32>(touched + ((<usize>min(count, <u32>TOUCHED_MAX)) << 2), <u32>at);
  store<u32>(lane, count + <u32>(word == 0), L_TOUCHED_COUNT);
  return true;
}

// @ts-ignore: decorator
@inline
function isVisited(lane: usize, slot: u32): bool {
  const at = <usize>load<u32>(lane, L_SEEN) + ((<usize>(slot >> 5)) << 2);
  return (load<u32>(at) & (1 << (slot & 31))) != 0;
}

export function clearSeen(lane: usize): void {
  const count = load<u32>(lane, L_TOUCHED_COUNT);
  store<u32>(lane, 0, L_TOUCHED_COUNT);
  if (count > <u32>TOUCHED_MAX) {
    memory.fill(<usize>load<u32>(lane, L_SEEN), 0, <usize>(load<u32>(0, H_CAPACITY) + 63) >> 3);
    return;
  }
  const touched = <usize>load<u32>(lane, L_TOUCHED);
  for (let i: usize = 0; i < <usize>count; i++) store<u32>(<usize>load<u32>(touched + (i << 2)), 0);
}

/** Whether an element id passes the filter. */
// @ts-ignore: decorator
@inline
export function isAllowed(lane: usize, id: u32): bool {
  const words = load<u32>(lane, L_ALLOW_WORDS);
  if (words == 0) return true;
  const word = id >> 5;
  if (word >= words) return false;
  const at = <usize>load<u32>(lane, L_ALLOW) + ((<usize>word) << 2);
  return (load<u32>(at) & (1 << (id & 31))) != 0;
}

/** Whether `node` itself may be a result. */
// @ts-ignore: decorator
@inline
export function isAnswer(lane: usize, node: usize): bool {
  return (Node.flags(node) & NODE_DELETED) == 0 && isAllowed(lane, Node.id(node));
}

/** Number of duplicates that are tested. If there are more, one is assumed to be allowed. */
const DUPLICATES_MAX = 1024;

/** Whether a duplicate of `node` may be a result. */
function hasAllowedDuplicate(lane: usize, node: usize): bool {
  let next = Node.atomicNext(node);
  for (let steps = 0; next != 0; steps++) {
    const duplicate = nodeAt(next - 1);
    if (steps == DUPLICATES_MAX || isAnswer(lane, duplicate)) return true;
    next = Node.atomicNext(duplicate);
  }
  return false;
}

/** Whether `node` or one of its duplicates may be a result. */
// @ts-ignore: decorator
@inline
export function hasAnswer(lane: usize, node: usize): bool {
  return isAnswer(lane, node) || hasAllowedDuplicate(lane, node);
}

/** Adds `node` to the results if it or one of its duplicates may be a result. */
// @ts-ignore: decorator
@inline
export function collect(lane: usize, node: usize, slot: u32, distance: f32): void {
  const key = keyOf(distance, slot);
  const results = <usize>load<u32>(lane, L_RESULT);
  const count = load<i32>(lane, L_RESULT_COUNT);
  const limit = load<i32>(lane, L_RESULT_LIMIT);
  if (count == limit && key >= load<u64>(results + ((<usize>(limit - 1)) << 3))) return;
  if (load<u32>(lane, L_KEEP_ALL) == 0 && !hasAnswer(lane, node)) return;
  insertKey(results, count, limit, key);
  if (count < limit) store<i32>(lane, count + 1, L_RESULT_COUNT);
}

/**
 * Searches with a pool of `ef` candidates and keeps the best `want` results. The query must be encoded and
 * its table built. With `follow`, the search follows estimates if there are any: fewer nodes are read, but
 * the highest recall is lower.
 */
export function searchLayer(lane: usize, ef: i32, want: i32, follow: bool): void {
  store<i32>(lane, 0, L_RESULT_COUNT);
  if (ef < STARTS) ef = STARTS;
  store<i32>(lane, min(want, ef), L_RESULT_LIMIT);
  store<u32>(lane, 0, L_FINE);
  // A wide search begins in several clusters. There may be hardly an edge between clusters after the first
  // nodes, whose edges are long, were deleted.
  selectEntryPoints(lane, max(STARTS, min(ef >> 2, STARTS_MAX)));
  if (load<u32>(0, H_EDGE_CODES) == 0) searchByCodes(lane, ef, 0);
  else if (follow) searchByEstimates(lane, ef);
  else searchByCodes(lane, ef, estimateCutoff(lane));
  clearSeen(lane);
}

/** Continues from the results of a search whose codes were too coarse, with refined distances. */
export function searchRefined(lane: usize, ef: i32, want: i32): void {
  if (ef < STARTS) ef = STARTS;
  poolOfResults(lane, ef);
  store<i32>(lane, min(want, ef), L_RESULT_LIMIT);
  // Estimates are as coarse as codes.
  searchByCodes(lane, ef, 0);
  clearSeen(lane);
}

/** Makes the nearest `most` results the entry points of a refined search. */
export function poolOfResults(lane: usize, most: i32): void {
  const pool = <usize>load<u32>(lane, L_POOL);
  const results = <usize>load<u32>(lane, L_RESULT);
  const count = min(load<i32>(lane, L_RESULT_COUNT), most);
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u64>(pool + (i << 3), (<u64>load<u32>(results + (i << 3))) << 1);
  }
  store<i32>(lane, count, L_POOL_COUNT);
  store<i32>(lane, 0, L_RESULT_COUNT);
  store<u32>(lane, 1, L_FINE);
}

/**
 * One block of entry points per 1,024 vectors suffices, and at least 4: measured at 5,000 to 100,000 vectors.
 */
const ENTRY_SHIFT: u32 = 10;
const ENTRY_LEAST: u32 = 4;

/** Fills the pool with the best `starts` of the sampled entry points. */
export function selectEntryPoints(lane: usize, starts: i32): void {
  const pool = <usize>load<u32>(lane, L_POOL);
  const enough = max<u32>(load<u32>(0, H_SLOTS) >> ENTRY_SHIFT, ENTRY_LEAST);
  const blocks = isInner(lane) ? <u32>ENTRY_BLOCKS : min<u32>(enough, ENTRY_BLOCKS);
  const bytes = <usize>load<u32>(0, H_ENTRY_BYTES);
  const neighbours = <usize>load<u32>(0, H_EDGE_CODE_BYTES) + 256;
  const estimates = <usize>load<u32>(lane, L_ESTIMATES);
  let block = <usize>load<u32>(0, H_ENTRY);
  let count = 0;
  let worst: f32 = Infinity;
  for (let i: u32 = 0; i < blocks; i++) {
    let mask = scanEdges(lane, block + E_PARTS, load<f32>(lane, L_ORIGIN), worst);
    while (mask != 0) {
      const e = <usize>ctz(mask) << 2;
      mask &= mask - 1;
      const estimate = load<f32>(estimates + e);
      if (estimate >= worst) continue;
      const slot = load<u32>(block + E_PARTS + neighbours + e);
      insertKey(pool, count, starts, keyOf(estimate, slot << 1));
      if (count < starts) count++;
      if (count == starts) worst = distanceOf(load<u64>(pool + ((<usize>(starts - 1)) << 3)));
    }
    block += bytes;
  }
  store<i32>(lane, count, L_POOL_COUNT);
}

function searchByEstimates(lane: usize, ef: i32): void {
  const pool = <usize>load<u32>(lane, L_POOL);
  const estimates = <usize>load<u32>(lane, L_ESTIMATES);
  const codes = <usize>load<u32>(0, H_EDGE_CODES);
  const neighbours = <usize>load<u32>(0, H_NEIGHBOUR);
  let count = load<i32>(lane, L_POOL_COUNT);
  let cursor = 0;
  let visited = 0;
  let worst: f32 = Infinity;
  if (count == ef) worst = distanceOf(load<u64>(pool + ((<usize>(ef - 1)) << 3)));
  while (cursor < count) {
    const at = pool + ((<usize>cursor) << 3);
    const key = load<u64>(at);
    cursor++;
    if (key & 1) continue;
    store<u64>(at, key | 1);
    const slot = (<u32>key) >> 1;
    if (!markVisited(lane, slot)) continue;
    visited++;
    const node = nodeAt(slot);
    const distance = codeDistance(lane, node);
    collect(lane, node, slot, distance);
    let mask = scanEdges(lane, node + codes, distance, worst);
    while (mask != 0) {
      const e = <usize>ctz(mask) << 2;
      mask &= mask - 1;
      const estimate = load<f32>(estimates + e);
      if (estimate >= worst) continue;
      const neighbour = load<u32>(node + neighbours + e);
      if (isVisited(lane, neighbour)) continue;
      const place = insertKey(pool, count, ef, keyOf(estimate, neighbour << 1));
      if (place < cursor) cursor = place;
      if (count < ef) count++;
      if (count == ef) worst = distanceOf(load<u64>(pool + ((<usize>(ef - 1)) << 3)));
    }
  }
  store<i32>(lane, count, L_POOL_COUNT);
  store<i32>(lane, visited, L_VISITED);
}

/**
 * A neighbor is scored when its estimate is below 1 + SLACK / sqrt(P) times the pool's worst distance, which
 * is about one standard deviation of the estimate.
 */
const SLACK: f32 = 1.2;
/** Under dot: estimates are lowered by this many standard deviations instead. */
const LOWER: f32 = 1;

export function estimateCutoff(lane: usize): f32 {
  if (!isInner(lane)) {
    return 1 + SLACK / <f32>Math.sqrt(<f64>load<u32>(0, H_PADDED));
  }
  lowerEstimates(lane, LOWER);
  return 1;
}

/**
 * Returns the distance of an edge's owner below which estimates are useless: the rounding of the table
 * exceeds their information.
 */
export function minUsefulDistance(lane: usize): f32 {
  if (isInner(lane)) return -Infinity;
  const step = load<f32>(lane, L_TABLE_STEP);
  return ROUGH * <f32>load<u32>(0, H_PADDED) * step * step;
}

/** (.29 / 2 / .603)^2: deviations of a rounding, of P / 4 of them, of <q, sign>. */
const ROUGH: f32 = 0.058;

/**
 * Percentage of an insertion's pool that is expanded. The farthest candidates rarely lead to a chosen node,
 * but are themselves candidates of the choice.
 */
export const EXPANDED: i32 = 70;

/**
 * A search whose pool contains code distances. Every neighbor is scored by its code (`sieve` 0, layouts
 * without edge codes), or only those that their estimates do not rule out.
 */
function searchByCodes(lane: usize, ef: i32, sieve: f32): void {
  const pool = <usize>load<u32>(lane, L_POOL);
  const neighbours = <usize>load<u32>(0, H_NEIGHBOUR);
  const codes = <usize>load<u32>(0, H_EDGE_CODES);
  const fresh = <usize>load<u32>(lane, L_REJECTED);
  const expanded = load<u32>(lane, L_KEEP_ALL) != 0 ? ef * EXPANDED / 100 : ef;
  // If no node must be skipped, the pool is the result.
  const plain = keepsAll(lane);
  let count = scoreEntryPoints(lane, plain);
  let visited = 0;
  let worst: f32 = Infinity;
  if (count >= ef) worst = distanceOf(load<u64>(pool + ((<usize>(ef - 1)) << 3)));
  const rough = minUsefulDistance(lane);
  let cursor = 0;
  while (cursor < min(count, expanded)) {
    const at = pool + ((<usize>cursor) << 3);
    const key = load<u64>(at);
    cursor++;
    if (key & 1) continue;
    store<u64>(at, key | 1);
    visited++;
    const owner = nodeAt((<u32>key) >> 1);
    const mask = sieve > 0 && distanceOf(key) > rough
      ? scanEdges(lane, owner + codes, distanceOf(key), worst * sieve)
      : Node.used(owner);
    const end = unvisitedNeighbours(lane, owner + neighbours, mask, fresh);
    for (let at = fresh; at < end; at += 4) {
      const slot = load<u32>(at);
      const node = nodeAt(slot);
      const distance = distanceTo(lane, node);
      if (!plain) collect(lane, node, slot, distance);
      if (distance >= worst) continue;
      const place = insertKey(pool, count, ef, keyOf(distance, slot << 1));
      if (place < cursor) cursor = place;
      if (count < ef) count++;
      if (count >= ef) worst = distanceOf(load<u64>(pool + ((<usize>(ef - 1)) << 3)));
    }
  }
  store<i32>(lane, count, L_POOL_COUNT);
  store<i32>(lane, visited, L_VISITED);
  if (plain) takeResults(lane);
}

/**
 * Writes the unvisited neighbors of `mask` to `fresh`; returns the end of the list. Touches them, so that
 * their memory is fetched in parallel.
 */
// @ts-ignore: decorator
@inline
export function unvisitedNeighbours(
  lane: usize, neighbours: usize, mask: u32, fresh: usize,
): usize {
  let touched: i32 = 0;
  while (mask != 0) {
    const slot = load<u32>(neighbours + (<usize>ctz(mask) << 2));
    mask &= mask - 1;
    if (!markVisited(lane, slot)) continue;
    store<u32>(fresh, slot);
    fresh += 4;
    touched |= Node.codeSum(nodeAt(slot));
  }
  store<i32>(lane, touched, L_TOUCH);
  return fresh;
}

/** Whether every visited node may be a result. */
function keepsAll(lane: usize): bool {
  if (load<u32>(lane, L_KEEP_ALL) != 0) return true;
  return load<u32>(lane, L_ALLOW_WORDS) == 0 && atomic.load<u32>(H_DELETED) == 0;
}

/** Scores the entry points by their codes and puts them into the pool; returns their number. */
export function scoreEntryPoints(lane: usize, plain: bool): i32 {
  const pool = <usize>load<u32>(lane, L_POOL);
  const starts = load<i32>(lane, L_POOL_COUNT);
  let count = 0;
  // The loop reads the array ahead of its writes.
  for (let i = 0; i < starts; i++) {
    const slot = (<u32>load<u64>(pool + ((<usize>i) << 3))) >> 1;
    if (!markVisited(lane, slot)) continue;
    const node = nodeAt(slot);
    const distance = distanceTo(lane, node);
    if (!plain) collect(lane, node, slot, distance);
    insertKey(pool, count, count + 1, keyOf(distance, slot << 1));
    count++;
  }
  return count;
}

/** Copies the nearest of the pool to the results. */
export function takeResults(lane: usize): void {
  const pool = <usize>load<u32>(lane, L_POOL);
  const results = <usize>load<u32>(lane, L_RESULT);
  const count = min(load<i32>(lane, L_POOL_COUNT), load<i32>(lane, L_RESULT_LIMIT));
  for (let i = 0; i < count; i++) {
    const key = load<u64>(pool + ((<usize>i) << 3));
    const slot = (<u32>key) >> 1;
    store<u64>(results + ((<usize>i) << 3), (key & 0xffffffff00000000) | <u64>slot);
  }
  store<i32>(lane, count, L_RESULT_COUNT);
}
