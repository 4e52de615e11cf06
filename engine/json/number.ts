// Number tokens of JSON: their grammar and their value, bit for bit as the language itself would read it, in one pass
// and mostly without making a string.
import { slice } from './slice.js';

// Powers of ten up to 22 are exact in a 64-bit float.
const powers = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));

/**
 * Where the last `scanNumber` left its results: the value nearest to the token, infinite when there is none, and whether it
 * was written with a fraction or an exponent.
 */
export const scanned = { value: 0, isFraction: false };

/**
 * Reads the number token at `start`. Answers the place after it, or ~place where a digit should have been.
 */
export function scanNumber(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  const negative = bytes[start] === 0x2d;
  const whole = negative ? start + 1 : start;
  // Digits 1 to 8, 9 to 15 and 16 to 22: small integers, which the machine adds up much faster than floats.
  let first = 0;
  let second = 0;
  let third = 0;
  let count = 0;
  let point = 0;
  let at = whole;
  for (; at < length; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit >>> 0 <= 9) {
      if (count < 8) first = (Math.imul(first, 10) + digit) | 0;
      else if (count < 15) second = (Math.imul(second, 10) + digit) | 0;
      else third = (Math.imul(third, 10) + digit) | 0;
      // Leading zeros do not count.
      if (first !== 0) count++;
    } else if (digit === -2 && point === 0 && at > whole) {
      point = at + 1;
    } else {
      break;
    }
  }
  if (at === whole || at === point) return ~at;
  // A leading zero ends the token: what follows is refused by whoever reads on.
  if (bytes[whole] === 0x30 && at > whole + 1 && point !== whole + 2) return whole + 1;
  const scale = point === 0 ? 0 : at - point;
  scanned.isFraction = point !== 0;
  if ((bytes[at]! | 0x20) === 0x65) return scanExponent(bytes, start, at + 1);
  const high = count <= 8 ? first : first * powers[Math.min(count, 15) - 8]! + second;
  let value = Number.NaN;
  // Up to 15 digits both sides are exact, so one division rounds correctly: W. Clinger, "How to read floating point
  // numbers accurately", 1990, section 4.
  if (count <= 22 && scale <= 22)
    value = count <= 15 ? high / powers[scale]! : quotient(high, third, count - 15, scale);
  if (Number.isNaN(value)) value = Math.abs(Number(slice(bytes, start, at)));
  scanned.value = negative ? -value : value;
  return at;
}

function scanExponent(bytes: Uint8Array, start: number, from: number): number {
  const first = bytes[from] === 0x2b || bytes[from] === 0x2d ? from + 1 : from;
  let at = first;
  while (at < bytes.length && (bytes[at]! - 0x30) >>> 0 <= 9) at++;
  if (at === first) return ~at;
  scanned.isFraction = true;
  scanned.value = Number(slice(bytes, start, at));
  return at;
}

/** The place after the number token at `start`, known to be well-formed. */
export function numberEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && '+-.0123456789Ee'.includes(String.fromCharCode(bytes[at]!))) at++;
  return at;
}

/** Splits a float into two of at most 26 bits each, whose products are exact (Veltkamp). */
const splitter = 2 ** 27 + 1;

/** The rounding error of the product a * b = product, exactly (T. Dekker, 1971). */
function productError(a: number, b: number, product: number): number {
  const aScaled = a * splitter;
  const aHigh = aScaled - (aScaled - a);
  const aLow = a - aHigh;
  const bScaled = b * splitter;
  const bHigh = bScaled - (bScaled - b);
  const bLow = b - bHigh;
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

/** More than the relative error of the correction below, which takes three roundings. */
const doubt = 2 ** -48;

/**
 * (high * 10^extra + low) / 10^scale, or NaN when it lies too near to the middle of two floats to tell. The dividend
 * and the remainder of the first quotient are kept as exact sums of two floats; the remainder yields a correction
 * that is known to 2^-48 of itself. When both ends of that interval round alike, so does the true value.
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
