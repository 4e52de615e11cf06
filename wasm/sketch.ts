// The scan of sketches: a lower bound of the distance of every allowed slot, 32 at a time, from 1 bit per
// dimension. Vectors that the bound does not rule out are scored by their codes. The scan reads one stream of
// a fortieth of the memory of the records, for filters that pass many vectors.
import { distanceTo } from './scalar-quantizer';
import { EDGES, H_SLOTS, NODE_DELETED, NODE_FREE, NODE_ZERO, SKETCH_PARTS } from './layout';
import { Scratch } from './kernel/scratch-fields';
import { idWord, nodeAt, sketchesAt } from './memory';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';
import { buildTable, lowerEstimates, scanEdges } from './kernel/fastscan';
import { collect } from './search-layer';
import { Node } from './kernel/node';

/** Standard deviations by which a bound is below the estimate. */
const DEVIATIONS: f32 = 2.5;

/** Builds the lookup table so that scans of sketches give lower bounds. */
export function buildBounds(scratch: usize): void {
  buildTable(scratch);
  lowerEstimates(scratch, DEVIATIONS);
}

/**
 * Collects the best `want` of the allowed ids as results: scores the `pool` lowest bounds, lowest first,
 * until no further one can be among the best. Returns false if the pool was too small. The bounds must be
 * built.
 */
export function scanSketches(scratch: usize, pool: i32, want: i32): bool {
  Scratch.setResultCount(scratch, 0);
  Scratch.setResultLimit(scratch, want);
  Scratch.setKeepAll(scratch, 1);
  Scratch.setFine(scratch, 0);
  const bounds = Scratch.pool(scratch);
  const count = collectBounds(scratch, bounds, pool);
  const last = Scratch.result(scratch) + ((<usize>(want - 1)) << 3);
  let i = 0;
  for (; i < count; i++) {
    const key = load<u64>(bounds + ((<usize>i) << 3));
    const full = Scratch.resultCount(scratch) == want;
    if (full && distanceOf(key) >= distanceOf(load<u64>(last))) break;
    const node = nodeAt(<u32>key);
    collect(scratch, node, <u32>key, distanceTo(scratch, node));
  }
  Scratch.setVisited(scratch, i);
  return i < count || count < pool;
}

/**
 * Collects the best `want` of all vectors, or of all `allowed` ones, as results. Scores each vector whose
 * bound is below the worst result, and below `worst` while there are fewer results. Counts the scored
 * vectors. The bounds must be built.
 */
export function scanBlocks(scratch: usize, want: i32, worst: f32, allowed: bool): void {
  Scratch.setResultCount(scratch, 0);
  Scratch.setResultLimit(scratch, want);
  const results = Scratch.result(scratch);
  const last = results + ((<usize>(want - 1)) << 3);
  const fresh = Scratch.rejected(scratch);
  const origin = Scratch.origin(scratch);
  const slots = allowed ? markAllowed(scratch) * EDGES : atomic.load<u32>(H_SLOTS);
  let marks = Scratch.seen(scratch);
  let scored = 0;
  for (let first: u32 = 0; first < slots; first += EDGES) {
    let candidates: u32 = 0xffffffff;
    if (allowed) {
      candidates = load<u32>(marks);
      store<u32>(marks, 0);
      marks += 4;
      if (candidates == 0) continue;
    }
    const mask = candidates & scanEdges(scratch, sketchesAt(first) + SKETCH_PARTS, origin, worst);
    if (mask == 0) continue;
    const end = gatherLive(scratch, first, mask & maskBelow(slots - first), fresh);
    scored += <i32>((end - fresh) >> 2);
    for (let at = fresh; at < end; at += 4) {
      const slot = load<u32>(at);
      const node = nodeAt(slot);
      collect(scratch, node, slot, distanceTo(scratch, node));
    }
    if (Scratch.resultCount(scratch) == want) worst = min(worst, distanceOf(load<u64>(last)));
  }
  Scratch.setVisited(scratch, Scratch.visited(scratch) + scored);
}

/** Returns a mask of the lowest `count` bits. */
// @ts-ignore: decorator
@inline
function maskBelow(count: u32): u32 {
  return count < <u32>EDGES ? (1 << count) - 1 : 0xffffffff;
}

/** Writes the live slots of `mask` to `fresh`. Touches them, so that their memory is fetched in parallel. */
// @ts-ignore: decorator
@inline
function gatherLive(scratch: usize, first: u32, mask: u32, fresh: usize): usize {
  let touched: i32 = 0;
  while (mask != 0) {
    const slot = first + ctz(mask);
    mask &= mask - 1;
    const node = nodeAt(slot);
    if (Node.flags(node) & (NODE_DELETED | NODE_FREE | NODE_ZERO)) continue;
    store<u32>(fresh, slot);
    fresh += 4;
    touched |= Node.codeSum(node);
  }
  Scratch.setTouch(scratch, touched);
  return fresh;
}

/** Collects the `limit` lowest bounds of allowed slots, lowest first; returns their number. */
function collectBounds(scratch: usize, bounds: usize, limit: i32): i32 {
  const words = markAllowed(scratch);
  const marks = Scratch.seen(scratch);
  const estimates = Scratch.estimates(scratch);
  const origin = Scratch.origin(scratch);
  const last = bounds + ((<usize>(limit - 1)) << 3);
  let worst: f32 = Infinity;
  let count = 0;
  for (let i: u32 = 0; i < words; i++) {
    const at = marks + ((<usize>i) << 2);
    const allowed = load<u32>(at);
    if (allowed == 0) continue;
    store<u32>(at, 0);
    let mask = allowed & scanEdges(scratch, sketchesAt(i * EDGES) + SKETCH_PARTS, origin, worst);
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

/** Marks the slots of the allowed ids; returns the number of words of marks. */
function markAllowed(scratch: usize): u32 {
  const words = Scratch.allowWords(scratch);
  const allow = Scratch.allow(scratch);
  const seen = Scratch.seen(scratch);
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
