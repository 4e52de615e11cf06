// 4-bit codes, for indexes that store nothing else of a vector. Each 16 bytes hold 32 dimensions. Byte j
// holds dimension j in its low half and dimension 16 + j in its high half. So either half, spread to bytes,
// reads like an 8-bit code. A half of 8 is 0.
import { HALF_CODES, N_CODE } from '../layout';
import { Header } from './header';
import { inverseOf, missed, scaled, widest } from './quantize';
import { sumFloats, sumIntegers } from './sum';
import { Node } from './node';

/** Largest code of a coordinate. */
const TOP: f32 = 7;
/** The half that represents 0. */
export const HALF_ZERO: i32 = 8;

/** Whether nodes have 4-bit codes. */
// @ts-ignore: decorator
@inline
export function hasHalves(): bool {
  return (Header.layout() & HALF_CODES) != 0;
}

// @ts-ignore: decorator
@inline
function lowHalves(bytes: v128): v128 {
  return v128.and(bytes, i8x16.splat(15));
}

// @ts-ignore: decorator
@inline
function highHalves(bytes: v128): v128 {
  return i8x16.shr_u(bytes, 4);
}

/** Writes the code of `node`, whose vector minus the mean is `centred`. */
export function encodeHalf(node: usize, centred: usize): void {
  const step = widest(centred) / TOP;
  const factor = f32x4.splat(inverseOf(step));
  const steps = f32x4.splat(step);
  const zero = i16x8.splat(<i16>HALF_ZERO);
  let square = i32x4.splat(0);
  let sum = i32x4.splat(0);
  let error = f32x4.splat(0);
  const end = node + (Header.padded() >> 1);
  let low = centred;
  for (let at = node; at < end; at += 8) {
    const high = low + 64;
    const a = scaled(low, factor);
    const b = scaled(low + 16, factor);
    const c = scaled(high, factor);
    const d = scaled(high + 16, factor);
    error = f32x4.add(error, f32x4.add(missed(low, a, steps), missed(low + 16, b, steps)));
    error = f32x4.add(error, f32x4.add(missed(high, c, steps), missed(high + 16, d, steps)));
    const x = i16x8.narrow_i32x4_s(a, b);
    const y = i16x8.narrow_i32x4_s(c, d);
    square = i32x4.add(square, i32x4.add(i32x4.dot_i16x8_s(x, x), i32x4.dot_i16x8_s(y, y)));
    const p = i16x8.add(x, zero);
    const q = i16x8.add(y, zero);
    sum = i32x4.add(sum, i32x4.extadd_pairwise_i16x8_s(i16x8.add(p, q)));
    const halves = v128.or(p, i16x8.shl(q, 4));
    v128.store64_lane(at, i8x16.narrow_i16x8_u(halves, halves), 0, N_CODE);
    // The next eight dimensions of the same sixteen; after those, skip the high halves.
    low += ((at - node) & 8) != 0 ? 96 : 32;
  }
  Node.setCodeSum(node, sumIntegers(sum));
  Node.setStep(node, step);
  Node.setSquare(node, step * step * <f32>sumIntegers(square) - sumFloats(error));
}

/** Returns the inner product of a query's code and a node's halves. */
// @ts-ignore: decorator
@inline
export function dotHalf(code: usize, bytes: usize): i32 {
  const end = bytes + (Header.padded() >> 1);
  const mask = i16x8.splat(255);
  let a = i32x4.splat(0);
  let b = i32x4.splat(0);
  let c = i32x4.splat(0);
  let d = i32x4.splat(0);
  do {
    const halves = v128.load(bytes);
    const v = lowHalves(halves);
    const w = highHalves(halves);
    a = i32x4.add(a, i32x4.dot_i16x8_s(v128.and(v, mask), v128.load(code)));
    b = i32x4.add(b, i32x4.dot_i16x8_s(i16x8.shr_u(v, 8), v128.load(code, 16)));
    c = i32x4.add(c, i32x4.dot_i16x8_s(v128.and(w, mask), v128.load(code, 32)));
    d = i32x4.add(d, i32x4.dot_i16x8_s(i16x8.shr_u(w, 8), v128.load(code, 48)));
    bytes += 16; code += 64;
  } while (bytes < end);
  return sumIntegers(i32x4.add(i32x4.add(a, b), i32x4.add(c, d)));
}

/** Returns the inner product of the halves of two nodes. */
// @ts-ignore: decorator
@inline
export function dotHalves(x: usize, y: usize): i32 {
  const end = x + (Header.padded() >> 1);
  let sum = i32x4.splat(0);
  do {
    const v = v128.load(x);
    const w = v128.load(y);
    const low = i16x8.extmul_low_i8x16_u(lowHalves(v), lowHalves(w));
    const lower = i16x8.extmul_high_i8x16_u(lowHalves(v), lowHalves(w));
    const high = i16x8.extmul_low_i8x16_u(highHalves(v), highHalves(w));
    const higher = i16x8.extmul_high_i8x16_u(highHalves(v), highHalves(w));
    // Four products of at most 15 x 15 each are far below the limit of 16 bits.
    const all = i16x8.add(i16x8.add(low, lower), i16x8.add(high, higher));
    sum = i32x4.add(sum, i32x4.extadd_pairwise_i16x8_s(all));
    x += 16; y += 16;
  } while (x < end);
  return sumIntegers(sum);
}

/** Stores the eight coordinates that the low eight of `halves`, spread to bytes, represent. */
// @ts-ignore: decorator
@inline
function storeEight(target: usize, halves: v128, unit: v128): void {
  const codes = i16x8.sub(i16x8.extend_low_i8x16_u(halves), i16x8.splat(<i16>HALF_ZERO));
  const first = f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(codes));
  const second = f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(codes));
  v128.store(target, f32x4.mul(unit, first));
  v128.store(target, f32x4.mul(unit, second), 16);
}

/** Decodes the code of `node` into P floats. */
export function decodeHalf(node: usize, target: usize): void {
  const unit = f32x4.splat(Node.step(node));
  const end = node + (Header.padded() >> 1);
  let low = target;
  for (let at = node; at < end; at += 8) {
    const halves = v128.load64_zero(at, N_CODE);
    storeEight(low, lowHalves(halves), unit);
    storeEight(low + 64, highHalves(halves), unit);
    low += ((at - node) & 8) != 0 ? 96 : 32;
  }
}
