// The search of an insertion under dot (candidate-order.ts): one beam by inner products, then one by squared
// distances that continues from the nodes of the first. Every visited node is offered to both pools. If all
// vectors have one length, the orders are the same, and the second beam has nothing left to do.
import { codeDistanceBy } from './scalar-quantizer';
import { L_INNER_COUNT, L_POOL_COUNT, POOL_MAX, STARTS } from './layout';
import { Header } from './kernel/header';
import { Scratch } from './kernel/scratch-fields';
import { dotFloats } from './kernel/distance';
import { nodeAt } from './memory';
import { BY_INNER } from './candidate-order';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';
import { buildTable, buildTableOf, scanEdges } from './kernel/fastscan';
import {
  EXPANDED, NONE_AHEAD, clearSeen, unvisitedNeighbours, markVisited, selectEntryPoints,
  minUsefulDistance, estimateCutoff, isAhead, takeResults, touchAhead,
} from './search-layer';
import { Node } from './kernel/node';

/** Offset of the pool of inner products, after the space for results. */
export const INNER_AT: usize = (<usize>POOL_MAX) << 3;

/**
 * Collects the nearest nodes of the query vector, which is encoded and of length `norm`, as results. Lists
 * the nodes with the greatest inner products at INNER_AT.
 */
export function searchBothOrders(scratch: usize, ef: i32, want: i32, norm: f32): void {
  const pool = Scratch.pool(scratch);
  const inner = Scratch.result(scratch) + INNER_AT;
  const rotated = Scratch.rotated(scratch);
  Scratch.setResultCount(scratch, 0);
  Scratch.setResultLimit(scratch, min(want, ef));
  Scratch.setFine(scratch, 0);
  const length = Scratch.length(scratch);
  const origin = Scratch.origin(scratch);
  Scratch.setOrigin(scratch, -dotFloats(rotated, <u32>Header.mean()));
  Scratch.setLength(scratch, norm);
  Scratch.setWeight(scratch, 0);
  buildTableOf(scratch, rotated);
  selectEntryPoints(scratch, max(STARTS, ef >> 2));
  scoreBoth(scratch, pool, inner, norm * norm);
  expand(scratch, ef, inner, pool, norm * norm);
  Scratch.setOrigin(scratch, origin);
  Scratch.setLength(scratch, length);
  Scratch.setWeight(scratch, 1);
  buildTable(scratch);
  skipExpanded(scratch, pool, inner);
  expand(scratch, ef, pool, inner, norm * norm);
  clearSeen(scratch);
  takeResults(scratch);
  takeInner(scratch, inner);
}

/** Scores the entry points by their codes and puts them into both pools. */
function scoreBoth(scratch: usize, pool: usize, inner: usize, square: f32): void {
  const starts = Scratch.poolCount(scratch);
  let count = 0;
  // The loop reads the array ahead of its writes.
  for (let i = 0; i < starts; i++) {
    const slot = (<u32>load<u64>(pool + ((<usize>i) << 3))) >> 1;
    if (!markVisited(scratch, slot)) continue;
    const node = nodeAt(slot);
    const squared = codeDistanceBy(scratch, node, 1);
    insertKey(pool, count, count + 1, keyOf(squared, slot << 1));
    insertKey(inner, count, count + 1, keyOf(innerBy(squared, square, node), slot << 1));
    count++;
  }
  Scratch.setPoolCount(scratch, count);
  Scratch.setInnerCount(scratch, count);
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
function expand(scratch: usize, ef: i32, own: usize, other: usize, square: f32): void {
  const isInner = Scratch.weight(scratch) == 0;
  const neighbours = Header.neighbour();
  const codes = Header.edgeCodes();
  const fresh = Scratch.rejected(scratch);
  const ownCount = isInner ? L_INNER_COUNT : L_POOL_COUNT;
  const otherCount = isInner ? L_POOL_COUNT : L_INNER_COUNT;
  const expanded = ef * EXPANDED / 100;
  const cutoff = codes == 0 ? <f32>0 : estimateCutoff(scratch);
  const rough = minUsefulDistance(scratch);
  let count = load<i32>(scratch + ownCount);
  let rest = load<i32>(scratch + otherCount);
  let worst = worstOf(own, count, ef);
  let worstOther = worstOf(other, rest, ef);
  let ahead = NONE_AHEAD;
  let cursor = 0;
  while (cursor < min(count, expanded)) {
    const at = own + ((<usize>cursor) << 3);
    const key = load<u64>(at);
    cursor++;
    if (key & 1) continue;
    store<u64>(at, key | 1);
    const slot = (<u32>key) >> 1;
    const owner = nodeAt(slot);
    if (codes != 0 && !isAhead(ahead, slot)) ahead = touchAhead(scratch, owner, own, cursor, count);
    const mask = cutoff > 0 && distanceOf(key) > rough
      ? scanEdges(scratch, owner + codes, distanceOf(key), worst * cutoff)
      : Node.used(owner);
    const end = unvisitedNeighbours(scratch, owner + neighbours, mask, fresh);
    for (let at = fresh; at < end; at += 4) {
      const slot = load<u32>(at);
      const node = nodeAt(slot);
      const squared = codeDistanceBy(scratch, node, 1);
      const product = innerBy(squared, square, node);
      const distance = isInner ? product : squared;
      const second = isInner ? squared : product;
      if (second < worstOther) {
        insertKey(other, rest, ef, keyOf(second, slot << 1));
        if (rest < ef) rest++;
        worstOther = worstOf(other, rest, ef);
      }
      if (distance >= worst) continue;
      const position = insertKey(own, count, ef, keyOf(distance, slot << 1));
      if (position < cursor) cursor = position;
      if (count < ef) count++;
      worst = worstOf(own, count, ef);
    }
  }
  store<i32>(scratch + ownCount, count);
  store<i32>(scratch + otherCount, rest);
}

/** Marks as expanded those nodes of the pool that are expanded in the pool of inner products. */
function skipExpanded(scratch: usize, pool: usize, inner: usize): void {
  const count = Scratch.poolCount(scratch);
  const innerCount = Scratch.innerCount(scratch);
  // One bit for every 1,024th slot: nodes without a mark are not searched for.
  const marks = Scratch.estimates(scratch);
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
function takeInner(scratch: usize, inner: usize): void {
  const count = Scratch.innerCount(scratch);
  for (let i = 0; i < count; i++) {
    const at = inner + ((<usize>i) << 3);
    const slot = load<u32>(at) >> 1;
    store<u32>(at, slot | BY_INNER);
  }
}
