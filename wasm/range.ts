// What is frozen when a graph begins: the mean, the lift (dot), and the code range, from the
// vectors staged so far.
import { centre, centredOf, encodeRange, rangeAt, storeCode } from './code';
import {
  H_BLURRED, H_CLIPPED, H_ENCODED, H_EXACT, H_LIFT_SQUARE, H_MEAN, H_METRIC, H_PADDED, H_RANGE,
  H_RECODED, H_SLOTS, H_VECTOR, L_CENTRED, L_RESULT, METRIC_DOT, NODE_FREE, NODE_LINKED, NODE_RANGE,
  NODE_ZERO, N_FLAGS, N_NORM, RANGE_INVERSE, RANGE_LOW, RANGE_STEP_SQUARE,
} from './layout';
import { relink } from './link';
import { mark } from './mark';
import { nodeAt } from './memory';
import { liftOf, vectorAt } from './segment';

const BINS = 8192;
/** Coordinates that the first range is measured on, about: a few milliseconds. */
const NUMBERS: u64 = 1 << 19;
/** Share of coordinates left out at either end of the range. */
const TAIL = 0.0005;

/** Sets mean, lift and range 0 from all staged vectors. */
export function beginGraph(lane: usize): void {
  const slots = load<u32>(0, H_SLOTS);
  const mean = <usize>load<u32>(0, H_MEAN);
  const bytes = (<usize>load<u32>(0, H_PADDED)) << 2;
  for (let at: usize = 0; at < bytes; at += 4) store<f32>(mean + at, 0);
  let greatest: f32 = 0;
  let count: f32 = 0;
  for (let slot: u32 = 0; slot < slots; slot++) {
    const node = nodeAt(slot);
    if (load<u32>(node, N_FLAGS) & NODE_FREE) continue;
    greatest = max(greatest, load<f32>(node, N_NORM));
    count++;
  }
  store<f32>(0, greatest, H_LIFT_SQUARE);
  const share = f32x4.splat(1 / count);
  for (let slot: u32 = 0; slot < slots; slot++) {
    const node = nodeAt(slot);
    if (load<u32>(node, N_FLAGS) & NODE_FREE) continue;
    // The lift's own mean is left out: any origin will do, the nearer the better.
    const vector = vectorAt(node, slot);
    for (let at: usize = 0; at < bytes; at += 16) {
      const part = f32x4.mul(share, v128.load(vector + at));
      v128.store(mean + at, f32x4.add(v128.load(mean + at), part));
    }
  }
  mark(mean, bytes);
  const numbers = <u64>slots * load<u32>(0, H_PADDED);
  measureRange(lane, 0, 0, slots, <u32>(numbers / NUMBERS) + 1);
}

/**
 * Sets code range `range` from every `step`-th slot of [from, to): the quantiles of all
 * coordinates.
 */
export function measureRange(lane: usize, range: u32, from: u32, to: u32, step: u32): void {
  const bins = <usize>load<u32>(lane, L_RESULT);
  let low: f32 = Infinity;
  let high: f32 = -Infinity;
  for (let slot = from; slot < to; slot += step) {
    const end = centreSlot(lane, slot);
    for (let at = <usize>load<u32>(lane, L_CENTRED); at < end; at += 4) {
      low = min(low, load<f32>(at));
      high = max(high, load<f32>(at));
    }
  }
  if (!(high > low)) {
    // All vectors are equal so far; anything else will be outside and lead to a new range.
    low = -1e-3;
    high = 1e-3;
  }
  for (let i: usize = 0; i < <usize>BINS * 4; i += 4) store<u32>(bins + i, 0);
  const factor: f32 = <f32>(BINS - 1) / (high - low);
  let total: u32 = 0;
  for (let slot = from; slot < to; slot += step) {
    const end = centreSlot(lane, slot);
    for (let at = <usize>load<u32>(lane, L_CENTRED); at < end; at += 4) {
      const bin = bins + (<usize>(<u32>((load<f32>(at) - low) * factor)) << 2);
      store<u32>(bin, load<u32>(bin) + 1);
      total++;
    }
  }
  const tail = <u32>(<f64>total * TAIL);
  const first = <f32>below(bins, tail);
  const last = <f32>(below(bins, total - tail) + 1);
  setRange(range, low + first / factor, low + last / factor);
}

/**
 * Nodes after which the range is looked at, and the share of clipped coordinates that asks for a
 * new one.
 */
const WINDOW: u32 = 64;
const CLIPPED_MAX: f64 = 0.01;
/** Of a window, the part of blurred nodes that asks for exact walks. */
const BLURRED_MAX: u32 = 32;
/** A range this much wider would leave what was there before without resolution. */
const FAR_WIDER: f32 = 4;
/** How much wider a new range must be to be worth recoding. */
const WIDER: f32 = 1.1;
/** Nodes a new range is measured on. */
const SAMPLE: u32 = 2048;

/**
 * Watches for data outside the range frozen at the beginning, and recodes up to `budget` nodes.
 * Writer only.
 */
export function keepRange(lane: usize, budget: u32): bool {
  if (load<u32>(0, H_RECODED) != 0) return recode(lane, budget);
  const encoded = load<u32>(0, H_ENCODED);
  if (encoded < WINDOW || load<u32>(0, H_EXACT) != 0) return false;
  const share = <f64>load<u32>(0, H_CLIPPED) / (<f64>encoded * <f64>load<u32>(0, H_PADDED));
  const blurred = load<u32>(0, H_BLURRED);
  store<u32>(0, 0, H_CLIPPED);
  store<u32>(0, 0, H_ENCODED);
  store<u32>(0, 0, H_BLURRED);
  if (blurred > BLURRED_MAX) walkExactly(lane);
  if (load<u32>(0, H_EXACT) != 0 || share <= CLIPPED_MAX) return false;
  const old = load<u32>(0, H_RANGE);
  const fresh = 1 - old;
  if (load<u32>(0, H_VECTOR) != 0) {
    const slots = load<u32>(0, H_SLOTS);
    measureRange(lane, fresh, 0, slots, max<u32>(slots / SAMPLE, 1));
  } else {
    const step: f32 = 1 / load<f32>(rangeAt(old), RANGE_INVERSE);
    const half: f32 = 127 * step;
    const middle = load<f32>(rangeAt(old), RANGE_LOW) + <f32>0.5 * half;
    setRange(fresh, middle - half, middle + half);
  }
  const wider = load<f32>(rangeAt(old), RANGE_INVERSE) / load<f32>(rangeAt(fresh), RANGE_INVERSE);
  if (wider < WIDER || (wider > FAR_WIDER && walkExactly(lane))) return false;
  atomic.store<u32>(H_RECODED, 1);
  store<u32>(0, fresh, H_RANGE);
  return recode(lane, budget);
}

/**
 * From now on full vectors are compared, where there are any; what was linked blindly is linked
 * again.
 */
function walkExactly(lane: usize): bool {
  if (load<u32>(0, H_VECTOR) == 0 || load<u32>(0, H_METRIC) == METRIC_DOT) return false;
  if (load<u32>(0, H_EXACT)) return true;
  store<u32>(0, 1, H_EXACT);
  const slots = load<u32>(0, H_SLOTS);
  for (let slot = slots > WINDOW ? slots - WINDOW : 0; slot < slots; slot++) relink(lane, slot);
  return true;
}

/** Brings up to `budget` more nodes into the current range; true when more is to do. */
function recode(lane: usize, budget: u32): bool {
  const range = load<u32>(0, H_RANGE);
  const slots = load<u32>(0, H_SLOTS);
  let slot = load<u32>(0, H_RECODED) - 1;
  const end = min<u32>(slots, slot + budget);
  for (; slot < end; slot++) {
    const node = nodeAt(slot);
    const flags = load<u32>(node, N_FLAGS);
    // What waits to be linked has no code yet.
    if ((flags & NODE_LINKED) == 0 || (flags & NODE_ZERO) != 0) continue;
    if (((flags & NODE_RANGE) != 0) == (range != 0)) continue;
    centredOf(node, load<u32>(lane, L_CENTRED));
    encodeRange(lane, range);
    storeCode(lane, node, range);
  }
  atomic.store<u32>(H_RECODED, slot < slots ? slot + 1 : 0);
  return slot < slots;
}

/** Centres one slot's vector; returns the end of the coordinates, or 0 for a free slot. */
function centreSlot(lane: usize, slot: u32): usize {
  const node = nodeAt(slot);
  if (load<u32>(node, N_FLAGS) & NODE_FREE) return 0;
  const target = <usize>load<u32>(lane, L_CENTRED);
  centre(vectorAt(node, slot), 1, liftOf(load<f32>(node, N_NORM)), target);
  return target + ((<usize>load<u32>(0, H_PADDED)) << 2);
}

/** The first bin at which more than `count` coordinates are passed. */
function below(bins: usize, count: u32): u32 {
  let sum: u32 = 0;
  for (let i: u32 = 0; i < <u32>BINS; i++) {
    sum += load<u32>(bins + ((<usize>i) << 2));
    if (sum > count) return i;
  }
  return BINS - 1;
}

function setRange(range: u32, low: f32, high: f32): void {
  const at = rangeAt(range);
  const step = (high - low) / 127;
  store<f32>(at, low, RANGE_LOW);
  store<f32>(at, 1 / step, RANGE_INVERSE);
  store<f32>(at, step * step, RANGE_STEP_SQUARE);
  store<u32>(0, 0, H_CLIPPED);
  store<u32>(0, 0, H_ENCODED);
}
