// The walk of a search that has nodes to leave out: a filter refuses them, or they are deleted. As in
// HNSW (Malkov & Yashunin 2018, algorithm 2; filters as in hnswlib) its width counts answers alone: what
// is none is walked through and takes no place of theirs, else a query amid nodes that are left out
// would end among them. Invariant: the pool holds all that was met and is nearer than the `ef`-th
// answer; where they are more than it may hold, the walk says so and is worth nothing.
import { distanceTo } from './scalar-quantizer';
import { H_DELETED, H_EDGE_CODES, H_NEIGHBOUR, L_FINE, L_POOL, L_POOL_COUNT, L_REJECTED, L_RESULT_COUNT, L_RESULT_LIMIT, L_VISITED, NODE_DELETED, N_FLAGS, N_USED, STARTS, STARTS_MAX } from './layout';
import { nodeAt } from './memory';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';
import { scanEdges } from './kernel/fastscan';
import { clearSeen, unvisitedNeighbours, hasAnswer, scoreEntryPoints, collect, selectEntryPoints, poolOfResults, minUsefulDistance, estimateCutoff } from './search-layer';

/** The pool of a walk that asked nobody is crowded when one in so many of its nodes is deleted. */
const CROWDED = 8;

/** Whether so many nodes of the pool are deleted that the walk was narrower than it was told. */
export function hasManyDeleted(lane: usize): bool {
  if (atomic.load<u32>(H_DELETED) == 0) return false;
  const pool = <usize>load<u32>(lane, L_POOL);
  const count = load<i32>(lane, L_POOL_COUNT);
  let deleted = 0;
  for (let i = 0; i < count; i++) {
    deleted += <i32>((load<u32>(nodeOf(pool, i), N_FLAGS) & NODE_DELETED) != 0);
  }
  return deleted * CROWDED > count;
}

/** The node of the pool's i-th key. */
// @ts-ignore: decorator
@inline
function nodeOf(pool: usize, i: i32): usize {
  return nodeAt((<u32>load<u64>(pool + ((<usize>i) << 3))) >> 1);
}

/**
 * Walks until `ef` answers are nearer than all that is left, through at most `most` places, and keeps
 * the best `want` of them as results. False when the places are too few.
 */
export function searchFiltered(lane: usize, ef: i32, most: i32, want: i32): bool {
  store<i32>(lane, 0, L_RESULT_COUNT);
  store<i32>(lane, want, L_RESULT_LIMIT);
  store<u32>(lane, 0, L_FINE);
  selectEntryPoints(lane, max(STARTS, min(most >> 2, STARTS_MAX)));
  const enough = expand(lane, ef, most, load<u32>(0, H_EDGE_CODES) == 0 ? 0 : estimateCutoff(lane));
  clearSeen(lane);
  return enough;
}

/** Walks on from the results, where codes could not tell what is near, by what is known best. */
export function walkAmongFine(lane: usize, ef: i32, most: i32, want: i32): bool {
  poolOfResults(lane, most);
  store<i32>(lane, want, L_RESULT_LIMIT);
  const enough = expand(lane, ef, most, 0);
  clearSeen(lane);
  return enough;
}

/** Distance of the last of the pool's `count` keys. */
// @ts-ignore: decorator
@inline
function farthest(pool: usize, count: i32): f32 {
  return distanceOf(load<u64>(pool + ((<usize>(count - 1)) << 3)));
}

/** Answers among the first `count` of the pool. */
function answersOf(lane: usize, count: i32): i32 {
  const pool = <usize>load<u32>(lane, L_POOL);
  let answers = 0;
  for (let i = 0; i < count; i++) answers += <i32>hasAnswer(lane, nodeOf(pool, i));
  return answers;
}

function expand(lane: usize, ef: i32, most: i32, sieve: f32): bool {
  const pool = <usize>load<u32>(lane, L_POOL);
  const neighbours = <usize>load<u32>(0, H_NEIGHBOUR);
  const codes = <usize>load<u32>(0, H_EDGE_CODES);
  const fresh = <usize>load<u32>(lane, L_REJECTED);
  const rough = minUsefulDistance(lane);
  let count = scoreEntryPoints(lane, false);
  let answers = answersOf(lane, count);
  for (; count > 0 && answers >= ef; count--) {
    const isLast = hasAnswer(lane, nodeOf(pool, count - 1));
    if (isLast && answers == ef) break;
    answers -= <i32>isLast;
  }
  let worst: f32 = answers < ef ? Infinity : farthest(pool, count);
  let visited = 0;
  let cursor = 0;
  while (cursor < count) {
    const at = pool + ((<usize>cursor) << 3);
    const key = load<u64>(at);
    cursor++;
    if (key & 1) continue;
    store<u64>(at, key | 1);
    visited++;
    const owner = nodeAt((<u32>key) >> 1);
    const mask = sieve > 0 && distanceOf(key) > rough
      ? scanEdges(lane, owner + codes, distanceOf(key), worst * sieve)
      : load<u32>(owner, N_USED);
    const end = unvisitedNeighbours(lane, owner + neighbours, mask, fresh);
    for (let from = fresh; from < end; from += 4) {
      const slot = load<u32>(from);
      const node = nodeAt(slot);
      const distance = distanceTo(lane, node);
      collect(lane, node, slot, distance);
      if (distance >= worst) continue;
      const isOne = hasAnswer(lane, node);
      const isFull = answers >= ef;
      // The last of the pool, which is an answer then, gives way to a nearer one, but to nothing else.
      const gives = isFull && isOne;
      if (!gives && count == most) return false;
      const place = insertKey(pool, count, gives ? count : most, keyOf(distance, slot << 1));
      if (place < cursor) cursor = place;
      if (!gives) count++;
      if (!isFull) answers += <i32>isOne;
      if (answers < ef || !isOne) continue;
      // What lies behind the last answer takes no place; all may be deleted meanwhile.
      while (count > 1 && !hasAnswer(lane, nodeOf(pool, count - 1))) count--;
      worst = farthest(pool, count);
    }
  }
  store<i32>(lane, count, L_POOL_COUNT);
  store<i32>(lane, visited, L_VISITED);
  return true;
}
