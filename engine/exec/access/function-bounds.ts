// Converts bounds of a function of a property into bounds of its index: prefixes of a string, the year of a
// date, the first instant of a time unit. These functions are monotonic, so the values that satisfy a
// comparison lie between two values of the property.
import { addUnits, truncate } from '../../base/calendar.js';
import { countDays, toInstant } from '../../base/date.js';
import { compareValues, Instant, type Scalar } from '../../base/value.js';
import type { Value } from '../runtime/value.js';

export type Edge = { value: Scalar; inclusive: boolean };

/**
 * `open`: every value satisfies the bound. `nothing`: no value does. Undefined: the type cannot express the
 * bound.
 */
export type Found = Edge | 'open' | 'nothing' | undefined;

type End = 'low' | 'high';

/** With `equal`, null equals null, and null is in no index. */
export function partEdge(
  part: string,
  value: Value,
  end: End,
  inclusive: boolean,
  equal: boolean,
): Found {
  if (part === 'beginning') return textEdge(value, end);
  if (value === null) return equal ? undefined : 'nothing';
  const first =
    part === 'YEAR' ? yearFrom(value, end, inclusive) : unitFrom(part, value, end, inclusive);
  if (typeof first === 'string') return first;
  return { value: first, inclusive: end === 'low' };
}

/** Strings with a prefix lie between the prefix and the first string after all of them. */
function textEdge(value: Value, end: End): Found {
  if (typeof value !== 'string') return 'nothing';
  // A lone surrogate is half a character: strings that start with it are not contiguous.
  if (/\p{Cs}/u.test(value)) return undefined;
  if (end === 'low') return { value, inclusive: true };
  const after = textAfterPrefix(value);
  return after === undefined ? 'open' : { value: after, inclusive: false };
}

function textAfterPrefix(beginning: string): string | undefined {
  const characters = Array.from(beginning);
  for (;;) {
    const last = characters.pop();
    if (last === undefined) return undefined;
    const point = last.codePointAt(0)!;
    if (point === 0x10ffff) continue;
    // Skip the surrogates, which are no characters.
    const next = point === 0xd7ff ? 0xe000 : point + 1;
    return characters.join('') + String.fromCodePoint(next);
  }
}

/** Returns the beginning of the first year inside the bound, or of the first year outside it. */
function yearFrom(value: Value, end: End, inclusive: boolean): Instant | 'open' | 'nothing' {
  if (typeof value !== 'number' && typeof value !== 'bigint') return 'nothing';
  const number = Number(value);
  const isAfter = (end === 'low') !== inclusive;
  const year = isAfter ? Math.floor(number) + 1 : Math.ceil(number);
  if (year <= 1) return end === 'low' ? 'open' : 'nothing';
  if (year > 9999) return end === 'low' ? 'nothing' : 'open';
  return toInstant(countDays(year, 1, 1) * 86_400)!;
}

/** Returns the same for another time unit. */
function unitFrom(
  unit: string,
  value: Value,
  end: End,
  inclusive: boolean,
): Instant | 'open' | 'nothing' {
  if (!(value instanceof Instant)) return 'nothing';
  const begin = truncate(value, unit);
  const isWhole = compareValues(begin, value) === 0;
  const isAfter = (end === 'low') !== inclusive;
  if (isWhole && !isAfter) return begin;
  return addUnits(begin, 1, unit) ?? (end === 'low' ? 'nothing' : 'open');
}
