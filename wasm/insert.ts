// Inserts a node into the graph (HNSW, Malkov & Yashunin 2018, algorithm 1, without levels). The steps are a
// beam search, a heuristic choice of hard edges, soft edges in the remaining places, and reverse edges under
// the neighbor's lock. Several threads may insert different nodes concurrently.
import {
  centre, centredOf, codeNoise, encodeNode, encodeQuery, hasFiner,
} from './scalar-quantizer';
import { closeSketch, edgeDistance, offerEntry, writeEdge, writeEntry, writeSketch } from './edge';
import {
  EDGES, H_BEAM, H_EDGES_END, H_HARD, H_METRIC, H_NEIGHBOUR, H_PADDED, H_UNREPAIRED, L_ALLOW_WORDS,
  L_CENTRED, L_INNER_COUNT, L_KEEP_ALL, L_KEPT, L_REJECTED, L_REJECTED_COUNT, L_RESULT,
  L_RESULT_COUNT, L_RESULT_LIMIT, L_ROTATED, L_WEIGHT, METRIC_L2, NODE_UNLINKING, NODE_LINKED,
  NODE_ZERO,
} from './layout';
import { linkDuplicate, linkZero } from './duplicates';
import { copyVector, lockNode, mark, nodeAt, unlockNode } from './memory';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';
import { buildTable } from './kernel/fastscan';
import {
  BY_INNER, hasInner, isAmong, interleavedKey, slotOfKey, sortByInner, squaredKey,
} from './candidate-order';
import { addIfDiverse } from './select-neighbours';
import { INNER_AT, searchBothOrders } from './dual-order-search';
import { searchLayer, searchRefined } from './search-layer';
import { Node } from './kernel/node';

/** Bytes for the sorted keys of a node's edges and one more. */
const SORTED_BYTES: usize = 320;
/** Number of hard edges at which the edges of a node are chosen again, and number that it keeps then. */
const CROWDED = 30;
export const TARGET = 26;
/** Largest number of hard edges of a new node whose edges are chosen in two orders. */
const BOTH_MOST = 24;
/** Number of beam results that the choice uses. */
const DRAWN = 192;
/** Standard deviations of codes that must separate the last result from those that get edges. */
const APART: f32 = 3;

/** Encodes and links `slot`, whose vector is at `vector`. */
export function link(lane: usize, slot: u32, vector: usize): void {
  const node = nodeAt(slot);
  if (load<u32>(0, H_METRIC) != METRIC_L2 && Node.norm(node) == 0) {
    closeSketch(slot);
    linkZero(node, slot);
    return;
  }
  const centred = <usize>load<u32>(lane, L_CENTRED);
  centre(vector, centred);
  encodeNode(node, centred);
  writeSketch(slot, centred);
  findNearest(lane, node, vector);
  if (linkDuplicate(lane, node, slot)) return;
  const kept = writeOwn(lane, slot);
  Node.addFlags(node, NODE_LINKED);
  linkReverse(lane, slot, kept);
  atomic.add<u32>(H_UNREPAIRED, 1);
  centredOf(node, centred);
  // Without neighbors, only the entry table leads to the node.
  if (kept == 0) writeEntry(slot % EDGES, centred, slot);
  else offerEntry(centred, slot);
}

/**
 * Collects the nearest nodes of the vector at `vector` as results. Under dot, also lists those with the
 * greatest inner products.
 */
function findNearest(lane: usize, node: usize, vector: usize): void {
  const rotated = <usize>load<u32>(lane, L_ROTATED);
  if (vector != rotated) copyVector(vector, rotated);
  store<f32>(lane, 1, L_WEIGHT);
  encodeQuery(lane);
  store<u32>(lane, 0, L_ALLOW_WORDS);
  store<u32>(lane, 1, L_KEEP_ALL);
  store<i32>(lane, 0, L_INNER_COUNT);
  const beam = load<i32>(0, H_BEAM);
  if (hasInner()) searchBothOrders(lane, beam, DRAWN, Node.norm(node));
  else {
    buildTable(lane);
    searchLayer(lane, beam, DRAWN, false);
  }
  if (hasFiner() && isBlurred(lane)) searchRefined(lane, beam, DRAWN);
}

/** Whether codes cannot separate the last results from those that would get edges. */
function isBlurred(lane: usize): bool {
  const count = load<i32>(lane, L_RESULT_COUNT);
  if (count <= EDGES || count < load<i32>(lane, L_RESULT_LIMIT)) return false;
  const results = <usize>load<u32>(lane, L_RESULT);
  const last = load<u64>(results + ((<usize>(count - 1)) << 3));
  const near = distanceOf(load<u64>(results + ((EDGES - 1) << 3)));
  const far = distanceOf(last);
  return far - near < APART * codeNoise(lane, nodeAt(<u32>last), far);
}

// @ts-ignore: decorator
@inline
function isUnlinking(slot: u32): bool {
  return (Node.flags(nodeAt(slot)) & NODE_UNLINKING) != 0;
}

/**
 * Chooses among the results and writes the node's own edges. The keys of the hard edges stay at L_KEPT.
 * Returns their number.
 */
function writeOwn(lane: usize, self: u32): i32 {
  const node = nodeAt(self);
  const kept = <usize>load<u32>(lane, L_KEPT);
  const rejected = <usize>load<u32>(lane, L_REJECTED);
  const both = load<i32>(lane, L_INNER_COUNT) != 0;
  const keptCount = both ? chooseBoth(lane, self) : chooseNear(lane, self);
  for (let e = 0; e < keptCount; e++) {
    const key = load<u64>(kept + ((<usize>e) << 3));
    writeEdge(node, e, <u32>key, distanceOf(key), true);
  }
  const softCount = load<i32>(lane, L_REJECTED_COUNT);
  for (let e = keptCount; e < EDGES && e - keptCount < softCount; e++) {
    const key = load<u64>(rejected + ((<usize>(e - keptCount)) << 3));
    writeEdge(node, e, <u32>key, distanceOf(key), false);
  }
  mark(node, <usize>load<u32>(0, H_EDGES_END));
  return keptCount;
}

/** Chooses hard edges among the results, nearest first; the other keys go to L_REJECTED. */
function chooseNear(lane: usize, self: u32): i32 {
  const node = nodeAt(self);
  const results = <usize>load<u32>(lane, L_RESULT);
  const count = load<i32>(lane, L_RESULT_COUNT);
  const kept = <usize>load<u32>(lane, L_KEPT);
  const rejected = <usize>load<u32>(lane, L_REJECTED);
  const hard = load<i32>(0, H_HARD);
  let keptCount = 0;
  let softCount = 0;
  for (let i = 0; i < count; i++) {
    const key = load<u64>(results + ((<usize>i) << 3));
    if (<u32>key == self || isUnlinking(<u32>key)) continue;
    if (keptCount < hard && addIfDiverse(node, kept, keptCount, key)) keptCount++;
    else if (softCount < EDGES) {
      store<u64>(rejected + ((<usize>softCount) << 3), key);
      softCount++;
    }
    if (keptCount + softCount >= EDGES && keptCount == hard) break;
  }
  store<i32>(lane, softCount, L_REJECTED_COUNT);
  return keptCount;
}

/**
 * As `chooseNear`, under dot in both orders. Each order may fill the number of hard edges of one order; both
 * together may fill half as many more.
 */
function chooseBoth(lane: usize, self: u32): i32 {
  const node = nodeAt(self);
  const results = <usize>load<u32>(lane, L_RESULT);
  const count = load<i32>(lane, L_RESULT_COUNT);
  const inner = results + INNER_AT;
  const innerCount = load<i32>(lane, L_INNER_COUNT);
  const kept = <usize>load<u32>(lane, L_KEPT);
  const hard = load<i32>(0, H_HARD);
  const most = min(hard + (hard >> 1), BOTH_MOST);
  let keptCount = 0;
  let nearCount = 0;
  for (let i = 0; i < count + innerCount && keptCount < most; i++) {
    const key = interleavedKey(i, results, count, inner, innerCount);
    const slot = slotOfKey(key);
    if (key == 0 || slot == self || isUnlinking(slot)) continue;
    const byInner = (<u32>key & BY_INNER) != 0;
    if ((byInner ? keptCount - nearCount : nearCount) >= hard) continue;
    if (isAmong(kept, keptCount, slot) || !addIfDiverse(node, kept, keptCount, key)) continue;
    keptCount++;
    if (!byInner) nearCount++;
  }
  const listed = listRest(lane, self, keptCount, inner, innerCount, 0);
  store<i32>(lane, listRest(lane, self, keptCount, results, count, listed), L_REJECTED_COUNT);
  return keptCount;
}

/**
 * Appends the unchosen `keys` to the `listed` keys at L_REJECTED, up to the number of free edges. Returns the
 * new number of keys.
 */
function listRest(
  lane: usize, self: u32, keptCount: i32, keys: usize, count: i32, listed: i32,
): i32 {
  const kept = <usize>load<u32>(lane, L_KEPT);
  const rejected = <usize>load<u32>(lane, L_REJECTED);
  for (let i = 0; i < count && keptCount + listed < EDGES; i++) {
    const key = load<u64>(keys + ((<usize>i) << 3));
    const slot = slotOfKey(key);
    if (slot == self || isUnlinking(slot)) continue;
    if (isAmong(kept, keptCount, slot) || isAmong(rejected, listed, slot)) continue;
    store<u64>(rejected + ((<usize>listed) << 3), squaredKey(nodeAt(self), key));
    listed++;
  }
  return listed;
}

/** Writes the reverse edges of all hard edges. At least one neighbor links back: the nearest is forced to. */
function linkReverse(lane: usize, slot: u32, count: i32): void {
  const kept = <usize>load<u32>(lane, L_KEPT);
  // The loop reads L_KEPT, because `shrink` overwrites L_REJECTED.
  let accepted = 0;
  for (let i = 0; i < count; i++) {
    const key = load<u64>(kept + ((<usize>i) << 3));
    if (addReverseEdge(lane, <u32>key, slot, distanceOf(key), false)) accepted++;
  }
  if (accepted == 0 && count > 0) {
    const key = load<u64>(kept);
    addReverseEdge(lane, <u32>key, slot, distanceOf(key), true);
  }
}

/**
 * Gives `target` a hard edge to `slot`. Returns false if its heuristic refuses the edge, unless `force` is
 * true.
 */
export function addReverseEdge(
  lane: usize, target: u32, slot: u32, distance: f32, force: bool,
): bool {
  const node = nodeAt(target);
  if (Node.flags(node) & NODE_UNLINKING) return false;
  lockNode(node);
  const wanted = acceptReverseEdge(lane, node, slot, distance, force);
  mark(node, <usize>load<u32>(0, H_EDGES_END));
  unlockNode(node);
  return wanted;
}

/** As `addReverseEdge`, while the node's lock is held. */
function acceptReverseEdge(lane: usize, node: usize, slot: u32, distance: f32, force: bool): bool {
  const present = edgesTo(node, slot);
  if (present != 0) {
    Node.setHard(node, Node.hard(node) | present);
    return true;
  }
  let wanted = true;
  if (Node.used(node) == 0xffffffff && <i32>popcnt(Node.hard(node)) >= CROWDED) {
    wanted = chooseAgain(lane, node, slot, distance) || force;
  }
  if (!wanted) return false;
  const e = freeEdge(node, force);
  if (e >= 0) writeEdge(node, e, slot, distance, true);
  return e >= 0;
}

/**
 * Returns an unused edge of `node`, else its farthest soft one, else (if `force`) its farthest one; -1 for
 * none.
 */
function freeEdge(node: usize, force: bool): i32 {
  const used = Node.used(node);
  if (used != 0xffffffff) return ctz(~used);
  const soft = ~Node.hard(node);
  const e = farthest(node, soft);
  return e >= 0 || !force ? e : farthest(node, 0xffffffff);
}

function farthest(node: usize, mask: u32): i32 {
  let best = -1;
  let longest: f32 = -Infinity;
  while (mask != 0) {
    const e = ctz(mask);
    mask &= mask - 1;
    const distance = edgeDistance(node, e);
    if (distance > longest) {
      longest = distance;
      best = e;
    }
  }
  return best;
}

/**
 * Chooses again among the hard edges and the new one. The refused edges become soft. Returns whether the new
 * one was chosen.
 */
function chooseAgain(lane: usize, node: usize, slot: u32, distance: f32): bool {
  const neighbours = node + <usize>load<u32>(0, H_NEIGHBOUR);
  // Sorted keys of up to 33 candidates, in one or two orders, then the chosen ones.
  const sorted = <usize>load<u32>(lane, L_REJECTED);
  const kept = sorted + 2 * SORTED_BYTES;
  let count = 0;
  let mask = Node.hard(node);
  while (mask != 0) {
    const e = ctz(mask);
    mask &= mask - 1;
    const neighbour = load<u32>(neighbours + ((<usize>e) << 2));
    insertKey(sorted, count, count + 1, keyOf(edgeDistance(node, e), neighbour));
    count++;
  }
  insertKey(sorted, count, count + 1, keyOf(distance, slot));
  count++;
  let keptCount = 0;
  const inner = sorted + SORTED_BYTES;
  const innerCount = hasInner() ? count : 0;
  sortByInner(node, sorted, innerCount, inner);
  for (let i = 0; i < count + innerCount && keptCount < TARGET; i++) {
    const key = interleavedKey(i, sorted, count, inner, innerCount);
    if (key == 0 || (innerCount != 0 && isAmong(kept, keptCount, slotOfKey(key)))) continue;
    if (addIfDiverse(node, kept, keptCount, key)) keptCount++;
  }
  let hard: u32 = 0;
  let won = false;
  for (let i = 0; i < keptCount; i++) {
    const winner = <u32>load<u64>(kept + ((<usize>i) << 3));
    if (winner == slot) won = true;
    else hard |= edgesTo(node, winner);
  }
  Node.setHard(node, hard & Node.hard(node));
  return won;
}

/** Returns the mask of the edges of `node` that lead to `slot`. */
export function edgesTo(node: usize, slot: u32): u32 {
  const neighbours = node + <usize>load<u32>(0, H_NEIGHBOUR);
  const wanted = i32x4.splat(slot);
  let mask: u32 = 0;
  for (let i: usize = 0; i < 8; i++) {
    const same = i32x4.eq(v128.load(neighbours + (i << 4)), wanted);
    mask |= (<u32>i32x4.bitmask(same)) << <u32>(i << 2);
  }
  return mask & Node.used(node);
}
