// Scalar quantization: 8 bits per dimension of a vector minus the mean. Each vector has a separate step, so
// that no vector is out of range and none is too small to be distinguished. Byte 128 is 0. A query has 11
// bits. Inner products of codes are exact in i32.
//   squared   d = |q|^2 + |x|^2 - 2 <q, x>, q and x about the mean, less what coding adds to it
//   inner     d = -<q, m> - <q, x - m>, q as it is, for searches under dot. All graphs are
//             built by squared distances (select-neighbours.ts)
// Alternatively 4 bits per dimension (int4-code.ts): the same formulas, less accurate.
import { N_CODE } from './layout';
import { Header } from './kernel/header';
import { Scratch } from './kernel/scratch-fields';
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
  return <u32>Header.fine() != 0;
}

/** Whether the encoded vector is a query for inner products. */
// @ts-ignore: decorator
@inline
export function isInner(scratch: usize): bool {
  return Scratch.weight(scratch) == 0;
}

/** target = vector - mean, over P floats. */
export function centre(vector: usize, target: usize): void {
  const end = vector + (Header.padded() << 2);
  let mean = Header.mean();
  while (vector < end) {
    v128.store(target, f32x4.sub(v128.load(vector), v128.load(mean)));
    vector += 16; mean += 16; target += 16;
  }
}

/** Writes the code of `node`, whose vector minus the mean is `centred`. */
export function encodeNode(node: usize, centred: usize): void {
  const padded = Header.padded();
  if (hasHalves()) {
    encodeHalf(node, centred);
    mark(node, <usize>N_CODE + (padded >> 1));
    return;
  }
  const step = widest(centred) / TOP;
  const factor = f32x4.splat(inverseOf(step) * 256);
  const steps = f32x4.splat(step);
  const half = i32x4.splat(128);
  const fine = Header.fine();
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
export function encodeQuery(scratch: usize): void {
  const inner = isInner(scratch);
  const rotated = Scratch.rotated(scratch);
  const source = Scratch.centred(scratch);
  const mean = Header.mean();
  const bytes = Header.padded() << 2;
  if (inner) {
    for (let at: usize = 0; at < bytes; at += 16) v128.store(source + at, v128.load(rotated + at));
  } else centre(rotated, source);
  const step = widest(source) / QUERY_TOP;
  const factor = f32x4.splat(inverseOf(step));
  let code = Scratch.code(scratch);
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
  Scratch.setOffset(scratch, zeroCode() * sumIntegers(sum));
  const squares = dotFloats(source, source);
  Scratch.setLength(scratch, <f32>Math.sqrt(<f64>squares));
  if (inner) {
    const origin = -dotFloats(source, mean);
    Scratch.setStep(scratch, step);
    Scratch.setBase(scratch, origin);
    Scratch.setOrigin(scratch, origin);
    return;
  }
  // Rounding adds a twelfth of a step to each squared coordinate.
  const rounded = sumFloats(f32x4.convert_i32x4_u(square)) - <f32><u32>Header.padded() / 12;
  Scratch.setStep(scratch, 2 * step);
  Scratch.setBase(scratch, step * step * rounded);
  Scratch.setOrigin(scratch, squares);
}

/** Returns the inner product of a query's code and a node's bytes. */
// @ts-ignore: decorator
@inline
function dotSpread(code: usize, bytes: usize): i32 {
  const end = bytes + Header.padded();
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
export function codeDistance(scratch: usize, node: usize): f32 {
  return codeDistanceBy(scratch, node, Scratch.weight(scratch));
}

/** Like `codeDistance`, where `weight` is the weight of squared lengths for which the query was encoded. */
// @ts-ignore: decorator
@inline
export function codeDistanceBy(scratch: usize, node: usize, weight: f32): f32 {
  const code = Scratch.code(scratch);
  const dot = hasHalves() ? dotHalf(code, node + N_CODE) : dotSpread(code, node + N_CODE);
  const inner = dot - Scratch.offset(scratch);
  const step = Scratch.step(scratch) * Node.step(node);
  const square = weight * Node.square(node);
  return Scratch.base(scratch) + square - step * <f32>inner;
}

/** Standard deviation of a code's rounding, in steps: sqrt(1/12). */
const ROUNDING: f32 = 0.2887;

/** Returns the standard deviation of the code distance `distance` of the query and `node`. */
export function codeNoise(scratch: usize, node: usize, distance: f32): f32 {
  return roundingNoise(scratch, Node.step(node), distance);
}

/** Returns the standard deviation of the best distance of the query and `node` that the layout has. */
export function knownNoise(scratch: usize, node: usize, distance: f32): f32 {
  const step = Node.step(node);
  return roundingNoise(scratch, hasFiner() ? step / 256 : step, distance);
}

/** Returns the standard deviation of a distance by codes whose unit is `unit`. */
// @ts-ignore: decorator
@inline
function roundingNoise(scratch: usize, unit: f32, distance: f32): f32 {
  const step = ROUNDING * unit;
  if (isInner(scratch)) return step * Scratch.length(scratch);
  // The rounding itself remains at distance 0.
  const padded = <f32><u32>Header.padded();
  return 2 * step * sqrt(max<f32>(distance, 0) + padded * step * step);
}

/** Squared steps per dimension below which codes hardly separate two vectors. */
const BLUR: f32 = 4;

/** Returns the best distance of the query and a node that the layout has. */
// @ts-ignore: decorator
@inline
export function knownDistance(scratch: usize, node: usize): f32 {
  return hasFiner() ? fineDistance(scratch, node) : codeDistance(scratch, node);
}

/** Returns the distance that the search uses: by codes or, once these were too coarse, the best one. */
// @ts-ignore: decorator
@inline
export function distanceTo(scratch: usize, node: usize): f32 {
  return Scratch.fine(scratch) ? knownDistance(scratch, node) : codeDistance(scratch, node);
}

/** Whether two nodes at this distance are too near for their codes. */
// @ts-ignore: decorator
@inline
function isBlurred(a: usize, b: usize, distance: f32): bool {
  const first = Node.step(a);
  const second = Node.step(b);
  return distance < BLUR * <f32><u32>Header.padded() * (first * first + second * second);
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
  const padded = <u32>Header.padded();
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
  const end = x + Header.padded();
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
  if (hasHalves()) decodeHalf(node, target);
  else decodeRefined(node, target);
}
