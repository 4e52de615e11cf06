// A search that must skip nodes, because a filter refuses them or because they are deleted. As in HNSW
// (Malkov & Yashunin 2018, algorithm 2; filters as in hnswlib), its width counts only allowed nodes. Skipped
// nodes are traversed but take no entry of the width; otherwise a query among skipped nodes would end there.
// Invariant: the pool contains all visited nodes that are nearer than the `ef`-th allowed one. If they exceed
// the pool, the search returns false and its results are not used.
import { distanceTo } from './scalar-quantizer';
import { H_DELETED, NODE_DELETED, STARTS, STARTS_MAX } from './layout';
import { Header } from './kernel/header';
import { Scratch } from './kernel/scratch-fields';
import { nodeAt } from './memory';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';
import { scanEdges } from './kernel/fastscan';
import {
  clearSeen, unvisitedNeighbours, hasAnswer, scoreEntryPoints, collect, selectEntryPoints,
  poolOfResults, minUsefulDistance, estimateCutoff, NONE_AHEAD, isAhead, touchAhead,
} from './search-layer';
import { Node } from './kernel/node';

/** A search without a filter is repeated when one in this many nodes of its pool is deleted. */
const DELETED_SHARE = 8;

/** Whether deleted nodes fill so much of the pool that the search was narrower than its width. */
export function hasManyDeleted(scratch: usize): bool {
  if (atomic.load<u32>(H_DELETED) == 0) return false;
  const pool = Scratch.pool(scratch);
  const count = Scratch.poolCount(scratch);
  let deleted = 0;
  for (let i = 0; i < count; i++) {
    deleted += <i32>((Node.flags(nodeOf(pool, i)) & NODE_DELETED) != 0);
  }
  return deleted * DELETED_SHARE > count;
}

/** Returns the node of the pool's i-th key. */
// @ts-ignore: decorator
@inline
function nodeOf(pool: usize, i: i32): usize {
  return nodeAt((<u32>load<u64>(pool + ((<usize>i) << 3))) >> 1);
}

/**
 * Searches until `ef` allowed nodes and `minNodes` nodes of any kind are nearer than all unexpanded ones. Keeps
 * the best `want` as results. Returns false if this needs a pool of more than `poolMax` entries.
 */
export function searchFiltered(
  scratch: usize, ef: i32, minNodes: i32, poolMax: i32, want: i32,
): bool {
  Scratch.setResultCount(scratch, 0);
  Scratch.setResultLimit(scratch, want);
  Scratch.setFine(scratch, 0);
  selectEntryPoints(scratch, max(STARTS, min(poolMax >> 2, STARTS_MAX)));
  const cutoff = Header.edgeCodes() == 0 ? <f32>0 : estimateCutoff(scratch);
  const enough = expand(scratch, ef, minNodes, poolMax, cutoff);
  clearSeen(scratch);
  return enough;
}

/** Continues from the results of a search whose codes were too coarse, with refined distances. */
export function refineFiltered(
  scratch: usize, ef: i32, minNodes: i32, poolMax: i32, want: i32,
): bool {
  poolOfResults(scratch, poolMax);
  Scratch.setResultLimit(scratch, want);
  const enough = expand(scratch, ef, minNodes, poolMax, 0);
  clearSeen(scratch);
  return enough;
}

/** Returns the distance of the last of the pool's `count` keys. */
// @ts-ignore: decorator
@inline
function farthest(pool: usize, count: i32): f32 {
  return distanceOf(load<u64>(pool + ((<usize>(count - 1)) << 3)));
}

/** Returns the number of allowed nodes among the first `count` of the pool. */
function countAllowed(scratch: usize, count: i32): i32 {
  const pool = Scratch.pool(scratch);
  let answers = 0;
  for (let i = 0; i < count; i++) answers += <i32>hasAnswer(scratch, nodeOf(pool, i));
  return answers;
}

/**
 * Drops the last entries of the pool that neither `ef` allowed nodes nor `minNodes` nodes need. `answers`:
 * number of allowed nodes in the pool. Returns the new size; the number of allowed nodes is then L_ANSWERS.
 */
// @ts-ignore: decorator
@inline
function trim(scratch: usize, count: i32, answers: i32, ef: i32, minNodes: i32): i32 {
  const pool = Scratch.pool(scratch);
  while (count > minNodes && count > 1 && answers >= ef) {
    const isLast = hasAnswer(scratch, nodeOf(pool, count - 1));
    if (isLast && answers == ef) break;
    answers -= <i32>isLast;
    count--;
  }
  Scratch.setAnswers(scratch, answers);
  return count;
}

function expand(scratch: usize, ef: i32, minNodes: i32, poolMax: i32, cutoff: f32): bool {
  const pool = Scratch.pool(scratch);
  const neighbours = Header.neighbour();
  const codes = Header.edgeCodes();
  const fresh = Scratch.rejected(scratch);
  const rough = minUsefulDistance(scratch);
  let count = scoreEntryPoints(scratch, false);
  let answers = countAllowed(scratch, count);
  count = trim(scratch, count, answers, ef, minNodes);
  answers = Scratch.answers(scratch);
  let worst: f32 = answers < ef || count < minNodes ? Infinity : farthest(pool, count);
  let ahead = NONE_AHEAD;
  let visited = 0;
  let cursor = 0;
  while (cursor < count) {
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
    for (let from = fresh; from < end; from += 4) {
      const slot = load<u32>(from);
      const node = nodeAt(slot);
      const distance = distanceTo(scratch, node);
      collect(scratch, node, slot, distance);
      if (distance >= worst) continue;
      const position = insertKey(pool, count, count + 1, keyOf(distance, slot << 1));
      if (position < cursor) cursor = position;
      answers += <i32>hasAnswer(scratch, node);
      count = trim(scratch, count + 1, answers, ef, minNodes);
      answers = Scratch.answers(scratch);
      if (count > poolMax) return false;
      // All nodes may have been deleted meanwhile, so that the pool never gets enough.
      if (answers >= ef && count >= minNodes) worst = farthest(pool, count);
    }
  }
  Scratch.setPoolCount(scratch, count);
  Scratch.setVisited(scratch, visited);
  return true;
}
