// The scan of sketches: of all allowed slots, 32 at a time, a lower bound of the distance, from 1 bit
// per dimension; what it does not rule out is judged by its code. One stream through a fortieth of
// the memory that the records take, for filters that let many through.
import { judge } from './code';
import { EDGES, L_ALLOW, L_ALLOW_WORDS, L_ESTIMATES, L_FINE, L_KEEP_ALL, L_ORIGIN, L_POOL, L_RESULT, L_RESULT_COUNT, L_RESULT_LIMIT, L_SEEN, L_VISITED, S_PARTS } from './layout';
import { idWord, nodeAt, sketchesAt } from './memory';
import { distanceOf, insertKey, keyOf } from './kernel/pool';
import { buildTable, lowerEstimates, scanEdges } from './kernel/scan';
import { offerResult } from './walk';

/** Deviations of an estimate that a bound lies below it. */
const DEVIATIONS: f32 = 2.5;

/** Builds the lane's table so that scans of sketches give lower bounds. */
export function buildBounds(lane: usize): void {
  buildTable(lane);
  lowerEstimates(lane, DEVIATIONS);
}

/**
 * The best `want` of the allowed ids become results: the `pool` least bounds are collected, then
 * judged from the least on until what follows cannot be among the best. False when the pool was too
 * small for that. The lane's bounds are built.
 */
export function scanSketches(lane: usize, pool: i32, want: i32): bool {
  store<i32>(lane, 0, L_RESULT_COUNT);
  store<i32>(lane, want, L_RESULT_LIMIT);
  store<u32>(lane, 1, L_KEEP_ALL);
  store<u32>(lane, 0, L_FINE);
  const bounds = <usize>load<u32>(lane, L_POOL);
  const count = collectBounds(lane, bounds, pool);
  const last = <usize>load<u32>(lane, L_RESULT) + ((<usize>(want - 1)) << 3);
  let i = 0;
  for (; i < count; i++) {
    const key = load<u64>(bounds + ((<usize>i) << 3));
    const full = load<i32>(lane, L_RESULT_COUNT) == want;
    if (full && distanceOf(key) >= distanceOf(load<u64>(last))) break;
    const node = nodeAt(<u32>key);
    offerResult(lane, node, <u32>key, judge(lane, node));
  }
  store<i32>(lane, i, L_VISITED);
  return i < count || count < pool;
}

/** Collects the `limit` least bounds of allowed slots, nearest first; returns how many there are. */
function collectBounds(lane: usize, bounds: usize, limit: i32): i32 {
  const words = markAllowed(lane);
  const marks = <usize>load<u32>(lane, L_SEEN);
  const estimates = <usize>load<u32>(lane, L_ESTIMATES);
  const origin = load<f32>(lane, L_ORIGIN);
  const last = bounds + ((<usize>(limit - 1)) << 3);
  let worst: f32 = Infinity;
  let count = 0;
  for (let i: u32 = 0; i < words; i++) {
    const at = marks + ((<usize>i) << 2);
    const allowed = load<u32>(at);
    if (allowed == 0) continue;
    store<u32>(at, 0);
    let mask = allowed & scanEdges(lane, sketchesAt(i * EDGES) + S_PARTS, origin, worst);
    while (mask != 0) {
      const e = ctz(mask);
      mask &= mask - 1;
      const bound = load<f32>(estimates + ((<usize>e) << 2));
      if (bound >= worst) continue;
      insertKey(bounds, count, limit, keyOf(bound, i * EDGES + e));
      if (count < limit) count++;
      if (count == limit) worst = distanceOf(load<u64>(last));
    }
  }
  return count;
}

/** Marks the slots of the allowed ids; returns how many words of marks there are. */
function markAllowed(lane: usize): u32 {
  const words = load<u32>(lane, L_ALLOW_WORDS);
  const allow = <usize>load<u32>(lane, L_ALLOW);
  const seen = <usize>load<u32>(lane, L_SEEN);
  let end: u32 = 0;
  for (let i: u32 = 0; i < words; i++) {
    let word = load<u32>(allow + ((<usize>i) << 2));
    if (word == 0) continue;
    const leaf = idWord(i << 5, false);
    if (leaf == 0) continue;
    while (word != 0) {
      const slot = atomic.load<u32>(leaf + (<usize>ctz(word) << 2));
      word &= word - 1;
      if (slot == 0) continue;
      const at = seen + ((<usize>((slot - 1) >> 5)) << 2);
      store<u32>(at, load<u32>(at) | (1 << ((slot - 1) & 31)));
      end = max(end, slot);
    }
  }
  return (end + EDGES - 1) / EDGES;
}
