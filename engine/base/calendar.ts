// Date arithmetic in UTC: the parts of an instant, the start of a unit, adding units, and counting
// complete units between two instants.
// Invariant: `unitsBetween` is the inverse of `addUnits`.
import { toCivil, countDays, toInstant, monthDays } from './date.js';
import { Instant } from './value.js';

const daySeconds = 86_400;

/** Units of a fixed length, in seconds. */
const lengths: Record<string, number> = {
  second: 1,
  minute: 60,
  hour: 3_600,
  day: daySeconds,
  week: 7 * daySeconds,
};

/** Units that last a whole number of months. */
const months: Record<string, number> = { month: 1, quarter: 3, year: 12 };

export const isUnit = (unit: string): boolean =>
  Object.hasOwn(lengths, unit) || Object.hasOwn(months, unit);

const dayOf = ({ seconds }: Instant): number => Math.floor(seconds / daySeconds);

export function splitInstant(instant: Instant) {
  const days = dayOf(instant);
  const hour = Math.floor((instant.seconds - days * daySeconds) / 3_600);
  return { ...toCivil(days), hour };
}

/** Returns the first instant of the unit that contains `instant`. Weeks begin on Monday. */
export function truncate(instant: Instant, unit: string): Instant {
  const days = dayOf(instant);
  const span = months[unit];
  if (span !== undefined) {
    const { year, month } = toCivil(days);
    const first = month - ((month - 1) % span);
    return new Instant(countDays(year, first, 1) * daySeconds, 0);
  }
  // 1970-01-01 was a Thursday. Years begin at 0001-01-01, a Monday.
  if (unit === 'week') {
    const weekday = (((days + 3) % 7) + 7) % 7;
    return new Instant((days - weekday) * daySeconds, 0);
  }
  const length = lengths[unit]!;
  return new Instant(Math.floor(instant.seconds / length) * length, 0);
}

/**
 * Adds `count` units. Month units keep the day of the month, or take the last day of a shorter
 * month. Returns undefined outside the years 1 to 9999.
 */
export function addUnits(instant: Instant, count: number | bigint, unit: string) {
  const n = Number(count);
  const { seconds, micros } = instant;
  const span = months[unit];
  if (span === undefined) return toInstant(seconds + n * lengths[unit]!, micros);
  const days = dayOf(instant);
  const { year, month, day } = toCivil(days);
  const index = year * 12 + (month - 1) + n * span;
  // The result would be outside the range of dates in any case.
  if (!(Math.abs(index) < 1e6)) return undefined;
  const [toYear, toMonth] = [Math.floor(index / 12), (((index % 12) + 12) % 12) + 1];
  const toDay = Math.min(day, monthDays(toYear, toMonth));
  const inDay = seconds - days * daySeconds;
  return toInstant(countDays(toYear, toMonth, toDay) * daySeconds + inDay, micros);
}

const isAfter = (a: Instant, b: Instant): boolean =>
  a.seconds > b.seconds || (a.seconds === b.seconds && a.micros > b.micros);

/**
 * Returns the largest number of units that can be added to `a` without passing `b`. It is negative
 * if `b` is earlier.
 */
export function unitsBetween(a: Instant, b: Instant, unit: string): number {
  const span = months[unit];
  if (span === undefined) {
    const micros = (b.micros - a.micros) / 1e6;
    const whole = b.seconds - a.seconds + (micros < 0 ? -1 : 0);
    // `whole` seconds plus a fraction of a second, counted from the earlier instant.
    const complete = isAfter(a, b) ? whole + (micros === 0 ? 0 : 1) : whole;
    return Math.trunc(complete / lengths[unit]!) + 0;
  }
  const [x, y] = [toCivil(dayOf(a)), toCivil(dayOf(b))];
  const apart = (y.year - x.year) * 12 + (y.month - x.month);
  const backwards = isAfter(a, b);
  // The distance in calendar months exceeds the result by at most one unit.
  const n = Math.trunc(apart / span);
  const reached = addUnits(a, n, unit)!;
  const passes = backwards ? isAfter(b, reached) : isAfter(reached, b);
  return (passes ? n - (backwards ? -1 : 1) : n) + 0;
}
