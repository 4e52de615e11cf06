// Converts values to JSON text and back, with exact 64-bit integers and dates. Invariant: an integer is never
// rounded silently.

import { jsonText } from '../../engine/json/json-text.js';
import { TrellisError } from './error.js';

/** Paths of 64-bit integers and dates in a result. The generated module has them for each query. */
export type DecodePath =
  | 0
  | 1
  | 2
  | 3
  | 4
  | readonly [DecodePath]
  | { readonly [name: string]: DecodePath };
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

/** Marks such integers outside strings. */
function marked(text: string): string {
  let [result, done, quote, stringEnd] = ['', 0, text.indexOf('"'), 0];
  for (const { index } of text.matchAll(longInteger)) {
    while (quote >= 0 && quote < index) {
      stringEnd = endOfString(text, quote);
      quote = text.indexOf('"', stringEnd);
    }
    if (index < stringEnd) continue;
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

/** Parses JSON. Integers are exact where `path` marks them as wide. */
export function decode<T = unknown>(text: string, path: DecodePath = 0): T {
  if (path === 0) return JSON.parse(text) as T;
  // Most texts have no long run of digits, so JSON.parse is exact.
  if (!/\d{16}/.test(text)) return convert(JSON.parse(text), path, '', false) as T;
  return convert(JSON.parse(marked(text)), path, '', true) as T;
}

function convert(value: unknown, shape: DecodePath, path: string, isMarked: boolean): unknown {
  if (typeof value === 'string' && isMarked && value.startsWith(mark)) {
    const digits = value.slice(mark.length);
    if (shape === 3) return digits;
    if (shape === 2) return BigInt(digits);
    const number = Number(digits);
    if (shape === 1 && !Number.isSafeInteger(number)) throw new UnsafeIntegerError(path, digits);
    return number;
  }
  if (typeof value === 'number')
    return shape === 2 ? BigInt(value) : shape === 3 ? String(value) : value;
  if (typeof value === 'string') return shape === 4 ? new Date(value) : value;
  if (typeof value !== 'object' || value === null || (shape === 0 && !isMarked)) return value;
  if (Array.isArray(value)) {
    const of = Array.isArray(shape) ? (shape[0] as DecodePath) : 0;
    for (let i = 0; i < value.length; i++)
      value[i] = convert(value[i], of, `${path}/${i}`, isMarked);
    return value;
  }
  const members = value as Record<string, unknown>;
  const pathOf = (name: string): DecodePath => {
    if (typeof shape !== 'object') return 0;
    if (Array.isArray(shape)) return shape[0] as DecodePath;
    return Object.hasOwn(shape, name) ? (shape as Record<string, DecodePath>)[name]! : 0;
  };
  for (const name of Object.keys(members)) {
    members[name] = convert(members[name], pathOf(name), `${path}/${name}`, isMarked);
  }
  return members;
}

/**
 * Prints values as JSON: bigint as its digits, typed arrays as lists. Fails PARAM_TYPE for values that
 * JSON does not have.
 */
export const encode = (input: object | undefined): string =>
  jsonText(input ?? {}, (path, param, got) => {
    const error = `\`${param}\` must be a JSON value, got ${got}.`;
    throw new TrellisError(
      { code: 'PARAM_TYPE', error, path, args: { param, type: 'a JSON value', got } },
      400,
    );
  });
