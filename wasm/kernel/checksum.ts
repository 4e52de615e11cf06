// Checksum of a page of memory: detects changes since the page was copied, and errors of a file. Sixteen
// words in parallel, each step xor, multiply, shift (as in xxHash by Collet and MurmurHash by Appleby), so
// that every bit of the page affects the result.
import { PAGE_BYTES } from '../layout';

const PRIME: i32 = 0x9e3779b1;
const PRIME_64: u64 = 0x9e3779b185ebca87;

// @ts-ignore: decorator
@inline
function step(sum: v128, at: usize, prime: v128): v128 {
  const mixed = i32x4.mul(v128.xor(sum, v128.load(at)), prime);
  return v128.xor(mixed, i32x4.shr_u(mixed, 15));
}

// @ts-ignore: decorator
@inline
function fold(hash: u64, part: v128): u64 {
  hash = (hash ^ i64x2.extract_lane(part, 0)) * PRIME_64;
  hash ^= hash >> 32;
  hash = (hash ^ i64x2.extract_lane(part, 1)) * PRIME_64;
  return hash ^ (hash >> 32);
}

/** Returns the checksum of the PAGE_BYTES at `at`: an integer below 2^53. */
export function pageSum(at: usize): f64 {
  const prime = i32x4.splat(PRIME);
  const end = at + PAGE_BYTES;
  let a = i32x4.splat(1);
  let b = i32x4.splat(2);
  let c = i32x4.splat(3);
  let d = i32x4.splat(4);
  do {
    a = step(a, at, prime);
    b = step(b, at + 16, prime);
    c = step(c, at + 32, prime);
    d = step(d, at + 48, prime);
    at += 64;
  } while (at < end);
  const hash = fold(fold(fold(fold(0, a), b), c), d);
  return <f64>(hash >> 11);
}
