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

/** Reads the number token at `start`. Answers the place after it, or ~place where a digit should have been. */
export function scanNumber(bytes: Uint8Array, start: number): number {
  const negative = bytes[start] === 0x2d;
  const whole = negative ? start + 1 : start;
  let at = digitsEnd(bytes, whole);
  if (at === whole) return ~at;
  // A leading zero is the whole part: digits after it are refused by whoever reads on.
  if (bytes[whole] === 0x30) at = whole + 1;
  const point = at;
  if (bytes[at] === 0x2e) {
    at = digitsEnd(bytes, point + 1);
    if (at === point + 1) return ~at;
  }
  if ((bytes[at]! | 0x20) === 0x65) return scanExponent(bytes, start, at + 1);
  scanned.isFraction = at > point;
  let value = decimal(bytes, whole, point, at);
  if (Number.isNaN(value)) value = Math.abs(Number(slice(bytes, start, at)));
  scanned.value = negative ? -value : value;
  return at;
}

function digitsEnd(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start;
  while (at < length && (bytes[at]! - 0x30) >>> 0 <= 9) at++;
  return at;
}

/** Digits up to this one make a whole number that a 64-bit float holds exactly. */
const exactDigits = 15;
const moreDigits = 7;

/**
 * The value of digits [whole, point), and of (point, end) after the point, when the digits that count are at most 22 and
 * stand together, which is almost always; else NaN.
 */
function decimal(bytes: Uint8Array, whole: number, point: number, end: number): number {
  const scale = end > point ? end - point - 1 : 0;
  if (scale > 22 || point - whole > exactDigits) return Number.NaN;
  let high = digitsValue(bytes, whole, point);
  if (scale === 0) return high;
  let from = point + 1;
  if (high === 0) while (from < end && bytes[from] === 0x30) from++;
  const room = high === 0 ? exactDigits : exactDigits - (point - whole);
  const split = Math.min(end, from + room);
  high = high * powers[split - from]! + digitsValue(bytes, from, split);
  // Both sides are exact, so one division rounds correctly: W. Clinger, "How to read floating point numbers
  // accurately", 1990, section 4.
  if (split === end) return high / powers[scale]!;
  if (end - split > moreDigits) return Number.NaN;
  return quotient(high, digitsValue(bytes, split, end), end - split, scale);
}

/** The whole number that up to 15 digits stand for: eight at once, then one by one, in small integers. */
function digitsValue(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < 8) return fewDigitsValue(bytes, start, end);
  const at = start;
  const zeros = 0x30 * 11_111_111;
  const upper = (bytes[at]! * 10 + bytes[at + 1]!) * 100 + bytes[at + 2]! * 10 + bytes[at + 3]!;
  const lower = (bytes[at + 4]! * 10 + bytes[at + 5]!) * 100 + bytes[at + 6]! * 10 + bytes[at + 7]!;
  const eight = (Math.imul(upper, 10_000) + lower - zeros) | 0;
  return eight * powers[end - start - 8]! + fewDigitsValue(bytes, at + 8, end);
}

function fewDigitsValue(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = (Math.imul(value, 10) + bytes[at]! - 0x30) | 0;
  return value;
}

function scanExponent(bytes: Uint8Array, start: number, from: number): number {
  const first = bytes[from] === 0x2b || bytes[from] === 0x2d ? from + 1 : from;
  const at = digitsEnd(bytes, first);
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
