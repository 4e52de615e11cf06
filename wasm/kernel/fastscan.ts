// Fastscan (Andre et al., VLDB 2015) of 1-bit edge codes (RaBitQ, SIGMOD 2024; SymphonyQG, SIGMOD 2025). The
// query becomes a table of 16 bytes per 4 dimensions, and 32 neighbors are looked up together.
//   d(q,x) ~ d(q,p) + add - scale * S,   S = <q, sign(x - p)>,   S = base + step * (sum of table
//   bytes); an inner product is half of it without `add`:   -<q,x> ~ -<q,p> - scale / 2 * S
import { Header } from './header';
import { lowerShorts, upperShorts } from './short-float';
import { Scratch } from './scratch-fields';

/**
 * Largest table byte: four add up in a byte, and all of 4,128 dimensions in 16 bits. Its rounding is far
 * below the error of one bit per dimension.
 */
const TOP: f32 = 63;

/** Weight of S: 1, or 0.5 for inner products. */
// @ts-ignore: decorator
@inline
function partOf(scratch: usize): f32 {
  return 0.5 + 0.5 * Scratch.weight(scratch);
}

/** Builds the lookup table of the encoded part of the query. */
export function buildTable(scratch: usize): void {
  buildTableOf(scratch, <u32>Scratch.centred(scratch));
}

/** Builds the lookup table of the P floats at `query`. */
export function buildTableOf(scratch: usize, query: usize): void {
  const end = query + (Header.padded() << 2);
  let widest: f32 = 0;
  let negative: f32 = 0;
  let total: f32 = 0;
  for (let at = query; at < end; at += 16) {
    const v = v128.load(at);
    const w = f32x4.abs(v);
    const sum = f32x4.add(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
    const size = f32x4.add(w, v128.shuffle<f32>(w, w, 2, 3, 0, 1));
    const all = f32x4.extract_lane(sum, 0) + f32x4.extract_lane(sum, 1);
    const range = f32x4.extract_lane(size, 0) + f32x4.extract_lane(size, 1);
    widest = max(widest, range);
    negative += (all - range) * 0.5;
    total += all;
  }
  const factor: f32 = widest > 0 ? TOP / widest : 0;
  const part = partOf(scratch);
  Scratch.setTableBase(scratch, part * (2 * negative - total));
  Scratch.setTableStep(scratch, part * 2 * widest / TOP);
  let table = Scratch.table(scratch);
  const scale = f32x4.splat(factor);
  for (let at = query; at < end; at += 16) {
    v128.store(table, tableGroup(v128.load(at), scale));
    table += 16;
  }
}

/**
 * Standard deviation of the part of <q, sign> that a code about the mean does not contain: in a random
 * rotation it is about normal, with deviation |q| sqrt(1 - 2/pi).
 */
const DEVIATION: f32 = 0.603;

/** Lowers estimates from codes about the mean by this many standard deviations. */
export function lowerEstimates(scratch: usize, deviations: f32): void {
  const margin = partOf(scratch) * deviations * DEVIATION * Scratch.length(scratch);
  Scratch.setTableBase(scratch, Scratch.tableBase(scratch) + margin);
}

/** Returns the 16 scaled sums over subsets of 4 coordinates as bytes; the lowest is 0. */
// @ts-ignore: decorator
@inline
function tableGroup(query: v128, scale: v128): v128 {
  const q = f32x4.mul(query, scale);
  const zero = f32x4.splat(0);
  // Replacing each coordinate by its distance from min(q, 0) shifts every subset sum by the same amount.
  const n = f32x4.min(q, zero);
  const set = f32x4.sub(q, n);
  const unset = f32x4.sub(zero, n);
  const u01 = v128.shuffle<f32>(unset, set, 0, 4, 0, 4);
  const u23 = v128.shuffle<f32>(unset, set, 1, 1, 5, 5);
  const low = f32x4.add(f32x4.add(u01, u23), f32x4.splat(0.5));
  const c0 = f32x4.extract_lane(unset, 2);
  const c1 = f32x4.extract_lane(set, 2);
  const d0 = f32x4.extract_lane(unset, 3);
  const d1 = f32x4.extract_lane(set, 3);
  const a = i32x4.trunc_sat_f32x4_s(f32x4.add(low, f32x4.splat(c0 + d0)));
  const b = i32x4.trunc_sat_f32x4_s(f32x4.add(low, f32x4.splat(c1 + d0)));
  const c = i32x4.trunc_sat_f32x4_s(f32x4.add(low, f32x4.splat(c0 + d1)));
  const d = i32x4.trunc_sat_f32x4_s(f32x4.add(low, f32x4.splat(c1 + d1)));
  return i8x16.narrow_i16x8_u(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d));
}

/**
 * Estimates the distances of the 32 neighbors whose edge codes are at `codes` and whose owner is at squared
 * distance `distance`. Stores them at L_ESTIMATES; returns the mask of those below `worst`.
 */
export function scanEdges(scratch: usize, codes: usize, distance: f32, worst: f32): u32 {
  const bytes = Header.edgeCodeBytes();
  const estimates = Scratch.estimates(scratch);
  const limit = f32x4.splat(worst);
  const base = f32x4.splat(Scratch.tableBase(scratch));
  const step = f32x4.splat(Scratch.tableStep(scratch));
  const owner = f32x4.splat(distance);
  const weight = f32x4.splat(Scratch.weight(scratch));
  sumEdges(scratch, codes, bytes, estimates);
  let terms = codes + bytes;
  let mask: u32 = 0;
  for (let i: usize = 0; i < 4; i++) {
    const at = estimates + (i << 5);
    const add = v128.load(terms);
    const scale = v128.load(terms, 64);
    let inner = f32x4.add(base, f32x4.mul(step, v128.load(at)));
    let offset = f32x4.add(owner, f32x4.mul(weight, lowerShorts(add)));
    const lower = f32x4.sub(offset, f32x4.mul(lowerShorts(scale), inner));
    v128.store(at, lower);
    inner = f32x4.add(base, f32x4.mul(step, v128.load(at, 16)));
    offset = f32x4.add(owner, f32x4.mul(weight, upperShorts(add)));
    const upper = f32x4.sub(offset, f32x4.mul(upperShorts(scale), inner));
    v128.store(at, upper, 16);
    const near = i32x4.bitmask(f32x4.lt(lower, limit));
    const others = i32x4.bitmask(f32x4.lt(upper, limit));
    mask |= (<u32>(near | (others << 4))) << <u32>(i << 3);
    terms += 16;
  }
  return mask;
}

/** Stores the 32 sums of table bytes, as f32, at `sums`. */
function sumEdges(scratch: usize, codes: usize, bytes: usize, sums: usize): void {
  let table = Scratch.table(scratch);
  const end = codes + bytes;
  const nibble = i8x16.splat(15);
  let a = i16x8.splat(0);
  let b = i16x8.splat(0);
  let c = i16x8.splat(0);
  let d = i16x8.splat(0);
  do {
    let code = v128.load(codes);
    let entry = v128.load(table);
    let low = i8x16.swizzle(entry, v128.and(code, nibble));
    let high = i8x16.swizzle(entry, v128.and(i16x8.shr_u(code, 4), nibble));
    code = v128.load(codes, 16);
    entry = v128.load(table, 16);
    low = i8x16.add(low, i8x16.swizzle(entry, v128.and(code, nibble)));
    high = i8x16.add(high, i8x16.swizzle(entry, v128.and(i16x8.shr_u(code, 4), nibble)));
    code = v128.load(codes, 32);
    entry = v128.load(table, 32);
    low = i8x16.add(low, i8x16.swizzle(entry, v128.and(code, nibble)));
    high = i8x16.add(high, i8x16.swizzle(entry, v128.and(i16x8.shr_u(code, 4), nibble)));
    code = v128.load(codes, 48);
    entry = v128.load(table, 48);
    low = i8x16.add(low, i8x16.swizzle(entry, v128.and(code, nibble)));
    high = i8x16.add(high, i8x16.swizzle(entry, v128.and(i16x8.shr_u(code, 4), nibble)));
    a = i16x8.add(a, low);
    b = i16x8.add(b, i16x8.shr_u(low, 8));
    c = i16x8.add(c, high);
    d = i16x8.add(d, i16x8.shr_u(high, 8));
    codes += 64; table += 64;
  } while (codes < end);
  storeSums(sums, i16x8.sub(a, i16x8.shl(b, 8)), b);
  storeSums(sums + 64, i16x8.sub(c, i16x8.shl(d, 8)), d);
}

// @ts-ignore: decorator
@inline
function storeSums(at: usize, even: v128, odd: v128): void {
  const low = v128.shuffle<i16>(even, odd, 0, 8, 1, 9, 2, 10, 3, 11);
  const high = v128.shuffle<i16>(even, odd, 4, 12, 5, 13, 6, 14, 7, 15);
  v128.store(at, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_u(low)));
  v128.store(at, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_u(low)), 16);
  v128.store(at, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_u(high)), 32);
  v128.store(at, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_u(high)), 48);
}
