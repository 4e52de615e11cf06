// Parses runs of numbers in a JSON array into entries of the scanner's tape (engine/json/tape.ts), with
// integer arithmetic alone. Eight digits are read at a time (SWAR). The nearest 64-bit float of w x 10^q
// comes from a 128-bit product (D. Lemire, "Number parsing at a gigabyte per second", 2021). Numbers without
// a certain result are left to the caller. Runs in a separate memory, not in a segment's.
import {
  FLOAT_ENTRIES, FLOAT_ENTRY_BYTES, FLOAT_INPUT, FLOAT_POWERS, FLOAT_POWER_MAX, FLOAT_POWER_MIN,
  FLOAT_USED,
} from '../layout';

const COMMA: u32 = 0x2c;
const ARRAY_END: u32 = 0x5d;
const ZERO: u32 = 0x30;
const POINT: u32 = 0x2e;
/** Number of decimal digits that always fit into 64 bits. */
const DIGITS_MAX: usize = 19;
/** Result of `nearest` when it is uncertain: the bits of a NaN. */
const UNSURE: u64 = 0x7ff8000000000000;

// @ts-ignore: decorator
@inline
function digitAt(at: usize): u32 {
  return <u32>load<u8>(at) - ZERO;
}

/** Whether all eight bytes are decimal digits. */
// @ts-ignore: decorator
@inline
function areDigits(bytes: u64): bool {
  const high: u64 = 0xf0f0f0f0f0f0f0f0;
  const all = (bytes & high) | (((bytes + 0x0606060606060606) & high) >> 4);
  return all == 0x3333333333333333;
}

/** Returns the value of eight digits, the first in the lowest byte. */
// @ts-ignore: decorator
@inline
function eightDigits(bytes: u64): u64 {
  const pairs = (bytes & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
  const fours = (pairs & 0x00ff00ff00ff00ff) * 6553601 >> 16;
  return (fours & 0x0000ffff0000ffff) * 42949672960001 >> 32;
}

/**
 * Parses `,number` repeatedly from the `length` bytes at FLOAT_INPUT, which a zero byte follows, at most
 * `room` times. Entries go to FLOAT_ENTRIES: `head` (`head` | `fraction` if written with a fraction or an
 * exponent), offset of the token + `origin`, value. Returns their number and stores the number of bytes read
 * at FLOAT_USED.
 */
export function parseFloats(length: u32, room: u32, head: u32, fraction: u32, origin: u32): u32 {
  const input = <usize>FLOAT_INPUT;
  const end = input + <usize>length;
  let entry = <usize>FLOAT_ENTRIES;
  let count: u32 = 0;
  let used = input;
  while (count < room && used < end && <u32>load<u8>(used) == COMMA) {
    let at = used + 1;
    while (load<u8>(at) == 0x20) at++;
    const token = at;
    const negative = load<u8>(at) == 0x2d;
    if (negative) at++;
    const first = at;
    let w: u64 = 0;
    for (let digit = digitAt(at); digit <= 9; digit = digitAt(at)) {
      w = w * 10 + <u64>digit;
      at++;
    }
    let digits = at - first;
    if (digits == 0 || (digits > 1 && <u32>load<u8>(first) == ZERO)) break;
    let q: i32 = 0;
    let kind = head;
    if (<u32>load<u8>(at) == POINT) {
      const point = ++at;
      for (let bytes = load<u64>(at); areDigits(bytes); bytes = load<u64>(at)) {
        w = w * 100000000 + eightDigits(bytes);
        at += 8;
      }
      for (let digit = digitAt(at); digit <= 9; digit = digitAt(at)) {
        w = w * 10 + <u64>digit;
        at++;
      }
      if (at == point) break;
      q = <i32>(point - at);
      digits += at - point;
      kind |= fraction;
    }
    if ((load<u8>(at) | 0x20) == 0x65) {
      const sign = <u32>load<u8>(++at);
      if (sign == 0x2d || sign == 0x2b) at++;
      const from = at;
      let exponent: i32 = 0;
      for (let digit = digitAt(at); digit <= 9 && at < from + 4; digit = digitAt(at)) {
        exponent = exponent * 10 + <i32>digit;
        at++;
      }
      if (at == from) break;
      q += sign == 0x2d ? -exponent : exponent;
      kind |= fraction;
    }
    if (digits > DIGITS_MAX && digits - leadingZeros(first) > DIGITS_MAX) break;
    const next = <u32>load<u8>(at);
    if (at >= end || (next != COMMA && next != ARRAY_END)) break;
    const bits = nearest(w, q);
    if (bits == UNSURE) break;
    store<u32>(entry, kind);
    store<u32>(entry, <u32>(token - input) + origin, 4);
    store<u64>(entry, negative ? bits | (1 << 63) : bits, 8);
    entry += FLOAT_ENTRY_BYTES;
    used = at;
    count++;
  }
  store<u32>(FLOAT_USED, <u32>(used - input));
  return count;
}

function leadingZeros(at: usize): usize {
  let count: usize = 0;
  let byte = <u32>load<u8>(at);
  while (byte == ZERO || byte == POINT) {
    if (byte == ZERO) count++;
    byte = <u32>load<u8>(++at);
  }
  return count;
}

/** Returns the high half of a 128-bit product. */
// @ts-ignore: decorator
@inline
function highProduct(a: u64, b: u64): u64 {
  const a0 = a & 0xffffffff;
  const a1 = a >> 32;
  const b0 = b & 0xffffffff;
  const b1 = b >> 32;
  const middle = a1 * b0 + (a0 * b0 >> 32);
  const other = a0 * b1 + (middle & 0xffffffff);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

/** Returns the bits of the 64-bit float nearest to w x 10^q, or UNSURE. */
// @ts-ignore: decorator
@inline
function nearest(w: u64, q: i32): u64 {
  if (w == 0) return 0;
  if (q < FLOAT_POWER_MIN || q > FLOAT_POWER_MAX) return UNSURE;
  const power = <usize>FLOAT_POWERS + ((<usize>(q - FLOAT_POWER_MIN)) << 4);
  const shift = clz(w);
  const scaled = w << shift;
  let low = scaled * load<u64>(power);
  let high = highProduct(scaled, load<u64>(power));
  if ((high & 0x1ff) == 0x1ff) {
    const more = highProduct(scaled, load<u64>(power, 8));
    low += more;
    if (more > low) high++;
    // From here on the table's own rounding could matter.
    if (low == 0xffffffffffffffff) return UNSURE;
  }
  const upper = high >> 63;
  let mantissa = high >> (upper + 9);
  let exponent = ((217706 * q) >> 16) + 63 + <i32>upper - <i32>shift + 1023;
  if (exponent <= 0) return UNSURE;
  // Exactly half-way, which only small powers of five allow: round to even.
  if (low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1) {
    if (mantissa << (upper + 9) == high) mantissa &= ~1;
  }
  mantissa += mantissa & 1;
  mantissa >>= 1;
  if (mantissa >= (<u64>1 << 53)) {
    mantissa = <u64>1 << 52;
    exponent++;
  }
  if (exponent >= 2047) return UNSURE;
  return (mantissa & ~(<u64>1 << 52)) | (<u64>exponent << 52);
}
