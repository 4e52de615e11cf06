// Inserts a node into the graph (HNSW, Malkov & Yashunin 2018, algorithm 1, without levels). The steps are a
// beam search, a heuristic choice of hard edges, soft edges in the remaining places, and reverse edges under
// the neighbor's lock. Several threads may insert different nodes concurrently.
import {
  centre, centredOf, codeNoise, encodeNode, encodeQuery, hasFiner,
} from './scalar-quantizer';
import { closeSketch, edgeDistance, offerEntry, writeEdge, writeEntry, writeSketch } from './edge';
import { EDGES, H_UNREPAIRED, METRIC_L2, NODE_UNLINKING, NODE_LINKED } from './layout';
import { Header } from './kernel/header';
import { Scratch } from './kernel/scratch-fields';
import { linkDuplicate, linkZero } from './duplicates';
import { copyVector, lockNode, mark, nodeAt, unlockNode } from './memory';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';
import { buildTable } from './kernel/fastscan';
import {
  BY_INNER, hasInner, hasSlot, interleavedKey, slotOfKey, sortByInner, squaredKey,
} from './candidate-order';
import { addIfDiverse } from './select-neighbours';
import { INNER_AT, searchBothOrders } from './dual-order-search';
import { searchLayer, searchRefined } from './search-layer';
import { Node } from './kernel/node';

/** Bytes for the sorted keys of a node's edges and one more. */
const SORTED_BYTES: usize = 320;
/** Number of hard edges at which the edges of a node are chosen again, and number that it keeps then. */
const RECHOOSE_FROM = 30;
export const TARGET = 26;
/** Largest number of hard edges of a new node whose edges are chosen in two orders. */
const BOTH_MAX = 24;
/** Number of beam results that the choice uses. */
const DRAWN = 192;
/** Standard deviations of codes that must separate the last result from those that get edges. */
const APART: f32 = 3;

/** Encodes and links `slot`, whose vector is at `vector`. */
export function link(scratch: usize, slot: u32, vector: usize): void {
  const node = nodeAt(slot);
  if (Header.metric() != METRIC_L2 && Node.norm(node) == 0) {
    closeSketch(slot);
    linkZero(node, slot);
    return;
  }
  const centred = Scratch.centred(scratch);
  centre(vector, centred);
  encodeNode(node, centred);
  writeSketch(slot, centred);
  findNearest(scratch, node, vector);
  if (linkDuplicate(scratch, node, slot)) return;
  const chosen = writeOwn(scratch, slot);
  Node.addFlags(node, NODE_LINKED);
  linkReverse(scratch, slot, chosen);
  atomic.add<u32>(H_UNREPAIRED, 1);
  centredOf(node, centred);
  // Without neighbors, only the entry table leads to the node.
  if (chosen == 0) writeEntry(slot % EDGES, centred, slot);
  else offerEntry(centred, slot);
}

/**
 * Collects the nearest nodes of the vector at `vector` as results. Under dot, also lists those with the
 * greatest inner products.
 */
function findNearest(scratch: usize, node: usize, vector: usize): void {
  const rotated = Scratch.rotated(scratch);
  if (vector != rotated) copyVector(vector, rotated);
  Scratch.setWeight(scratch, 1);
  encodeQuery(scratch);
  Scratch.setAllowWords(scratch, 0);
  Scratch.setKeepAll(scratch, 1);
  Scratch.setInnerCount(scratch, 0);
  const beam = Header.beam();
  if (hasInner()) searchBothOrders(scratch, beam, DRAWN, Node.norm(node));
  else {
    buildTable(scratch);
    searchLayer(scratch, beam, DRAWN, false);
  }
  if (hasFiner() && isBlurred(scratch)) searchRefined(scratch, beam, DRAWN);
}

/** Whether codes cannot separate the last results from those that would get edges. */
function isBlurred(scratch: usize): bool {
  const count = Scratch.resultCount(scratch);
  if (count <= EDGES || count < Scratch.resultLimit(scratch)) return false;
  const results = Scratch.result(scratch);
  const last = load<u64>(results + ((<usize>(count - 1)) << 3));
  const near = distanceOf(load<u64>(results + ((EDGES - 1) << 3)));
  const far = distanceOf(last);
  return far - near < APART * codeNoise(scratch, nodeAt(<u32>last), far);
}

// @ts-ignore: decorator
@inline
function isUnlinking(slot: u32): bool {
  return (Node.flags(nodeAt(slot)) & NODE_UNLINKING) != 0;
}

/**
 * Chooses among the results and writes the node's own edges. The keys of the hard edges stay at L_CHOSEN.
 * Returns their number.
 */
function writeOwn(scratch: usize, self: u32): i32 {
  const node = nodeAt(self);
  const chosen = Scratch.chosen(scratch);
  const rejected = Scratch.rejected(scratch);
  const both = Scratch.innerCount(scratch) != 0;
  const chosenCount = both ? chooseBoth(scratch, self) : chooseNear(scratch, self);
  for (let e = 0; e < chosenCount; e++) {
    const key = load<u64>(chosen + ((<usize>e) << 3));
    writeEdge(node, e, <u32>key, distanceOf(key), true);
  }
  const softCount = Scratch.rejectedCount(scratch);
  for (let e = chosenCount; e < EDGES && e - chosenCount < softCount; e++) {
    const key = load<u64>(rejected + ((<usize>(e - chosenCount)) << 3));
    writeEdge(node, e, <u32>key, distanceOf(key), false);
  }
  mark(node, Header.edgesEnd());
  return chosenCount;
}

/** Chooses hard edges among the results, nearest first; the other keys go to L_REJECTED. */
function chooseNear(scratch: usize, self: u32): i32 {
  const node = nodeAt(self);
  const results = Scratch.result(scratch);
  const count = Scratch.resultCount(scratch);
  const chosen = Scratch.chosen(scratch);
  const rejected = Scratch.rejected(scratch);
  const hard = Header.hard();
  let chosenCount = 0;
  let softCount = 0;
  for (let i = 0; i < count; i++) {
    const key = load<u64>(results + ((<usize>i) << 3));
    if (<u32>key == self || isUnlinking(<u32>key)) continue;
    if (chosenCount < hard && addIfDiverse(node, chosen, chosenCount, key)) chosenCount++;
    else if (softCount < EDGES) {
      store<u64>(rejected + ((<usize>softCount) << 3), key);
      softCount++;
    }
    if (chosenCount + softCount >= EDGES && chosenCount == hard) break;
  }
  Scratch.setRejectedCount(scratch, softCount);
  return chosenCount;
}

/**
 * Like `chooseNear`, under dot in both orders. Each order may fill the number of hard edges of one order;
 * both together may fill half as many more.
 */
function chooseBoth(scratch: usize, self: u32): i32 {
  const node = nodeAt(self);
  const results = Scratch.result(scratch);
  const count = Scratch.resultCount(scratch);
  const inner = results + INNER_AT;
  const innerCount = Scratch.innerCount(scratch);
  const chosen = Scratch.chosen(scratch);
  const hard = Header.hard();
  const limit = min(hard + (hard >> 1), BOTH_MAX);
  let chosenCount = 0;
  let nearCount = 0;
  for (let i = 0; i < count + innerCount && chosenCount < limit; i++) {
    const key = interleavedKey(i, results, count, inner, innerCount);
    const slot = slotOfKey(key);
    if (key == 0 || slot == self || isUnlinking(slot)) continue;
    const byInner = (<u32>key & BY_INNER) != 0;
    if ((byInner ? chosenCount - nearCount : nearCount) >= hard) continue;
    if (hasSlot(chosen, chosenCount, slot)) continue;
    if (!addIfDiverse(node, chosen, chosenCount, key)) continue;
    chosenCount++;
    if (!byInner) nearCount++;
  }
  const listed = listRest(scratch, self, chosenCount, inner, innerCount, 0);
  Scratch.setRejectedCount(scratch, listRest(scratch, self, chosenCount, results, count, listed));
  return chosenCount;
}

/**
 * Appends the unchosen `keys` to the `listed` keys at L_REJECTED, up to the number of free edges. Returns the
 * new number of keys.
 */
function listRest(
  scratch: usize, self: u32, chosenCount: i32, keys: usize, count: i32, listed: i32,
): i32 {
  const chosen = Scratch.chosen(scratch);
  const rejected = Scratch.rejected(scratch);
  for (let i = 0; i < count && chosenCount + listed < EDGES; i++) {
    const key = load<u64>(keys + ((<usize>i) << 3));
    const slot = slotOfKey(key);
    if (slot == self || isUnlinking(slot)) continue;
    if (hasSlot(chosen, chosenCount, slot) || hasSlot(rejected, listed, slot)) continue;
    store<u64>(rejected + ((<usize>listed) << 3), squaredKey(nodeAt(self), key));
    listed++;
  }
  return listed;
}

/** Writes the reverse edges of all hard edges. At least one neighbor links back: the nearest is forced to. */
function linkReverse(scratch: usize, slot: u32, count: i32): void {
  const chosen = Scratch.chosen(scratch);
  // The loop reads L_CHOSEN, because `shrink` overwrites L_REJECTED.
  let accepted = 0;
  for (let i = 0; i < count; i++) {
    const key = load<u64>(chosen + ((<usize>i) << 3));
    if (addReverseEdge(scratch, <u32>key, slot, distanceOf(key), false)) accepted++;
  }
  if (accepted == 0 && count > 0) {
    const key = load<u64>(chosen);
    addReverseEdge(scratch, <u32>key, slot, distanceOf(key), true);
  }
}

/**
 * Gives `target` a hard edge to `slot`. Returns false if its heuristic refuses the edge, unless `force` is
 * true.
 */
export function addReverseEdge(
  scratch: usize, target: u32, slot: u32, distance: f32, force: bool,
): bool {
  const node = nodeAt(target);
  if (Node.flags(node) & NODE_UNLINKING) return false;
  lockNode(node);
  const wanted = acceptReverseEdge(scratch, node, slot, distance, force);
  mark(node, Header.edgesEnd());
  unlockNode(node);
  return wanted;
}

/** Like `addReverseEdge`, while the node's lock is held. */
function acceptReverseEdge(
  scratch: usize, node: usize, slot: u32, distance: f32, force: bool,
): bool {
  const present = edgesTo(node, slot);
  if (present != 0) {
    Node.setHard(node, Node.hard(node) | present);
    return true;
  }
  let wanted = true;
  if (Node.used(node) == 0xffffffff && <i32>popcnt(Node.hard(node)) >= RECHOOSE_FROM) {
    wanted = chooseAgain(scratch, node, slot, distance) || force;
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
function chooseAgain(scratch: usize, node: usize, slot: u32, distance: f32): bool {
  const neighbours = node + Header.neighbour();
  // Sorted keys of up to 33 candidates, in one or two orders, then the chosen ones.
  const sorted = Scratch.rejected(scratch);
  const chosen = sorted + 2 * SORTED_BYTES;
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
  let chosenCount = 0;
  const inner = sorted + SORTED_BYTES;
  const innerCount = hasInner() ? count : 0;
  sortByInner(node, sorted, innerCount, inner);
  for (let i = 0; i < count + innerCount && chosenCount < TARGET; i++) {
    const key = interleavedKey(i, sorted, count, inner, innerCount);
    if (key == 0 || (innerCount != 0 && hasSlot(chosen, chosenCount, slotOfKey(key)))) continue;
    if (addIfDiverse(node, chosen, chosenCount, key)) chosenCount++;
  }
  let hard: u32 = 0;
  let won = false;
  for (let i = 0; i < chosenCount; i++) {
    const winner = <u32>load<u64>(chosen + ((<usize>i) << 3));
    if (winner == slot) won = true;
    else hard |= edgesTo(node, winner);
  }
  Node.setHard(node, hard & Node.hard(node));
  return won;
}

/** Returns the mask of the edges of `node` that lead to `slot`. */
export function edgesTo(node: usize, slot: u32): u32 {
  const neighbours = node + Header.neighbour();
  const wanted = i32x4.splat(slot);
  let mask: u32 = 0;
  for (let i: usize = 0; i < 8; i++) {
    const same = i32x4.eq(v128.load(neighbours + (i << 4)), wanted);
    mask |= (<u32>i32x4.bitmask(same)) << <u32>(i << 2);
  }
  return mask & Node.used(node);
}
