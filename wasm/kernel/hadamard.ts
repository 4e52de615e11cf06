// A fixed random rotation by fast Hadamard transforms (FHT-Kac). There are four rounds of random signs and a
// transform of the first or the last n dimensions, where n is the largest power of two within P. Halves are
// mixed if n < P. The sign pattern is a constant of the format, so a rotated vector never changes.
import { Header } from './header';

export const ROUNDS = 4;

/** Fills the sign table of 4 x P words: 0, or the sign bit of an f32. */
export function fillSigns(at: usize, words: u32): void {
  let state: u64 = 0x9e3779b97f4a7c15;
  for (let i: u32 = 0; i < words; i++) {
    state += 0x9e3779b97f4a7c15;
    let z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    store<u32>(at + ((<usize>i) << 2), <u32>((z ^ (z >> 31)) >> 32) & 0x80000000);
  }
}

/** Rotates the P floats at `x` in place. The length is preserved. */
export function rotate(x: usize): void {
  const padded = <u32>Header.padded();
  const n: u32 = 1 << (31 - clz(padded));
  const bytes = (<usize>padded) << 2;
  const offset = (<usize>(padded - n)) << 2;
  let signs = Header.signs();
  const scale = f32x4.splat(<f32>(1.0 / Math.sqrt(<f64>n)));
  for (let round = 0; round < ROUNDS; round++) {
    for (let at: usize = 0; at < bytes; at += 16) {
      v128.store(x + at, v128.xor(v128.load(x + at), v128.load(signs + at)));
    }
    signs += bytes;
    hadamard(x + (round & 1 ? offset : 0), n, scale);
    if (offset != 0) mixHalves(x, bytes >> 1);
  }
}

function mixHalves(x: usize, half: usize): void {
  const root = f32x4.splat(<f32>0.7071067811865476);
  const end = x + half;
  do {
    const a = v128.load(x);
    const b = v128.load(x + half);
    v128.store(x, f32x4.mul(f32x4.add(a, b), root));
    v128.store(x + half, f32x4.mul(f32x4.sub(a, b), root));
    x += 16;
  } while (x < end);
}

/**
 * Unnormalized transform of length n >= 32, scaled during the first two levels, which are inside a SIMD
 * vector.
 */
function hadamard(x: usize, n: u32, scale: v128): void {
  const end = x + ((<usize>n) << 2);
  const odd = i32x4(0, 0x80000000, 0, 0x80000000);
  const high = i32x4(0, 0, 0x80000000, 0x80000000);
  for (let at = x; at < end; at += 16) {
    let a = f32x4.mul(v128.load(at), scale);
    a = f32x4.add(v128.xor(a, odd), v128.shuffle<f32>(a, a, 1, 0, 3, 2));
    a = f32x4.add(v128.xor(a, high), v128.shuffle<f32>(a, a, 2, 3, 0, 1));
    v128.store(at, a);
  }
  let step: usize = 16;
  const bytes = (<usize>n) << 2;
  while (step << 1 < bytes) {
    butterfly4(x, end, step);
    step <<= 2;
  }
  if (step < bytes) butterfly2(x, end, step);
}

/** Computes two levels together: distances `step` and 2 `step` bytes. */
function butterfly4(x: usize, end: usize, step: usize): void {
  for (; x < end; x += step << 2) {
    const stop = x + step;
    for (let at = x; at < stop; at += 16) {
      const a = v128.load(at);
      const b = v128.load(at + step);
      const c = v128.load(at + 2 * step);
      const d = v128.load(at + 3 * step);
      const e = f32x4.add(a, b);
      const f = f32x4.sub(a, b);
      const g = f32x4.add(c, d);
      const h = f32x4.sub(c, d);
      v128.store(at, f32x4.add(e, g));
      v128.store(at + step, f32x4.add(f, h));
      v128.store(at + 2 * step, f32x4.sub(e, g));
      v128.store(at + 3 * step, f32x4.sub(f, h));
    }
  }
}

function butterfly2(x: usize, end: usize, step: usize): void {
  for (; x < end; x += step << 1) {
    const stop = x + step;
    for (let at = x; at < stop; at += 16) {
      const a = v128.load(at);
      const b = v128.load(at + step);
      v128.store(at, f32x4.add(a, b));
      v128.store(at + step, f32x4.sub(a, b));
    }
  }
}
