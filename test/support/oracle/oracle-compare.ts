// Equality and order of the oracle's values, by the letter of helixql.md 3.8 and 6.4.
import { Instant, Uuid } from '../../../engine/base/value.js';
import { isList, isNumber, Item, Rec, type Value } from './oracle-value.js';

/** numbers < Strings < Booleans < Dates < IDs < lists < records (6.4). */
function rank(value: Value): number {
  if (isNumber(value)) return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  if (value instanceof Instant) return 3;
  if (value instanceof Uuid || value instanceof Item) return 4;
  return isList(value) ? 5 : 6;
}

const idOf = (value: Value): string =>
  value instanceof Item ? value.element.uuid : (value as Uuid).text;

function compareLists(a: readonly Value[], b: readonly Value[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareWithNull(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareWithNull(a: Value, b: Value): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compare(a, b);
}

const sign = (isLess: boolean, isMore: boolean): number => (isLess ? -1 : isMore ? 1 : 0);

function compareText(a: string, b: string): number {
  return compareLists(
    Array.from(a, (character) => character.codePointAt(0)!),
    Array.from(b, (character) => character.codePointAt(0)!),
  );
}

/** Total order of values that are not null. JavaScript compares numbers and big integers exactly. */
export function compare(a: Value, b: Value): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (isNumber(a) && isNumber(b)) return sign(a < b, a > b);
  if (typeof a === 'string') return compareText(a, b as string);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  if (a instanceof Instant) {
    const other = b as Instant;
    return a.seconds - other.seconds || a.micros - other.micros;
  }
  if (isList(a)) return compareLists(a, b as readonly Value[]);
  if (a instanceof Rec || b instanceof Rec) return 0;
  return sign(idOf(a) < idOf(b), idOf(a) > idOf(b));
}

/** Null equals null only; values of different kinds are unequal. */
export function equal(a: Value, b: Value): boolean {
  if (a === null || b === null) return a === b;
  if (a instanceof Rec && b instanceof Rec) return equalRecords(a, b);
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((item, i) => equal(item, b[i]!));
  return rank(a) === rank(b) && rank(a) < 5 && compare(a, b) === 0;
}

function equalRecords(a: Rec, b: Rec): boolean {
  if (a.entries.length !== b.entries.length) return false;
  return a.entries.every(([name, value], i) => {
    const [other, otherValue] = b.entries[i]!;
    return name === other && equal(value, otherValue);
  });
}

/** Whether `a` stands in an order to `b`: never when one is null or they are of different kinds. */
export function ordered(a: Value, b: Value, holds: (order: number) => boolean): boolean {
  if (a === null || b === null || rank(a) !== rank(b) || rank(a) === 6) return false;
  return holds(compare(a, b));
}

/** A key of ORDER: a list counts as its first item; null is last in both directions. */
export function compareKeys(a: Value, b: Value, descending: boolean): number {
  const [x, y] = [a, b].map((key) => (isList(key) ? (key[0] ?? null) : key)) as [Value, Value];
  if (x === null || y === null) return compareWithNull(x, y);
  return descending ? -compare(x, y) : compare(x, y);
}

/** The nearest 32-bit float, as the shortest decimal that names it. */
export function single(value: number | bigint): number {
  const nearest = Math.fround(Number(value));
  if (!Number.isFinite(nearest)) return nearest;
  for (let digits = 1; digits < 9; digits++) {
    const shorter = Number(nearest.toPrecision(digits));
    if (Math.fround(shorter) === nearest) return shorter + 0;
  }
  return Number(nearest.toPrecision(9));
}

export function singles(value: Value): Value {
  if (isList(value)) return value.map(singles);
  return isNumber(value) ? Math.fround(Number(value)) : value;
}

/** Elements are the same by identity, everything else by value; null is a value here. */
export const same = (a: Value, b: Value): boolean =>
  a instanceof Item && b instanceof Item ? a.element === b.element : equal(a, b);

export const distinct = (rows: readonly Value[]): readonly Value[] =>
  rows.filter((row, i) => rows.findIndex((other) => same(other, row)) === i);
