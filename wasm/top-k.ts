// Turns results into the final k: adds duplicates, scores by full vectors, keeps the best k. Also contains
// the exact scan of small segments and flat layouts, which is the last resort of filtered searches.
import { codeNoise, hasFiner, distanceTo, knownDistance, knownNoise } from './scalar-quantizer';
import { vectorDistance } from './kernel/distance';
import {
  METRIC_COSINE, METRIC_L2, NODE_DELETED, NODE_FREE, NODE_ZERO, N_CODE, STATE_SCAN,
} from './layout';
import { Header } from './kernel/header';
import { Scratch } from './kernel/scratch-fields';
import { idWord, nodeAt, slotOf, vectorAt } from './memory';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';
import { isAllowed, isAnswer, collect } from './search-layer';
import { Node } from './kernel/node';

/** Largest number of steps along a list of equal vectors that a filter refuses. */
const LIST_STEPS_MAX = 65536;

/**
 * Whether `slot` is the present one of its id. A replacement is linked before the old vector is removed; the
 * id map decides which of them counts.
 */
// @ts-ignore: decorator
@inline
function isCurrent(slot: u32): bool {
  return slotOf(Node.id(nodeAt(slot))) == slot + 1;
}

/** Offers one vector to the best k. Keys end in the id, so ties go by age. */
// @ts-ignore: decorator
@inline
function offerAnswer(scratch: usize, slot: u32, distance: f32, k: i32): void {
  const answers = Scratch.pool(scratch);
  const count = Scratch.answers(scratch);
  const key = keyOf(distance, Node.id(nodeAt(slot)));
  if (count == k && key >= load<u64>(answers + ((<usize>(k - 1)) << 3))) return;
  if (!isCurrent(slot)) return;
  insertKey(answers, count, k, key);
  if (count < k) Scratch.setAnswers(scratch, count + 1);
}

/** Whether there are k nearer vectors. An equally far vector may still be older. */
function isFull(scratch: usize, distance: f32, k: i32): bool {
  if (Scratch.answers(scratch) < k) return false;
  const last = Scratch.pool(scratch) + ((<usize>(k - 1)) << 3);
  return distanceOf(load<u64>(last)) < distance;
}

function offerDuplicates(scratch: usize, head: u32, distance: f32, k: i32): void {
  for (let steps = 0; head != 0 && steps < LIST_STEPS_MAX; steps++) {
    if (isFull(scratch, distance, k)) return;
    const node = nodeAt(head - 1);
    if (isAnswer(scratch, node)) offerAnswer(scratch, head - 1, distance, k);
    head = Node.atomicNext(node);
  }
}

/** Standard deviations by which a true distance may be below its code distance. */
const DEVIATIONS: f32 = 3;

/**
 * Computes the best k from the results of a graph search (with `chains`: adds their duplicates) or of a list
 * (which contains all ids). Scores each again, except those that are too far by their codes. Returns false if
 * codes are too coarse: vectors outside the results may be as near.
 */
export function answerResults(scratch: usize, k: i32, chains: bool): bool {
  Scratch.setAnswers(scratch, 0);
  const results = Scratch.result(scratch);
  const count = Scratch.resultCount(scratch);
  const isFine = Scratch.fine(scratch) != 0 || !hasFiner();
  let sure = isFine || count < Scratch.resultLimit(scratch);
  for (let i = 0; i < count; i++) {
    const key = load<u64>(results + ((<usize>i) << 3));
    const node = nodeAt(<u32>key);
    let distance = distanceOf(key);
    if (!isFine) {
      if (isFull(scratch, distance - DEVIATIONS * codeNoise(scratch, node, distance), k)) {
        if (i == count - 1) sure = true;
        continue;
      }
      distance = knownDistance(scratch, node);
    }
    if (isAnswer(scratch, node)) offerAnswer(scratch, <u32>key, distance, k);
    const next = Node.next(node);
    if (chains && next != 0) offerDuplicates(scratch, next, distance, k);
  }
  const metric = Header.metric();
  if (metric != METRIC_L2) offerDuplicates(scratch, Header.zeros(), zeroDistance(metric), k);
  return sure;
}

/** Distance between any vector and a zero vector. */
// @ts-ignore: decorator
@inline
function zeroDistance(metric: u32): f32 {
  return metric == METRIC_COSINE ? 2 : 0;
}

/** Writes ids and distances of the best k, nearest first; returns their number. */
export function writeAnswer(scratch: usize): i32 {
  const answers = Scratch.pool(scratch);
  const count = Scratch.answers(scratch);
  const ids = Scratch.ids(scratch);
  const distances = Scratch.distances(scratch);
  for (let i = 0; i < count; i++) {
    const at = (<usize>i) << 2;
    const key = load<u64>(answers + (at << 1));
    store<u32>(ids + at, <u32>key);
    store<f32>(distances + at, distanceOf(key));
  }
  return count;
}

/**
 * Returns the largest standard deviation of a distance in the result of `count`. Long vectors have
 * coarser codes than short ones, and either may be the last.
 */
export function answerNoise(scratch: usize, count: i32): f32 {
  const ids = Scratch.ids(scratch);
  const distances = Scratch.distances(scratch);
  let largest: f32 = 0;
  for (let i = 0; i < count; i++) {
    const at = (<usize>i) << 2;
    const slot = slotOf(load<u32>(ids + at));
    if (slot == 0) continue;
    largest = max<f32>(largest, knownNoise(scratch, nodeAt(slot - 1), load<f32>(distances + at)));
  }
  return largest;
}

/** Returns the distance by which an exact scan scores a slot. */
// @ts-ignore: decorator
@inline
export function scanDistance(scratch: usize, node: usize, slot: u32): f32 {
  if (<u32>Header.vector() != 0 || Header.state() == STATE_SCAN) {
    return vectorDistance(scratch, node, vectorAt(node, slot));
  }
  if (Node.flags(node) & NODE_ZERO) return zeroDistance(Header.metric());
  return knownDistance(scratch, node);
}

/** Offers the slots [from, to) to the best k. L_ANSWERS must be 0 before the first part. */
export function scanSlots(scratch: usize, from: u32, to: u32, k: i32): void {
  for (let slot = from; slot < to; slot++) {
    const node = nodeAt(slot);
    if (Node.flags(node) & (NODE_DELETED | NODE_FREE)) continue;
    if (!isAllowed(scratch, Node.id(node))) continue;
    offerAnswer(scratch, slot, scanDistance(scratch, node, slot), k);
  }
}

/**
 * Writes the distances of up to `to - from` live, allowed slots to L_IDS and L_DISTANCES; returns their
 * number.
 */
export function listSlots(scratch: usize, from: u32, to: u32): i32 {
  let count = 0;
  const ids = Scratch.ids(scratch);
  const distances = Scratch.distances(scratch);
  for (let slot = from; slot < to; slot++) {
    const node = nodeAt(slot);
    if (Node.flags(node) & (NODE_DELETED | NODE_FREE)) continue;
    if (!isAllowed(scratch, Node.id(node)) || !isCurrent(slot)) continue;
    store<u32>(ids + ((<usize>count) << 2), Node.id(node));
    store<f32>(distances + ((<usize>count) << 2), scanDistance(scratch, node, slot));
    count++;
  }
  return count;
}

/** Slots that a scan of an allow list scores together. */
const BATCH: usize = 32 << 2;

/**
 * Scores every allowed id by its code or, if `fine`, by its refined distance. The best `want` become results.
 */
export function scanAllowed(scratch: usize, want: i32, fine: bool): void {
  Scratch.setFine(scratch, fine ? 1 : 0);
  Scratch.setResultCount(scratch, 0);
  Scratch.setResultLimit(scratch, want);
  Scratch.setKeepAll(scratch, 1);
  const words = Scratch.allowWords(scratch);
  const allow = Scratch.allow(scratch);
  const batch = Scratch.rejected(scratch);
  let end = batch;
  for (let i: u32 = 0; i < words; i++) {
    let word = load<u32>(allow + ((<usize>i) << 2));
    if (word == 0) continue;
    const leaf = idWord(i << 5, false);
    if (leaf == 0) continue;
    while (word != 0) {
      const slot = load<u32>(leaf + (<usize>ctz(word) << 2));
      word &= word - 1;
      if (slot == 0) continue;
      store<u32>(end, slot - 1);
      end += 4;
    }
    if (end < batch + BATCH) continue;
    scoreBatch(scratch, batch, end);
    end = batch;
  }
  scoreBatch(scratch, batch, end);
}

/**
 * Scores the slots listed from `batch` to `end`. Touches them first, so that their memory is fetched in
 * parallel.
 */
function scoreBatch(scratch: usize, batch: usize, end: usize): void {
  const padded = Header.padded();
  let touched: i32 = 0;
  for (let at = batch; at < end; at += 4) {
    const node = nodeAt(load<u32>(at));
    touched |= <i32>Node.flags(node) | load<i32>(node + (padded >> 1), N_CODE);
  }
  Scratch.setTouch(scratch, touched);
  for (let at = batch; at < end; at += 4) {
    const slot = load<u32>(at);
    const node = nodeAt(slot);
    if (Node.flags(node) & (NODE_DELETED | NODE_FREE | NODE_ZERO)) continue;
    collect(scratch, node, slot, distanceTo(scratch, node));
  }
}
