// Scalar values in memory, and the only definition of their equality and order.
//
//   String, Boolean      string, boolean
//   integers             number when |n| <= 2^53 - 1, else bigint: exact at every width
//   F32, F64             number, always finite; an F32 is the shortest decimal that names it
//   Date                 Instant     (microseconds are separate: together they do not fit 2^53)
//   ID                   Uuid        (canonical lower-case text)
//   Json                 Json        (text without white space)
//   list                 array of values, or Float64Array for [F64]
//   null                 null
//
// The checker knows statically whether a number is an integer or a float, so a value does not carry
// this information.

import type { Json } from './text/json.js';

/** A point in time: whole seconds since 1970 (floor) and 0..999_999 microseconds. */
export class Instant {
  constructor(
    readonly seconds: number,
    readonly micros: number,
  ) {}
}

/** The external id of an element: 36 characters, lower case, with hyphens. */
export class Uuid {
  constructor(readonly text: string) {}
}

export type Scalar = null | boolean | number | bigint | string | Instant | Uuid | Json;
export type ScalarList = readonly (Scalar | ScalarList)[] | Float64Array;

/**
 * Returns the rank of a value's kind, which orders values of different kinds: numbers, then
 * strings, and others last.
 */
export function kindRank(value: unknown): number {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return 0;
    case 'string':
      return 1;
    case 'boolean':
      return 2;
    default:
      if (value instanceof Instant) return 3;
      if (value instanceof Uuid) return 4;
      return isList(value) ? 5 : 6;
  }
}

export function isList(value: unknown): value is ScalarList {
  return Array.isArray(value) || value instanceof Float64Array;
}

/**
 * Compares by Unicode code point; returns a negative number, zero or a positive number. UTF-16
 * order differs above the surrogates.
 */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // A surrogate is half of a code point above every BMP character.
    const xHigh = x >= 0xd800 && x <= 0xdfff;
    const yHigh = y >= 0xd800 && y <= 0xdfff;
    if (xHigh !== yHigh) return xHigh ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}

/** Counts the steps of a comparison. Lists may contain the same list many times. */
interface Steps {
  tick(count: number): void;
}

/**
 * Total order of non-null scalars and lists: by value within a kind, by `kindRank` across kinds.
 * Numbers are compared exactly, also an integer with a float.
 */
export function compareValues(a: unknown, b: unknown, steps?: Steps): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0;
  const rank = kindRank(a);
  const other = kindRank(b);
  if (rank !== other) return rank - other;
  switch (rank) {
    case 0:
      return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
    case 1:
      return compareText(a as string, b as string);
    case 2:
      return Number(a) - Number(b);
    case 3: {
      const x = a as Instant;
      const y = b as Instant;
      return x.seconds - y.seconds || x.micros - y.micros;
    }
    case 4:
      return compareText((a as Uuid).text, (b as Uuid).text);
    case 5:
      return compareLists(a as ScalarList, b as ScalarList, steps);
    default:
      return 0;
  }
}

function compareLists(a: ScalarList, b: ScalarList, steps?: Steps): number {
  const length = Math.min(a.length, b.length);
  steps?.tick(length);
  for (let i = 0; i < length; i++) {
    const x = a[i];
    const y = b[i];
    if (x === null || y === null) {
      if (x !== y) return x === null ? 1 : -1;
      continue;
    }
    const order = compareValues(x, y, steps);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Returns true if two non-null values are equal. Values of different kinds are unequal. */
export function equalValues(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  return kindRank(a) === kindRank(b) && kindRank(a) < 6 && compareValues(a, b) === 0;
}
