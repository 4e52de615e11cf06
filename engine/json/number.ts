// Numbers out of JSON tokens, bit for bit as the language itself would read them, and without making strings.
import { slice } from './slice.js';

// Powers of ten up to 22 are exact in a 64-bit float.
const powers = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));

/** The float nearest to the number token in bytes[start, end), already known to be well-formed. */
export function parseFloat64(bytes: Uint8Array, start: number, end: number): number {
  const negative = bytes[start] === 0x2d;
  // Digits 1 to 8, 9 to 15 and 16 to 22: small integers, which the machine adds up much faster than floats.
  let count = 0;
  let first = 0;
  let second = 0;
  let third = 0;
  let point = end;
  for (let at = negative ? start + 1 : start; at < end; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit >>> 0 <= 9) {
      if (count < 8) first = (Math.imul(first, 10) + digit) | 0;
      else if (count < 15) second = (Math.imul(second, 10) + digit) | 0;
      else third = (Math.imul(third, 10) + digit) | 0;
      // Leading zeros do not count.
      if (first !== 0) count++;
    } else if (digit === -2) {
      point = at + 1;
    } else {
      return Number(slice(bytes, start, end));
    }
  }
  const scale = end - point;
  if (count > 22 || scale > 22) return Number(slice(bytes, start, end));
  const high = count <= 8 ? first : first * powers[Math.min(count, 15) - 8]! + second;
  // Up to 15 digits both sides are exact, so one division rounds correctly: W. Clinger, "How to read floating point
  // numbers accurately", 1990, section 4.
  const value = count <= 15 ? high / powers[scale]! : quotient(high, third, count - 15, scale);
  if (Number.isNaN(value)) return Number(slice(bytes, start, end));
  return negative ? -value : value;
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
