// A search that must skip nodes, because a filter refuses them or because they are deleted. As in HNSW
// (Malkov & Yashunin 2018, algorithm 2; filters as in hnswlib), its width counts only allowed nodes. Skipped
// nodes are traversed but take no entry of the width; otherwise a query among skipped nodes would end there.
// Invariant: the pool contains all visited nodes that are nearer than the `ef`-th allowed one. If they exceed
// the pool, the search returns false and its results are not used.
import { distanceTo } from './scalar-quantizer';
import {
  H_DELETED, H_EDGE_CODES, H_NEIGHBOUR, L_FINE, L_POOL, L_POOL_COUNT, L_REJECTED, L_RESULT_COUNT,
  L_RESULT_LIMIT, L_VISITED, NODE_DELETED, STARTS, STARTS_MAX,
} from './layout';
import { nodeAt } from './memory';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';
import { scanEdges } from './kernel/fastscan';
import {
  clearSeen, unvisitedNeighbours, hasAnswer, scoreEntryPoints, collect, selectEntryPoints,
  poolOfResults, minUsefulDistance, estimateCutoff,
} from './search-layer';
import { Node } from './kernel/node';

/** A search without a filter is repeated when one in this many nodes of its pool is deleted. */
const CROWDED = 8;

/** Whether deleted nodes fill so much of the pool that the search was narrower than its width. */
export function hasManyDeleted(lane: usize): bool {
  if (atomic.load<u32>(H_DELETED) == 0) return false;
  const pool = <usize>load<u32>(lane, L_POOL);
  const count = load<i32>(lane, L_POOL_COUNT);
  let deleted = 0;
  for (let i = 0; i < count; i++) {
    deleted += <i32>((Node.flags(nodeOf(pool, i)) & NODE_DELETED) != 0);
  }
  return deleted * CROWDED > count;
}

/** Returns the node of the pool's i-th key. */
// @ts-ignore: decorator
@inline
function nodeOf(pool: usize, i: i32): usize {
  return nodeAt((<u32>load<u64>(pool + ((<usize>i) << 3))) >> 1);
}

/**
 * Searches until `ef` allowed nodes are nearer than all unexpanded ones, with a pool of up to `most` entries,
 * and keeps the best `want` as results. Returns false if the pool is too small.
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

/** Continues from the results of a search whose codes were too coarse, with refined distances. */
export function walkAmongFine(lane: usize, ef: i32, most: i32, want: i32): bool {
  poolOfResults(lane, most);
  store<i32>(lane, want, L_RESULT_LIMIT);
  const enough = expand(lane, ef, most, 0);
  clearSeen(lane);
  return enough;
}

/** Returns the distance of the last of the pool's `count` keys. */
// @ts-ignore: decorator
@inline
function farthest(pool: usize, count: i32): f32 {
  return distanceOf(load<u64>(pool + ((<usize>(count - 1)) << 3)));
}

/** Returns the number of allowed nodes among the first `count` of the pool. */
function countAllowed(lane: usize, count: i32): i32 {
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
  let answers = countAllowed(lane, count);
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
      : Node.used(owner);
    const end = unvisitedNeighbours(lane, owner + neighbours, mask, fresh);
    for (let from = fresh; from < end; from += 4) {
      const slot = load<u32>(from);
      const node = nodeAt(slot);
      const distance = distanceTo(lane, node);
      collect(lane, node, slot, distance);
      if (distance >= worst) continue;
      const isOne = hasAnswer(lane, node);
      const isFull = answers >= ef;
      // The last entry of a full pool is an allowed node. It gives way to a nearer one, but to no skipped
      // node.
      const gives = isFull && isOne;
      if (!gives && count == most) return false;
      const place = insertKey(pool, count, gives ? count : most, keyOf(distance, slot << 1));
      if (place < cursor) cursor = place;
      if (!gives) count++;
      if (!isFull) answers += <i32>isOne;
      if (answers < ef || !isOne) continue;
      // Nodes after the last allowed one take no entry. All nodes may have been deleted meanwhile.
      while (count > 1 && !hasAnswer(lane, nodeOf(pool, count - 1))) count--;
      worst = farthest(pool, count);
    }
  }
  store<i32>(lane, count, L_POOL_COUNT);
  store<i32>(lane, visited, L_VISITED);
  return true;
}
