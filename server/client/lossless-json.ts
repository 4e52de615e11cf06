// Converts values to JSON text and back, with exact 64-bit integers and dates. Invariant: an integer is never
// rounded silently.

import { jsonText } from '../../engine/json/json-text.js';
import { TrellisError } from './error.js';

/** Paths of 64-bit integers and dates in a result. The generated module has them for each query. */
export type Place = 0 | 1 | 2 | 3 | 4 | readonly [Place] | { readonly [name: string]: Place };
/** The result contains an integer that a number cannot represent. */
export class UnsafeIntegerError extends RangeError {
  override readonly name = 'UnsafeIntegerError';
  constructor(
    readonly path: string,
    readonly digits: string,
  ) {
    super(`${digits} at ${path || '/'} does not fit a number: generate with --int64 bigint`);
  }
}

/** Random prefix of marked numbers, so that no stored text is mistaken for a number. */
const mark = `n${Math.random().toString(36).slice(2)}:`;
/**
 * Matches the first digits of integers that a number may not represent, without fractions and exponents.
 */
const longInteger = /(?<![\w.+-])-?\d{16}/g;

/** Marks such integers outside of strings. */
function marked(text: string): string {
  let [result, done, quote, behind] = ['', 0, text.indexOf('"'), 0];
  for (const { index } of text.matchAll(longInteger)) {
    while (quote >= 0 && quote < index) {
      behind = endOfString(text, quote);
      quote = text.indexOf('"', behind);
    }
    if (index < behind) continue;
    let end = index + 16;
    while (isDigit(text.charCodeAt(end))) end++;
    // A decimal point or an exponent follows: not an integer.
    if (text[end] === '.' || text[end] === 'e' || text[end] === 'E') continue;
    result += `${text.slice(done, index)}"${mark}${text.slice(index, end)}"`;
    done = end;
  }
  return result + text.slice(done);
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

function endOfString(text: string, quote: number): number {
  for (let at = quote + 1; ; at++) {
    at = text.indexOf('"', at);
    let slashes = at;
    while (text[slashes - 1] === '\\') slashes--;
    if ((at - slashes) % 2 === 0) return at + 1;
  }
}

/** Parses JSON. Integers are exact where `place` marks them as wide. */
export function decode<T = unknown>(text: string, place: Place = 0): T {
  if (place === 0) return JSON.parse(text) as T;
  // Most texts have no long run of digits, so JSON.parse is exact.
  if (!/\d{16}/.test(text)) return settle(JSON.parse(text), place, '', false) as T;
  return settle(JSON.parse(marked(text)), place, '', true) as T;
}

function settle(value: unknown, place: Place, path: string, isMarked: boolean): unknown {
  if (typeof value === 'string' && isMarked && value.startsWith(mark)) {
    const digits = value.slice(mark.length);
    if (place === 3) return digits;
    if (place === 2) return BigInt(digits);
    const number = Number(digits);
    if (place === 1 && !Number.isSafeInteger(number)) throw new UnsafeIntegerError(path, digits);
    return number;
  }
  if (typeof value === 'number')
    return place === 2 ? BigInt(value) : place === 3 ? String(value) : value;
  if (typeof value === 'string') return place === 4 ? new Date(value) : value;
  if (typeof value !== 'object' || value === null || (place === 0 && !isMarked)) return value;
  if (Array.isArray(value)) {
    const of = Array.isArray(place) ? (place[0] as Place) : 0;
    for (let i = 0; i < value.length; i++)
      value[i] = settle(value[i], of, `${path}/${i}`, isMarked);
    return value;
  }
  const members = value as Record<string, unknown>;
  const placeOf = (name: string): Place => {
    if (typeof place !== 'object') return 0;
    if (Array.isArray(place)) return place[0] as Place;
    return Object.hasOwn(place, name) ? (place as Record<string, Place>)[name]! : 0;
  };
  for (const name of Object.keys(members)) {
    members[name] = settle(members[name], placeOf(name), `${path}/${name}`, isMarked);
  }
  return members;
}

/**
 * Prints values as JSON: bigint as its digits, typed arrays as lists. Fails PARAM_TYPE for values that
 * JSON does not have.
 */
export const encode = (given: object | undefined): string =>
  jsonText(given ?? {}, (path, param, got) => {
    const error = `\`${param}\` must be a JSON value, got ${got}.`;
    throw new TrellisError(
      { code: 'PARAM_TYPE', error, path, args: { param, type: 'a JSON value', got } },
      400,
    );
  });
