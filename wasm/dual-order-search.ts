// The search of an insertion under dot (candidate-order.ts): one beam by inner products, then one by squared
// distances that continues from the nodes of the first. Every visited node is offered to both pools. If all
// vectors have one length, the orders are the same, and the second beam has nothing left to do.
import { codeDistanceBy } from './scalar-quantizer';
import {
  H_EDGE_CODES, H_MEAN, H_NEIGHBOUR, L_ESTIMATES, L_FINE, L_INNER_COUNT, L_LENGTH, L_ORIGIN, L_POOL,
  L_POOL_COUNT, L_REJECTED, L_RESULT, L_RESULT_COUNT, L_RESULT_LIMIT, L_ROTATED, L_WEIGHT, POOL_MAX,
  STARTS,
} from './layout';
import { dotFloats } from './kernel/distance';
import { nodeAt } from './memory';
import { BY_INNER } from './candidate-order';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';
import { buildTable, buildTableOf, scanEdges } from './kernel/fastscan';
import {
  EXPANDED, clearSeen, unvisitedNeighbours, markVisited, selectEntryPoints, minUsefulDistance,
  estimateCutoff, takeResults,
} from './search-layer';
import { Node } from './kernel/node';

/** Offset of the pool of inner products, after the space for results. */
export const INNER_AT: usize = (<usize>POOL_MAX) << 3;

/**
 * Collects the nearest nodes of the query vector, which is encoded and of length `norm`, as results. Lists
 * the nodes with the greatest inner products at INNER_AT.
 */
export function searchBothOrders(lane: usize, ef: i32, want: i32, norm: f32): void {
  const pool = <usize>load<u32>(lane, L_POOL);
  const inner = <usize>load<u32>(lane, L_RESULT) + INNER_AT;
  const rotated = <usize>load<u32>(lane, L_ROTATED);
  store<i32>(lane, 0, L_RESULT_COUNT);
  store<i32>(lane, min(want, ef), L_RESULT_LIMIT);
  store<u32>(lane, 0, L_FINE);
  const length = load<f32>(lane, L_LENGTH);
  const origin = load<f32>(lane, L_ORIGIN);
  store<f32>(lane, -dotFloats(rotated, load<u32>(0, H_MEAN)), L_ORIGIN);
  store<f32>(lane, norm, L_LENGTH);
  store<f32>(lane, 0, L_WEIGHT);
  buildTableOf(lane, rotated);
  selectEntryPoints(lane, max(STARTS, ef >> 2));
  scoreBoth(lane, pool, inner, norm * norm);
  expand(lane, ef, inner, pool, norm * norm);
  store<f32>(lane, origin, L_ORIGIN);
  store<f32>(lane, length, L_LENGTH);
  store<f32>(lane, 1, L_WEIGHT);
  buildTable(lane);
  skipExpanded(lane, pool, inner);
  expand(lane, ef, pool, inner, norm * norm);
  clearSeen(lane);
  takeResults(lane);
  takeInner(lane, inner);
}

/** Scores the entry points by their codes and puts them into both pools. */
function scoreBoth(lane: usize, pool: usize, inner: usize, square: f32): void {
  const starts = load<i32>(lane, L_POOL_COUNT);
  let count = 0;
  // The loop reads the array ahead of its writes.
  for (let i = 0; i < starts; i++) {
    const slot = (<u32>load<u64>(pool + ((<usize>i) << 3))) >> 1;
    if (!markVisited(lane, slot)) continue;
    const node = nodeAt(slot);
    const squared = codeDistanceBy(lane, node, 1);
    insertKey(pool, count, count + 1, keyOf(squared, slot << 1));
    insertKey(inner, count, count + 1, keyOf(innerBy(squared, square, node), slot << 1));
    count++;
  }
  store<i32>(lane, count, L_POOL_COUNT);
  store<i32>(lane, count, L_INNER_COUNT);
}

/**
 * Returns the negative inner product of a node and a vector of squared length `square`, at the squared
 * distance `squared`. It uses true lengths, so that equal lengths give equal orders to the last bit.
 */
// @ts-ignore: decorator
@inline
function innerBy(squared: f32, square: f32, node: usize): f32 {
  const norm = Node.norm(node);
  return (squared - square - norm * norm) * 0.5;
}

// @ts-ignore: decorator
@inline
function worstOf(pool: usize, count: i32, ef: i32): f32 {
  return count < ef ? Infinity : distanceOf(load<u64>(pool + ((<usize>(ef - 1)) << 3)));
}

/** Expands the pool `own`, by inner products if L_WEIGHT is 0, and also fills the pool `other`. */
function expand(lane: usize, ef: i32, own: usize, other: usize, square: f32): void {
  const isInner = load<f32>(lane, L_WEIGHT) == 0;
  const neighbours = <usize>load<u32>(0, H_NEIGHBOUR);
  const codes = <usize>load<u32>(0, H_EDGE_CODES);
  const fresh = <usize>load<u32>(lane, L_REJECTED);
  const ownCount = isInner ? L_INNER_COUNT : L_POOL_COUNT;
  const otherCount = isInner ? L_POOL_COUNT : L_INNER_COUNT;
  const expanded = ef * EXPANDED / 100;
  const sieve = codes == 0 ? <f32>0 : estimateCutoff(lane);
  const rough = minUsefulDistance(lane);
  let count = load<i32>(lane + ownCount);
  let rest = load<i32>(lane + otherCount);
  let worst = worstOf(own, count, ef);
  let worstOther = worstOf(other, rest, ef);
  let cursor = 0;
  while (cursor < min(count, expanded)) {
    const at = own + ((<usize>cursor) << 3);
    const key = load<u64>(at);
    cursor++;
    if (key & 1) continue;
    store<u64>(at, key | 1);
    const owner = nodeAt((<u32>key) >> 1);
    const mask = sieve > 0 && distanceOf(key) > rough
      ? scanEdges(lane, owner + codes, distanceOf(key), worst * sieve)
      : Node.used(owner);
    const end = unvisitedNeighbours(lane, owner + neighbours, mask, fresh);
    for (let at = fresh; at < end; at += 4) {
      const slot = load<u32>(at);
      const node = nodeAt(slot);
      const squared = codeDistanceBy(lane, node, 1);
      const product = innerBy(squared, square, node);
      const distance = isInner ? product : squared;
      const second = isInner ? squared : product;
      if (second < worstOther) {
        insertKey(other, rest, ef, keyOf(second, slot << 1));
        if (rest < ef) rest++;
        worstOther = worstOf(other, rest, ef);
      }
      if (distance >= worst) continue;
      const place = insertKey(own, count, ef, keyOf(distance, slot << 1));
      if (place < cursor) cursor = place;
      if (count < ef) count++;
      worst = worstOf(own, count, ef);
    }
  }
  store<i32>(lane + ownCount, count);
  store<i32>(lane + otherCount, rest);
}

/** Marks the nodes of the pool as expanded that are expanded in the pool of inner products. */
function skipExpanded(lane: usize, pool: usize, inner: usize): void {
  const count = load<i32>(lane, L_POOL_COUNT);
  const innerCount = load<i32>(lane, L_INNER_COUNT);
  // One bit for every 1,024th slot: nodes without a mark are not searched for.
  const marks = <usize>load<u32>(lane, L_ESTIMATES);
  for (let at = marks; at < marks + 128; at += 16) v128.store(at, i32x4.splat(0));
  for (let i = 0; i < innerCount; i++) {
    const low = load<u32>(inner + ((<usize>i) << 3));
    const at = marks + (((low >> 6) & 31) << 2);
    if (low & 1) store<u32>(at, load<u32>(at) | (1 << ((low >> 1) & 31)));
  }
  let from = 0;
  for (let i = 0; i < count; i++) {
    const at = pool + ((<usize>i) << 3);
    const key = load<u64>(at);
    const slot = (<u32>key) >> 1;
    if ((load<u32>(marks + (((slot >> 5) & 31) << 2)) & (1 << (slot & 31))) == 0) continue;
    // If the orders are the same, the first comparison finds the node.
    for (let turn = 0; turn < innerCount; turn++) {
      let j = from + turn;
      if (j >= innerCount) j -= innerCount;
      const low = load<u32>(inner + ((<usize>j) << 3));
      if (low >> 1 != slot) continue;
      store<u64>(at, key | <u64>(low & 1));
      from = j + 1;
      break;
    }
  }
}

/** Converts keys of the pool to candidate keys. */
function takeInner(lane: usize, inner: usize): void {
  const count = load<i32>(lane, L_INNER_COUNT);
  for (let i = 0; i < count; i++) {
    const at = inner + ((<usize>i) << 3);
    const slot = load<u32>(at) >> 1;
    store<u32>(at, slot | BY_INNER);
  }
}
