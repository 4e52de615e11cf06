// The graph search: HNSW algorithm 2, SEARCH-LAYER (Malkov & Yashunin 2018), best first over a pool of
// candidates. A node counts as visited when it is expanded, so it may be in the pool more than once with
// different estimates. Expanded nodes are offered to the results with their code distance.
import { codeDistance, isInner, distanceTo } from './scalar-quantizer';
import {
  EDGES, ENTRY_BLOCKS, ENTRY_PARTS, ENTRY_SLOTS, H_DELETED, NODE_DELETED, N_CODE, STARTS,
  STARTS_MAX, TOUCHED_MAX,
} from './layout';
import { Header } from './kernel/header';
import { Scratch } from './kernel/scratch-fields';
import { nodeAt } from './memory';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';
import { lowerEstimates, scanEdges } from './kernel/fastscan';
import { hasHalves } from './kernel/int4-code';
import { touchLines } from './kernel/prefetch';
import { Node } from './kernel/node';

/** Adds `slot` to the visited set; returns false if it was in it. */
// @ts-ignore: decorator
@inline
export function markVisited(scratch: usize, slot: u32): bool {
  const at = Scratch.seen(scratch) + ((<usize>(slot >> 5)) << 2);
  const word = load<u32>(at);
  const bit: u32 = 1 << (slot & 31);
  if (word & bit) return false;
  store<u32>(at, word | bit);
  // Writes the entry without a branch on the data. If the word was listed already, the next call overwrites
  // the entry.
  const count = Scratch.touchedCount(scratch);
  const touched = Scratch.touched(scratch);
  store<u32>(touched + ((<usize>min(count, <u32>TOUCHED_MAX)) << 2), <u32>at);
  Scratch.setTouchedCount(scratch, count + <u32>(word == 0));
  return true;
}

// @ts-ignore: decorator
@inline
function isVisited(scratch: usize, slot: u32): bool {
  const at = Scratch.seen(scratch) + ((<usize>(slot >> 5)) << 2);
  return (load<u32>(at) & (1 << (slot & 31))) != 0;
}

export function clearSeen(scratch: usize): void {
  const count = Scratch.touchedCount(scratch);
  Scratch.setTouchedCount(scratch, 0);
  if (count > <u32>TOUCHED_MAX) {
    memory.fill(Scratch.seen(scratch), 0, <usize>(Header.capacity() + 63) >> 3);
    return;
  }
  const touched = Scratch.touched(scratch);
  for (let i: usize = 0; i < <usize>count; i++) store<u32>(<usize>load<u32>(touched + (i << 2)), 0);
}

/** Whether an element id passes the filter. */
// @ts-ignore: decorator
@inline
export function isAllowed(scratch: usize, id: u32): bool {
  const words = Scratch.allowWords(scratch);
  if (words == 0) return true;
  const word = id >> 5;
  if (word >= words) return false;
  const at = Scratch.allow(scratch) + ((<usize>word) << 2);
  return (load<u32>(at) & (1 << (id & 31))) != 0;
}

/** Whether `node` itself may be a result. */
// @ts-ignore: decorator
@inline
export function isAnswer(scratch: usize, node: usize): bool {
  return (Node.flags(node) & NODE_DELETED) == 0 && isAllowed(scratch, Node.id(node));
}

/** Number of duplicates that are tested. If there are more, one is assumed to be allowed. */
const DUPLICATES_MAX = 1024;

/** Whether a duplicate of `node` may be a result. */
function hasAllowedDuplicate(scratch: usize, node: usize): bool {
  let next = Node.atomicNext(node);
  for (let steps = 0; next != 0; steps++) {
    const duplicate = nodeAt(next - 1);
    if (steps == DUPLICATES_MAX || isAnswer(scratch, duplicate)) return true;
    next = Node.atomicNext(duplicate);
  }
  return false;
}

/** Whether `node` or one of its duplicates may be a result. */
// @ts-ignore: decorator
@inline
export function hasAnswer(scratch: usize, node: usize): bool {
  return isAnswer(scratch, node) || hasAllowedDuplicate(scratch, node);
}

/** Adds `node` to the results if it or one of its duplicates may be a result. */
// @ts-ignore: decorator
@inline
export function collect(scratch: usize, node: usize, slot: u32, distance: f32): void {
  const key = keyOf(distance, slot);
  const results = Scratch.result(scratch);
  const count = Scratch.resultCount(scratch);
  const limit = Scratch.resultLimit(scratch);
  if (count == limit && key >= load<u64>(results + ((<usize>(limit - 1)) << 3))) return;
  if (Scratch.keepAll(scratch) == 0 && !hasAnswer(scratch, node)) return;
  insertKey(results, count, limit, key);
  if (count < limit) Scratch.setResultCount(scratch, count + 1);
}

/**
 * Searches with a pool of `ef` candidates and keeps the best `want` results. The query must be encoded and
 * its table built. With `follow`, the search follows estimates if there are any: fewer nodes are read, but
 * the highest recall is lower.
 */
export function searchLayer(scratch: usize, ef: i32, want: i32, follow: bool): void {
  Scratch.setResultCount(scratch, 0);
  if (ef < STARTS) ef = STARTS;
  Scratch.setResultLimit(scratch, min(want, ef));
  Scratch.setFine(scratch, 0);
  // A wide search begins in several clusters. There may be hardly an edge between clusters after the first
  // nodes, whose edges are long, were deleted.
  selectEntryPoints(scratch, max(STARTS, min(ef >> 2, STARTS_MAX)));
  if (<u32>Header.edgeCodes() == 0) searchByCodes(scratch, ef, 0);
  else if (follow) searchByEstimates(scratch, ef);
  else searchByCodes(scratch, ef, estimateCutoff(scratch));
  clearSeen(scratch);
}

/** Continues from the results of a search whose codes were too coarse, with refined distances. */
export function searchRefined(scratch: usize, ef: i32, want: i32): void {
  if (ef < STARTS) ef = STARTS;
  poolOfResults(scratch, ef);
  Scratch.setResultLimit(scratch, min(want, ef));
  // Estimates are as coarse as codes.
  searchByCodes(scratch, ef, 0);
  clearSeen(scratch);
}

/** Makes the nearest `limit` results the entry points of a refined search. */
export function poolOfResults(scratch: usize, limit: i32): void {
  const pool = Scratch.pool(scratch);
  const results = Scratch.result(scratch);
  const count = min(Scratch.resultCount(scratch), limit);
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u64>(pool + (i << 3), (<u64>load<u32>(results + (i << 3))) << 1);
  }
  Scratch.setPoolCount(scratch, count);
  Scratch.setResultCount(scratch, 0);
  Scratch.setFine(scratch, 1);
}

/**
 * One block of entry points per 1,024 vectors suffices, and at least 4: measured at 5,000 to 100,000 vectors.
 */
const ENTRY_SHIFT: u32 = 10;
const ENTRIES_MIN: u32 = 4;

/** Fills the pool with the best `starts` of the sampled entry points. */
export function selectEntryPoints(scratch: usize, starts: i32): void {
  const pool = Scratch.pool(scratch);
  const enough = max<u32>(Header.slots() >> ENTRY_SHIFT, ENTRIES_MIN);
  const blocks = isInner(scratch) ? <u32>ENTRY_BLOCKS : min<u32>(enough, ENTRY_BLOCKS);
  const bytes = Header.entryBytes();
  const slots = Header.edgeCodeBytes() + ENTRY_SLOTS;
  const estimates = Scratch.estimates(scratch);
  let block = Header.entry();
  let count = 0;
  let worst: f32 = Infinity;
  for (let i: u32 = 0; i < blocks; i++) {
    let mask = scanEdges(scratch, block + ENTRY_PARTS, Scratch.origin(scratch), worst);
    while (mask != 0) {
      const e = <usize>ctz(mask) << 2;
      mask &= mask - 1;
      const estimate = load<f32>(estimates + e);
      if (estimate >= worst) continue;
      const slot = load<u32>(block + ENTRY_PARTS + slots + e);
      insertKey(pool, count, starts, keyOf(estimate, slot << 1));
      if (count < starts) count++;
      if (count == starts) worst = distanceOf(load<u64>(pool + ((<usize>(starts - 1)) << 3)));
    }
    block += bytes;
  }
  Scratch.setPoolCount(scratch, count);
}

/** No candidate was read ahead: the slots of two that do not exist. */
export const NONE_AHEAD: u64 = 0xffffffffffffffff;

/** Whether `slot` is one of the two in `ahead`. */
// @ts-ignore: decorator
@inline
export function isAhead(ahead: u64, slot: u32): bool {
  return slot == <u32>ahead || slot == <u32>(ahead >> 32);
}

/**
 * Reads what an expansion needs of `node`, and of the next two candidates from `cursor` that are not expanded,
 * so that their cache misses overlap. Returns the slots of the two. A third one is displaced by nearer
 * candidates too often to pay (measured at 256 and 784 dimensions). Overwrites the estimates.
 */
export function touchAhead(
  scratch: usize, node: usize, pool: usize, cursor: i32, count: i32,
): u64 {
  const bytes = Header.neighbour() + (EDGES << 2);
  let touched = touchLines(node, bytes);
  let ahead: u64 = NONE_AHEAD;
  let found = 0;
  for (; cursor < count && found < 2; cursor++) {
    const key = load<u64>(pool + ((<usize>cursor) << 3));
    if (key & 1) continue;
    const slot = (<u32>key) >> 1;
    touched = v128.or(touched, touchLines(nodeAt(slot), bytes));
    ahead = (ahead << 32) | <u64>slot;
    found++;
  }
  v128.store(Scratch.estimates(scratch), touched);
  return ahead;
}

function searchByEstimates(scratch: usize, ef: i32): void {
  const pool = Scratch.pool(scratch);
  const estimates = Scratch.estimates(scratch);
  const codes = Header.edgeCodes();
  const neighbours = Header.neighbour();
  let count = Scratch.poolCount(scratch);
  let ahead = NONE_AHEAD;
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
    if (!markVisited(scratch, slot)) continue;
    visited++;
    const node = nodeAt(slot);
    if (!isAhead(ahead, slot)) ahead = touchAhead(scratch, node, pool, cursor, count);
    const distance = codeDistance(scratch, node);
    collect(scratch, node, slot, distance);
    let mask = scanEdges(scratch, node + codes, distance, worst);
    while (mask != 0) {
      const e = <usize>ctz(mask) << 2;
      mask &= mask - 1;
      const estimate = load<f32>(estimates + e);
      if (estimate >= worst) continue;
      const neighbour = load<u32>(node + neighbours + e);
      if (isVisited(scratch, neighbour)) continue;
      const position = insertKey(pool, count, ef, keyOf(estimate, neighbour << 1));
      if (position < cursor) cursor = position;
      if (count < ef) count++;
      if (count == ef) worst = distanceOf(load<u64>(pool + ((<usize>(ef - 1)) << 3)));
    }
  }
  Scratch.setPoolCount(scratch, count);
  Scratch.setVisited(scratch, visited);
}

/**
 * A neighbor is scored when its estimate is below 1 + SLACK / sqrt(P) times the pool's worst distance, which
 * is about one standard deviation of the estimate.
 */
const SLACK: f32 = 1.2;
/** Under dot: estimates are lowered by this many standard deviations instead. */
const LOWER: f32 = 1;

export function estimateCutoff(scratch: usize): f32 {
  if (!isInner(scratch)) {
    return 1 + SLACK / <f32>Math.sqrt(<f64><u32>Header.padded());
  }
  lowerEstimates(scratch, LOWER);
  return 1;
}

/**
 * Returns the distance of an edge's owner below which estimates are useless: the rounding of the table
 * exceeds their information.
 */
export function minUsefulDistance(scratch: usize): f32 {
  if (isInner(scratch)) return -Infinity;
  const step = Scratch.tableStep(scratch);
  return ROUGH * <f32><u32>Header.padded() * step * step;
}

/** (0.29 / 2 / 0.603)^2, from the deviations of one rounding, of P / 4 roundings, and of <q, sign>. */
const ROUGH: f32 = 0.058;

/**
 * Percentage of an insertion's pool that is expanded. The farthest candidates rarely lead to a chosen node,
 * but are themselves candidates of the choice.
 */
export const EXPANDED: i32 = 70;

/**
 * A search whose pool contains code distances. Every neighbor is scored by its code (`cutoff` 0, layouts
 * without edge codes), or only those that their estimates do not rule out.
 */
function searchByCodes(scratch: usize, ef: i32, cutoff: f32): void {
  const pool = Scratch.pool(scratch);
  const neighbours = Header.neighbour();
  const codes = Header.edgeCodes();
  const fresh = Scratch.rejected(scratch);
  const expanded = Scratch.keepAll(scratch) != 0 ? ef * EXPANDED / 100 : ef;
  // If no node must be skipped, the pool is the result.
  const plain = keepsAll(scratch);
  let count = scoreEntryPoints(scratch, plain);
  let visited = 0;
  let worst: f32 = Infinity;
  if (count >= ef) worst = distanceOf(load<u64>(pool + ((<usize>(ef - 1)) << 3)));
  const rough = minUsefulDistance(scratch);
  let ahead = NONE_AHEAD;
  let cursor = 0;
  while (cursor < min(count, expanded)) {
    const at = pool + ((<usize>cursor) << 3);
    const key = load<u64>(at);
    cursor++;
    if (key & 1) continue;
    store<u64>(at, key | 1);
    visited++;
    const slot = (<u32>key) >> 1;
    const owner = nodeAt(slot);
    if (codes != 0 && !isAhead(ahead, slot))
      ahead = touchAhead(scratch, owner, pool, cursor, count);
    const mask = cutoff > 0 && distanceOf(key) > rough
      ? scanEdges(scratch, owner + codes, distanceOf(key), worst * cutoff)
      : Node.used(owner);
    const end = unvisitedNeighbours(scratch, owner + neighbours, mask, fresh);
    for (let at = fresh; at < end; at += 4) {
      const slot = load<u32>(at);
      const node = nodeAt(slot);
      const distance = distanceTo(scratch, node);
      if (!plain) collect(scratch, node, slot, distance);
      if (distance >= worst) continue;
      const position = insertKey(pool, count, ef, keyOf(distance, slot << 1));
      if (position < cursor) cursor = position;
      if (count < ef) count++;
      if (count >= ef) worst = distanceOf(load<u64>(pool + ((<usize>(ef - 1)) << 3)));
    }
  }
  Scratch.setPoolCount(scratch, count);
  Scratch.setVisited(scratch, visited);
  if (plain) takeResults(scratch);
}

/**
 * Writes the unvisited neighbors of `mask` to `fresh`; returns the end of the list. Touches them, so that
 * their memory is fetched in parallel.
 */
// @ts-ignore: decorator
@inline
export function unvisitedNeighbours(
  scratch: usize, neighbours: usize, mask: u32, fresh: usize,
): usize {
  const bytes = <usize>N_CODE + (hasHalves() ? Header.padded() >> 1 : Header.padded());
  let touched = i32x4.splat(0);
  while (mask != 0) {
    const slot = load<u32>(neighbours + (<usize>ctz(mask) << 2));
    mask &= mask - 1;
    if (!markVisited(scratch, slot)) continue;
    store<u32>(fresh, slot);
    fresh += 4;
    touched = v128.or(touched, touchLines(nodeAt(slot), bytes));
  }
  Scratch.setTouch(scratch, i32x4.extract_lane(touched, 0));
  return fresh;
}

/** Whether every visited node may be a result. */
function keepsAll(scratch: usize): bool {
  if (Scratch.keepAll(scratch) != 0) return true;
  return Scratch.allowWords(scratch) == 0 && atomic.load<u32>(H_DELETED) == 0;
}

/** Scores the entry points by their codes and puts them into the pool; returns their number. */
export function scoreEntryPoints(scratch: usize, plain: bool): i32 {
  const pool = Scratch.pool(scratch);
  const starts = Scratch.poolCount(scratch);
  let count = 0;
  // The loop reads the array ahead of its writes.
  for (let i = 0; i < starts; i++) {
    const slot = (<u32>load<u64>(pool + ((<usize>i) << 3))) >> 1;
    if (!markVisited(scratch, slot)) continue;
    const node = nodeAt(slot);
    const distance = distanceTo(scratch, node);
    if (!plain) collect(scratch, node, slot, distance);
    insertKey(pool, count, count + 1, keyOf(distance, slot << 1));
    count++;
  }
  return count;
}

/** Copies the nearest of the pool to the results. */
export function takeResults(scratch: usize): void {
  const pool = Scratch.pool(scratch);
  const results = Scratch.result(scratch);
  const count = min(Scratch.poolCount(scratch), Scratch.resultLimit(scratch));
  for (let i = 0; i < count; i++) {
    const key = load<u64>(pool + ((<usize>i) << 3));
    const slot = (<u32>key) >> 1;
    store<u64>(results + ((<usize>i) << 3), (key & 0xffffffff00000000) | <u64>slot);
  }
  Scratch.setResultCount(scratch, count);
}
