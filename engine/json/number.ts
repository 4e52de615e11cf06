// Parses JSON numbers: their grammar and their exact value, equal to that of the language in every bit, in
// one pass and mostly without creating a string.
import { slice } from '../base/byte-slice.js';

// Powers of ten up to 22 are exact in a 64-bit float.
const powers = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));

/**
 * Result of the last `scanNumber`: the float nearest to the token (infinite on overflow), and whether the
 * token has a fraction or an exponent.
 */
export const scanned = { value: 0, isFraction: false };

/**
 * Parses the number token at `start`. Returns the position after it, or ~position where a digit is missing.
 * Digits are added up in small integers, up to 9 before the point and 8, 6 and 7 after it; any other token is
 * left to `scanOther`. The plain loops make vectors fast.
 */
export function scanNumber(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  const isNegative = bytes[start] === 0x2d;
  const whole = isNegative ? start + 1 : start;
  let at = whole;
  let digit = 0;
  let first = 0;
  let stop = Math.min(length, at + 9);
  for (; at < stop && (digit = bytes[at]! - 0x30) >>> 0 <= 9; at++)
    first = (Math.imul(first, 10) + digit) | 0;
  const next = bytes[at]!;
  if (at === whole || (bytes[whole] === 0x30 && at > whole + 1) || (next - 0x30) >>> 0 <= 9)
    return scanOther(bytes, start);
  let value = first;
  const isFraction = next === 0x2e;
  if (isFraction) {
    const point = ++at;
    // Zeros before the first significant digit only move the point.
    if (first === 0) while (at < length && bytes[at] === 0x30) at++;
    let second = 0;
    let from = at;
    stop = Math.min(length, at + 8);
    for (; at < stop && (digit = bytes[at]! - 0x30) >>> 0 <= 9; at++)
      second = (Math.imul(second, 10) + digit) | 0;
    let high = first * powers[at - from]! + second;
    let third = 0;
    from = at;
    stop = Math.min(length, at + 6);
    for (; at < stop && (digit = bytes[at]! - 0x30) >>> 0 <= 9; at++)
      third = (Math.imul(third, 10) + digit) | 0;
    high = high * powers[at - from]! + third;
    let low = 0;
    from = at;
    stop = Math.min(length, at + 7);
    for (; at < stop && (digit = bytes[at]! - 0x30) >>> 0 <= 9; at++)
      low = (Math.imul(low, 10) + digit) | 0;
    const scale = at - point;
    const isTooLong = (bytes[at]! - 0x30) >>> 0 <= 9 || scale > 22;
    // A sum above 2^53 may have been rounded, but never to 2^53 or less.
    if (isTooLong || scale === 0 || high > Number.MAX_SAFE_INTEGER) return scanOther(bytes, start);
    // Both operands are exact, so one division rounds correctly: W. Clinger, "How to read floating point
    // numbers accurately", 1990, section 4.
    value = at === from ? high / powers[scale]! : quotient(high, low, at - from, scale);
  }
  if ((bytes[at]! | 0x20) === 0x65 || Number.isNaN(value)) return scanOther(bytes, start);
  scanned.isFraction = isFraction;
  scanned.value = isNegative ? -value : value;
  return at;
}

/** Parses any number token, including invalid ones, by the grammar of RFC 8259, section 6. */
function scanOther(bytes: Uint8Array, start: number): number {
  const whole = bytes[start] === 0x2d ? start + 1 : start;
  let at = digitsEnd(bytes, whole);
  if (at === whole) return ~at;
  // A leading zero is the whole integer part; the caller rejects digits after it.
  if (bytes[whole] === 0x30) at = whole + 1;
  scanned.isFraction = false;
  if (bytes[at] === 0x2e) {
    const point = at + 1;
    at = digitsEnd(bytes, point);
    if (at === point) return ~at;
    scanned.isFraction = true;
  }
  if ((bytes[at]! | 0x20) === 0x65) {
    const sign = bytes[at + 1] === 0x2b || bytes[at + 1] === 0x2d ? 1 : 0;
    const exponent = at + 1 + sign;
    at = digitsEnd(bytes, exponent);
    if (at === exponent) return ~at;
    scanned.isFraction = true;
  }
  scanned.value = Number(slice(bytes, start, at));
  return at;
}

function digitsEnd(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start;
  while (at < length && (bytes[at]! - 0x30) >>> 0 <= 9) at++;
  return at;
}

/** Returns the position after the number token at `start`, which is known to be well-formed. */
export function numberEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && '+-.0123456789Ee'.includes(String.fromCharCode(bytes[at]!))) at++;
  return at;
}

/** Splits a float into two of at most 26 bits each, whose products are exact (Veltkamp). */
const splitter = 2 ** 27 + 1;

/** Returns the exact rounding error of the product a * b = product (T. Dekker, 1971). */
function productError(a: number, b: number, product: number): number {
  const aScaled = a * splitter;
  const aHigh = aScaled - (aScaled - a);
  const aLow = a - aHigh;
  const bScaled = b * splitter;
  const bHigh = bScaled - (bScaled - b);
  const bLow = b - bHigh;
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

/** Exceeds the relative error of the correction below, which rounds three times. */
const doubt = 2 ** -48;

/**
 * Returns (high * 10^extra + low) / 10^scale, or NaN if the result is too near to the middle of two floats.
 * The dividend and the remainder of the first quotient are exact sums of two floats. The remainder yields a
 * correction with a relative error of 2^-48. If both ends of that interval round to the same float, the true
 * value does too.
 */
function quotient(high: number, low: number, extra: number, scale: number): number {
  const power = powers[extra]!;
  const product = high * power;
  const rest = productError(high, power, product) + low;
  const dividend = product + rest;
  const dividendError = rest - (dividend - product);
  const divisor = powers[scale]!;
  const first = dividend / divisor;
  const back = first * divisor;
  const remainder = dividend - back - productError(first, divisor, back) + dividendError;
  const correction = remainder / divisor;
  const value = first + correction * (1 - doubt);
  return value === first + correction * (1 + doubt) ? value : Number.NaN;
}
