// Refined distances: from a vector's length and all 16 bits of its code. Searches end with them, and fall
// back on them where codes of 8 bits are too coarse to separate neighbors. Layouts with 4-bit codes have
// none.
import { N_CODE } from './layout';
import { Header } from './kernel/header';
import { Scratch } from './kernel/scratch-fields';
import { sumFloats } from './kernel/sum';
import { Node } from './kernel/node';

/** Returns eight 16-bit codes: the high bytes at `code`, the low bytes at `rest`. */
// @ts-ignore: decorator
@inline
export function refinedCodes(code: usize, rest: usize): v128 {
  const high = i16x8.sub(v128.load_ext<u8>(code), i16x8.splat(128));
  return i16x8.add(i16x8.shl(high, 8), v128.load_ext<i8>(rest));
}

/** Returns the coordinates of the lower four of eight codes of unit `unit`. */
// @ts-ignore: decorator
@inline
export function lowerOf(codes: v128, unit: v128): v128 {
  return f32x4.mul(unit, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(codes)));
}

/** Returns the coordinates of the upper four of eight codes of unit `unit`. */
// @ts-ignore: decorator
@inline
export function upperOf(codes: v128, unit: v128): v128 {
  return f32x4.mul(unit, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(codes)));
}

/** Returns the value of one unit of the 16-bit code of `node`. */
// @ts-ignore: decorator
@inline
export function unitOf(node: usize): v128 {
  return f32x4.splat(Node.step(node) / 256);
}

/** Decodes the 16-bit code of `node` into P floats. */
export function decodeRefined(node: usize, target: usize): void {
  const unit = unitOf(node);
  const end = target + (Header.padded() << 2);
  let code = node + N_CODE;
  let rest = node + Header.fine();
  for (; target < end; target += 32, code += 8, rest += 8) {
    const codes = refinedCodes(code, rest);
    v128.store(target, lowerOf(codes, unit));
    v128.store(target, upperOf(codes, unit), 16);
  }
}

/** Returns the refined distance of the query and a node. */
export function fineDistance(scratch: usize, node: usize): f32 {
  if (Scratch.weight(scratch) == 0) return fineDot(scratch, node);
  const unit = unitOf(node);
  let query = Scratch.centred(scratch);
  const end = query + (Header.padded() << 2);
  let code = node + N_CODE;
  let rest = node + Header.fine();
  let a = f32x4.splat(0);
  let b = f32x4.splat(0);
  for (; query < end; query += 32, code += 8, rest += 8) {
    const codes = refinedCodes(code, rest);
    const x = f32x4.sub(v128.load(query), lowerOf(codes, unit));
    const y = f32x4.sub(v128.load(query, 16), upperOf(codes, unit));
    a = f32x4.add(a, f32x4.mul(x, x));
    b = f32x4.add(b, f32x4.mul(y, y));
  }
  return sumFloats(f32x4.add(a, b));
}

/**
 * Returns -<q, x>, from the length t of x and its difference from the query scaled to that length: |x| |q| -
 * |q| / 2t |t/|q| q - x|^2. The error of a code has the same weight as that difference.
 */
function fineDot(scratch: usize, node: usize): f32 {
  const length = Scratch.length(scratch);
  const norm = Node.norm(node);
  if (length == 0 || norm == 0) return 0;
  const factor = f32x4.splat(norm / length);
  const unit = unitOf(node);
  let query = Scratch.centred(scratch);
  const end = query + (Header.padded() << 2);
  let mean = Header.mean();
  let code = node + N_CODE;
  let rest = node + Header.fine();
  let sum = f32x4.splat(0);
  for (; query < end; query += 32, mean += 32, code += 8, rest += 8) {
    const codes = refinedCodes(code, rest);
    const p = f32x4.sub(f32x4.mul(factor, v128.load(query)), v128.load(mean));
    const q = f32x4.sub(f32x4.mul(factor, v128.load(query, 16)), v128.load(mean, 16));
    const x = f32x4.sub(p, lowerOf(codes, unit));
    const y = f32x4.sub(q, upperOf(codes, unit));
    sum = f32x4.add(sum, f32x4.add(f32x4.mul(x, x), f32x4.mul(y, y)));
  }
  return length * (sumFloats(sum) / (2 * norm) - norm);
}

/** Returns the refined squared distance of two nodes. */
export function fineNodes(a: usize, b: usize): f32 {
  const first = unitOf(a);
  const second = unitOf(b);
  const fine = Header.fine();
  const end = a + Header.padded();
  let sum = f32x4.splat(0);
  for (; a < end; a += 8, b += 8) {
    const x = refinedCodes(a + N_CODE, a + fine);
    const y = refinedCodes(b + N_CODE, b + fine);
    const p = f32x4.sub(lowerOf(x, first), lowerOf(y, second));
    const q = f32x4.sub(upperOf(x, first), upperOf(y, second));
    sum = f32x4.add(sum, f32x4.add(f32x4.mul(p, p), f32x4.mul(q, q)));
  }
  return sumFloats(sum);
}
