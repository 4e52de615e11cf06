// Scalar quantization: 8 bits per dimension of a vector minus the mean. Each vector has a separate step, so
// that no vector is out of range and none is too small to be distinguished. Byte 128 is 0. A query has 11
// bits. Inner products of codes are exact in i32.
//   squared   d = |q|^2 + |x|^2 - 2 <q, x>, q and x about the mean, less what coding adds to it
//   inner     d = -<q, m> - <q, x - m>, q as it is, for searches under dot. All graphs are
//             built by squared distances (select-neighbours.ts)
// Alternatively 4 bits per dimension (int4-code.ts): the same formulas, less accurate.
import {
  H_FINE, H_MEAN, H_PADDED, H_VECTOR, L_BASE, L_CENTRED, L_CODE, L_FINE, L_LENGTH, L_OFFSET,
  L_ORIGIN, L_ROTATED, L_STEP, L_WEIGHT, N_CODE,
} from './layout';
import { mark } from './memory';
import { dotFloats } from './kernel/distance';
import { decodeRefined, fineDistance, fineNodes } from './refine';
import {
  decodeHalf, dotHalf, dotHalves, encodeHalf, HALF_ZERO, hasHalves,
} from './kernel/int4-code';
import { inverseOf, missed, scaled, widest } from './kernel/quantize';
import { sumFloats, sumIntegers } from './kernel/sum';
import { Node } from './kernel/node';

/** Largest code of a coordinate of a node, and of a query. */
const TOP: f32 = 127;
const QUERY_TOP: f32 = 1023;
/** What byte 128 adds to the inner product of two nodes' codes, per dimension. */
const ZERO: i32 = 128;

// @ts-ignore: decorator
@inline
function zeroCode(): i32 {
  return hasHalves() ? HALF_ZERO : ZERO;
}

/** Whether the layout has refined distances. */
// @ts-ignore: decorator
@inline
export function hasFiner(): bool {
  return (load<u32>(0, H_VECTOR) | load<u32>(0, H_FINE)) != 0;
}

/** Whether the encoded vector is a query for inner products. */
// @ts-ignore: decorator
@inline
export function isInner(lane: usize): bool {
  return load<f32>(lane, L_WEIGHT) == 0;
}

/** target = vector - mean, over P floats. */
export function centre(vector: usize, target: usize): void {
  const end = vector + ((<usize>load<u32>(0, H_PADDED)) << 2);
  let mean = <usize>load<u32>(0, H_MEAN);
  while (vector < end) {
    v128.store(target, f32x4.sub(v128.load(vector), v128.load(mean)));
    vector += 16; mean += 16; target += 16;
  }
}

/** Writes the code of `node`, whose vector minus the mean is `centred`. */
export function encodeNode(node: usize, centred: usize): void {
  const padded = <usize>load<u32>(0, H_PADDED);
  if (hasHalves()) {
    encodeHalf(node, centred);
    mark(node, <usize>N_CODE + (padded >> 1));
    return;
  }
  const step = widest(centred) / TOP;
  const factor = f32x4.splat(inverseOf(step) * 256);
  const steps = f32x4.splat(step);
  const half = i32x4.splat(128);
  const fine = <usize>load<u32>(0, H_FINE);
  let square = i32x4.splat(0);
  let sum = i32x4.splat(0);
  let error = f32x4.splat(0);
  const end = node + padded;
  let source = centred;
  for (let at = node; at < end; at += 8, source += 32) {
    const k = scaled(source, factor);
    const l = scaled(source + 16, factor);
    const c = i32x4.shr_s(i32x4.add(k, half), 8);
    const d = i32x4.shr_s(i32x4.add(l, half), 8);
    error = f32x4.add(error, f32x4.add(missed(source, c, steps), missed(source + 16, d, steps)));
    const codes = i16x8.narrow_i32x4_s(c, d);
    square = i32x4.add(square, i32x4.dot_i16x8_s(codes, codes));
    const bytes = i16x8.add(codes, i16x8.splat(<i16>ZERO));
    sum = i32x4.add(sum, i32x4.extadd_pairwise_i16x8_s(bytes));
    v128.store64_lane(at, i8x16.narrow_i16x8_u(bytes, bytes), 0, N_CODE);
    if (fine == 0) continue;
    const rest = i16x8.narrow_i32x4_s(i32x4.sub(k, i32x4.shl(c, 8)), i32x4.sub(l, i32x4.shl(d, 8)));
    v128.store64_lane(at + fine, i8x16.narrow_i16x8_s(rest, rest), 0);
  }
  const length = step * step * <f32>sumIntegers(square);
  Node.setCodeSum(node, sumIntegers(sum));
  Node.setStep(node, step);
  Node.setSquare(node, length - sumFloats(error));
  mark(node, <usize>N_CODE + padded);
  if (fine != 0) mark(node + fine, padded);
}

/** Encodes the rotated vector as a query, as L_WEIGHT requires; L_CENTRED receives the encoded part. */
export function encodeQuery(lane: usize): void {
  const inner = isInner(lane);
  const rotated = <usize>load<u32>(lane, L_ROTATED);
  const source = <usize>load<u32>(lane, L_CENTRED);
  const mean = <usize>load<u32>(0, H_MEAN);
  const bytes = (<usize>load<u32>(0, H_PADDED)) << 2;
  if (inner) {
    for (let at: usize = 0; at < bytes; at += 16) v128.store(source + at, v128.load(rotated + at));
  } else centre(rotated, source);
  const step = widest(source) / QUERY_TOP;
  const factor = f32x4.splat(inverseOf(step));
  let code = <usize>load<u32>(lane, L_CODE);
  let sum = i32x4.splat(0);
  let square = i32x4.splat(0);
  for (let at = source; at < source + bytes; at += 64, code += 32) {
    const a = i16x8.narrow_i32x4_s(scaled(at, factor), scaled(at + 16, factor));
    const b = i16x8.narrow_i32x4_s(scaled(at + 32, factor), scaled(at + 48, factor));
    v128.store(code, v128.shuffle<i16>(a, b, 0, 2, 4, 6, 8, 10, 12, 14));
    v128.store(code, v128.shuffle<i16>(a, b, 1, 3, 5, 7, 9, 11, 13, 15), 16);
    sum = i32x4.add(sum, i32x4.extadd_pairwise_i16x8_s(i16x8.add(a, b)));
    square = i32x4.add(square, i32x4.dot_i16x8_s(a, a));
    square = i32x4.add(square, i32x4.dot_i16x8_s(b, b));
  }
  store<i32>(lane, zeroCode() * sumIntegers(sum), L_OFFSET);
  const squares = dotFloats(source, source);
  store<f32>(lane, <f32>Math.sqrt(<f64>squares), L_LENGTH);
  if (inner) {
    const origin = -dotFloats(source, mean);
    store<f32>(lane, step, L_STEP);
    store<f32>(lane, origin, L_BASE);
    store<f32>(lane, origin, L_ORIGIN);
    return;
  }
  // Rounding adds a twelfth of a step to each squared coordinate.
  const rounded = sumFloats(f32x4.convert_i32x4_u(square)) - <f32>load<u32>(0, H_PADDED) / 12;
  store<f32>(lane, 2 * step, L_STEP);
  store<f32>(lane, step * step * rounded, L_BASE);
  store<f32>(lane, squares, L_ORIGIN);
}

/** Returns the inner product of a query's code and a node's bytes. */
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

/** Returns the distance of the query and a node, by codes. */
export function codeDistance(lane: usize, node: usize): f32 {
  return codeDistanceBy(lane, node, load<f32>(lane, L_WEIGHT));
}

/** As `codeDistance`, where `weight` is the weight of squared lengths for which the query was encoded. */
// @ts-ignore: decorator
@inline
export function codeDistanceBy(lane: usize, node: usize, weight: f32): f32 {
  const code = <usize>load<u32>(lane, L_CODE);
  const dot = hasHalves() ? dotHalf(code, node + N_CODE) : dotSpread(code, node + N_CODE);
  const inner = dot - load<i32>(lane, L_OFFSET);
  const step = load<f32>(lane, L_STEP) * Node.step(node);
  const square = weight * Node.square(node);
  return load<f32>(lane, L_BASE) + square - step * <f32>inner;
}

/** Standard deviation of a code's rounding, in steps: sqrt(1/12). */
const ROUNDING: f32 = 0.2887;

/** Returns the standard deviation of the code distance `distance` of the query and `node`. */
export function codeNoise(lane: usize, node: usize, distance: f32): f32 {
  const step = ROUNDING * Node.step(node);
  if (isInner(lane)) return step * load<f32>(lane, L_LENGTH);
  // The rounding itself remains at distance 0.
  const padded = <f32>load<u32>(0, H_PADDED);
  return 2 * step * sqrt(max<f32>(distance, 0) + padded * step * step);
}

/** Squared steps per dimension below which codes hardly separate two vectors. */
const BLUR: f32 = 4;

/** Returns the best distance of the query and a node that the layout has. */
// @ts-ignore: decorator
@inline
export function knownDistance(lane: usize, node: usize): f32 {
  return hasFiner() ? fineDistance(lane, node) : codeDistance(lane, node);
}

/** Returns the distance that the search uses: by codes or, once these were too coarse, the best one. */
// @ts-ignore: decorator
@inline
export function distanceTo(lane: usize, node: usize): f32 {
  return load<u32>(lane, L_FINE) ? knownDistance(lane, node) : codeDistance(lane, node);
}

/** Whether two nodes at this distance are too near for their codes. */
// @ts-ignore: decorator
@inline
function isBlurred(a: usize, b: usize, distance: f32): bool {
  const first = Node.step(a);
  const second = Node.step(b);
  return distance < BLUR * <f32>load<u32>(0, H_PADDED) * (first * first + second * second);
}

/**
 * Returns the refined distance of two nodes if their codes are too coarse, else `distance`, which is by
 * codes.
 */
export function refinedDistance(a: usize, b: usize, distance: f32): f32 {
  return hasFiner() && isBlurred(a, b, distance) ? fineNodes(a, b) : distance;
}

/** Returns the squared distance of two nodes: by codes, unless these are too coarse. */
export function nodeDistance(a: usize, b: usize): f32 {
  const padded = load<u32>(0, H_PADDED);
  const first = Node.step(a);
  const second = Node.step(b);
  const zero = zeroCode();
  const zeros = zero * (<i32>padded * zero - Node.codeSum(a) - Node.codeSum(b));
  const x = a + N_CODE;
  const y = b + N_CODE;
  const inner = first * second * <f32>((hasHalves() ? dotHalves(x, y) : dotBytes(x, y)) + zeros);
  return refinedDistance(a, b, Node.square(a) + Node.square(b) - 2 * inner);
}

/** Returns the inner product of the bytes of two codes. */
// @ts-ignore: decorator
@inline
function dotBytes(x: usize, y: usize): i32 {
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
  return sumIntegers(i32x4.add(even, odd));
}

/** Writes the vector of `node` minus the mean, as accurately as the layout has it, into P floats. */
export function centredOf(node: usize, target: usize): void {
  const vector = <usize>load<u32>(0, H_VECTOR);
  if (vector != 0) {
    centre(node + vector, target);
    return;
  }
  if (hasHalves()) decodeHalf(node, target);
  else decodeRefined(node, target);
}
