// u7 codes: c = clamp(round((v - low) * inverse), 0, 127) of the centred, rotated, lifted vector.
// The squared distance of two codes, aa + bb - 2ab, is exact in i32; times the squared step it is
// a squared L2 distance.
import { squareFloats } from './distance';
import {
  H_CLIPPED, H_ENCODED, H_EXACT, H_LIFT, H_MEAN, H_METRIC, H_PADDED, H_RANGE, H_RANGES, H_RECODED,
  H_VECTOR, L_BYTES, L_CENTRED, L_CODE0, L_LENGTH, L_LIFT, L_ROTATED, L_SQUARE0, METRIC_DOT,
  NODE_RANGE, N_CODE, N_CODE_SQUARE, N_FLAGS, N_LIFT, RANGE_BYTES, RANGE_INVERSE, RANGE_LOW,
  RANGE_STEP_SQUARE,
} from './layout';
import { mark } from './mark';
import { sumFloats, sumIntegers } from './sum';

/**
 * target = scale x rotated - mean + lift x direction, over P floats (scale and lift: dot only);
 * returns its squared length.
 */
export function centre(rotated: usize, scale: f32, lift: f32, target: usize): f32 {
  const end = rotated + ((<usize>load<u32>(0, H_PADDED)) << 2);
  let mean = <usize>load<u32>(0, H_MEAN);
  let squares = f32x4.splat(0);
  if (load<u32>(0, H_METRIC) == METRIC_DOT) {
    let direction = <usize>load<u32>(0, H_LIFT);
    const length = f32x4.splat(lift);
    const factor = f32x4.splat(scale);
    while (rotated < end) {
      const up = f32x4.mul(length, v128.load(direction));
      const lifted = f32x4.add(f32x4.mul(factor, v128.load(rotated)), up);
      const v = f32x4.sub(lifted, v128.load(mean));
      v128.store(target, v);
      squares = f32x4.add(squares, f32x4.mul(v, v));
      rotated += 16; mean += 16; target += 16; direction += 16;
    }
    return sumFloats(squares);
  }
  while (rotated < end) {
    const v = f32x4.sub(v128.load(rotated), v128.load(mean));
    v128.store(target, v);
    squares = f32x4.add(squares, f32x4.mul(v, v));
    rotated += 16; mean += 16; target += 16;
  }
  return sumFloats(squares);
}

/** Codes the P floats at `source` into bytes; returns how many were clipped. */
function quantise(source: usize, bytes: usize, range: usize): u32 {
  const end = bytes + <usize>load<u32>(0, H_PADDED);
  const low = f32x4.splat(load<f32>(range, RANGE_LOW));
  const inverse = f32x4.splat(load<f32>(range, RANGE_INVERSE));
  const top = i8x16.splat(127);
  let clipped: u32 = 0;
  while (bytes < end) {
    const a = scaled(v128.load(source), low, inverse);
    const b = scaled(v128.load(source, 16), low, inverse);
    const c = scaled(v128.load(source, 32), low, inverse);
    const d = scaled(v128.load(source, 48), low, inverse);
    const ab = i16x8.narrow_i32x4_s(a, b);
    const cd = i16x8.narrow_i32x4_s(c, d);
    const wide = i8x16.narrow_i16x8_s(ab, cd);
    const code = i8x16.min_u(i8x16.narrow_i16x8_u(ab, cd), top);
    clipped += popcnt(i8x16.bitmask(i8x16.ne(wide, code)));
    v128.store(bytes, code);
    source += 64; bytes += 16;
  }
  return clipped;
}

/** Address of a code range's numbers. */
// @ts-ignore: decorator
@inline
export function rangeAt(range: u32): usize {
  return <usize>H_RANGES + <usize>(range * RANGE_BYTES);
}

// @ts-ignore: decorator
@inline
function scaled(v: v128, low: v128, inverse: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(f32x4.sub(v, low), inverse)));
}

/** Splits coded bytes into even and odd i16; returns the sum of squares. */
function spread(bytes: usize, code: usize): i32 {
  const end = bytes + <usize>load<u32>(0, H_PADDED);
  const mask = i16x8.splat(255);
  let squares = i32x4.splat(0);
  while (bytes < end) {
    const v = v128.load(bytes);
    const even = v128.and(v, mask);
    const odd = i16x8.shr_u(v, 8);
    v128.store(code, even);
    v128.store(code, odd, 16);
    squares = i32x4.add(squares, i32x4.dot_i16x8_s(even, even));
    squares = i32x4.add(squares, i32x4.dot_i16x8_s(odd, odd));
    bytes += 16; code += 32;
  }
  return sumIntegers(squares);
}

/** Codes the lane's centred vector in one range, as bytes and as i16. */
export function encodeRange(lane: usize, range: u32): u32 {
  const clipped = quantise(load<u32>(lane, L_CENTRED), load<u32>(lane, L_BYTES), rangeAt(range));
  const at = lane + ((<usize>range) << 2);
  store<i32>(at, spread(load<u32>(lane, L_BYTES), load<u32>(at, L_CODE0)), L_SQUARE0);
  return clipped;
}

/**
 * Codes the lane's centred vector in every range in use, the current one last. Returns how many
 * were clipped in that.
 */
export function encodeRanges(lane: usize): u32 {
  const range = load<u32>(0, H_RANGE);
  if (load<u32>(0, H_RECODED) != 0) encodeRange(lane, 1 - range);
  return encodeRange(lane, range);
}

/**
 * Writes the code of `node`, whose vector is at `vector`; the lane is left ready to search for it.
 */
export function encodeNode(lane: usize, node: usize, vector: usize): void {
  const lift = load<f32>(node, N_LIFT);
  const range = load<u32>(0, H_RANGE);
  store<f32>(lane, lift, L_LIFT);
  store<f32>(lane, centre(vector, 1, lift, load<u32>(lane, L_CENTRED)), L_LENGTH);
  atomic.add<u32>(H_CLIPPED, encodeRanges(lane));
  atomic.add<u32>(H_ENCODED, 1);
  storeCode(lane, node, range);
}

/** Writes the lane's code in `range` to `node`. */
export function storeCode(lane: usize, node: usize, range: u32): void {
  const padded = <usize>load<u32>(0, H_PADDED);
  const bytes = <usize>load<u32>(lane, L_BYTES);
  for (let at: usize = 0; at < padded; at += 16) {
    v128.store(node + at, v128.load(bytes + at), N_CODE);
  }
  store<i32>(node, load<i32>(lane + ((<usize>range) << 2), L_SQUARE0), N_CODE_SQUARE);
  if (range != 0) atomic.or<u32>(node + N_FLAGS, NODE_RANGE);
  else atomic.and<u32>(node + N_FLAGS, ~NODE_RANGE);
  mark(node, <usize>N_CODE + padded);
}

/** Inner product of a spread code and a node's code. */
// @ts-ignore: decorator
@inline
function dotSpread(code: usize, bytes: usize): i32 {
  const end = bytes + <usize>load<u32>(0, H_PADDED);
  const mask = i16x8.splat(255);
  let a = i32x4.splat(0);
  let b = i32x4.splat(0);
  let c = i32x4.splat(0);
  let d = i32x4.splat(0);
  do {
    const v = v128.load(bytes);
    const w = v128.load(bytes, 16);
    a = i32x4.add(a, i32x4.dot_i16x8_s(v128.and(v, mask), v128.load(code)));
    b = i32x4.add(b, i32x4.dot_i16x8_s(i16x8.shr_u(v, 8), v128.load(code, 16)));
    c = i32x4.add(c, i32x4.dot_i16x8_s(v128.and(w, mask), v128.load(code, 32)));
    d = i32x4.add(d, i32x4.dot_i16x8_s(i16x8.shr_u(w, 8), v128.load(code, 48)));
    bytes += 32; code += 64;
  } while (bytes < end);
  a = i32x4.add(i32x4.add(a, b), i32x4.add(c, d));
  return sumIntegers(a);
}

/** Squared L2 distance of the lane's vector and a node, by codes. */
export function codeDistance(lane: usize, node: usize): f32 {
  if (load<u32>(0, H_EXACT)) {
    return squareFloats(load<u32>(lane, L_ROTATED), node + <usize>load<u32>(0, H_VECTOR));
  }
  const range: usize = load<u32>(node, N_FLAGS) & NODE_RANGE ? 1 : 0;
  const at = lane + (range << 2);
  const dot = dotSpread(load<u32>(at, L_CODE0), node + N_CODE);
  const integer = load<i32>(at, L_SQUARE0) + load<i32>(node, N_CODE_SQUARE) - 2 * dot;
  return <f32>integer * load<f32>(rangeAt(<u32>range), RANGE_STEP_SQUARE);
}

/**
 * Squared L2 distance of two nodes by codes; by vectors while they are in different code ranges.
 */
export function nodeDistance(a: usize, b: usize): f32 {
  if (load<u32>(0, H_EXACT)) {
    const vector = <usize>load<u32>(0, H_VECTOR);
    return squareFloats(a + vector, b + vector);
  }
  const range = load<u32>(a, N_FLAGS) & NODE_RANGE;
  if ((load<u32>(b, N_FLAGS) & NODE_RANGE) != range) return crossDistance(a, b);
  let x = a + N_CODE;
  let y = b + N_CODE;
  const end = x + <usize>load<u32>(0, H_PADDED);
  const mask = i16x8.splat(255);
  let even = i32x4.splat(0);
  let odd = i32x4.splat(0);
  do {
    const v = v128.load(x);
    const w = v128.load(y);
    even = i32x4.add(even, i32x4.dot_i16x8_s(v128.and(v, mask), v128.and(w, mask)));
    odd = i32x4.add(odd, i32x4.dot_i16x8_s(i16x8.shr_u(v, 8), i16x8.shr_u(w, 8)));
    x += 16; y += 16;
  } while (x < end);
  const dot = sumIntegers(i32x4.add(even, odd));
  const integer = load<i32>(a, N_CODE_SQUARE) + load<i32>(b, N_CODE_SQUARE) - 2 * dot;
  return <f32>integer * load<f32>(rangeAt(range ? 1 : 0), RANGE_STEP_SQUARE);
}

/** The coordinate that code byte `at` of `node` stands for. */
function decoded(node: usize, at: usize): f32 {
  const range = rangeAt(load<u32>(node, N_FLAGS) & NODE_RANGE ? 1 : 0);
  const steps = <f32>load<u8>(node + at, N_CODE);
  return load<f32>(range, RANGE_LOW) + steps / load<f32>(range, RANGE_INVERSE);
}

function crossDistance(a: usize, b: usize): f32 {
  const padded = <usize>load<u32>(0, H_PADDED);
  let sum: f32 = 0;
  for (let at: usize = 0; at < padded; at++) {
    const difference = decoded(a, at) - decoded(b, at);
    sum += difference * difference;
  }
  return sum;
}

/**
 * Fills P floats with the centred vector of `node`, or what its code stands for where vectors are
 * not kept; returns its squared length.
 */
export function centredOf(node: usize, target: usize): f32 {
  const vector = <usize>load<u32>(0, H_VECTOR);
  if (vector != 0) return centre(node + vector, 1, load<f32>(node, N_LIFT), target);
  const padded = <usize>load<u32>(0, H_PADDED);
  let squares: f32 = 0;
  for (let at: usize = 0; at < padded; at++) {
    const value = decoded(node, at);
    store<f32>(target + (at << 2), value);
    squares += value * value;
  }
  return squares;
}
