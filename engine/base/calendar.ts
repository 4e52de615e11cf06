// Arithmetic with dates, in UTC: the parts of an instant, the beginning of a unit of time, so many
// units later, complete units between. Invariant: `unitsBetween` undoes `addUnits`.
import { civilOf, daysOf, instantOf, monthDays } from './date.js';
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

/** Units of so many months. */
const months: Record<string, number> = { month: 1, quarter: 3, year: 12 };

export const isUnit = (unit: string): boolean =>
  Object.hasOwn(lengths, unit) || Object.hasOwn(months, unit);

const dayOf = ({ seconds }: Instant): number => Math.floor(seconds / daySeconds);

export function partsOf(instant: Instant) {
  const days = dayOf(instant);
  const hour = Math.floor((instant.seconds - days * daySeconds) / 3_600);
  return { ...civilOf(days), hour };
}

/** The first instant of the unit that holds the instant; weeks begin on Monday. */
export function truncate(instant: Instant, unit: string): Instant {
  const days = dayOf(instant);
  const span = months[unit];
  if (span !== undefined) {
    const { year, month } = civilOf(days);
    const first = month - ((month - 1) % span);
    return new Instant(daysOf(year, first, 1) * daySeconds, 0);
  }
  // 1970-01-01 was a Thursday. Years begin at 0001-01-01, a Monday.
  if (unit === 'week') {
    const weekday = (((days + 3) % 7) + 7) % 7;
    return new Instant((days - weekday) * daySeconds, 0);
  }
  const length = lengths[unit]!;
  return new Instant(Math.floor(instant.seconds / length) * length, 0);
}

/** Months keep the day of the month, cut to the last one; undefined outside the years 1 to 9999. */
export function addUnits(instant: Instant, count: number | bigint, unit: string) {
  const n = Number(count);
  const { seconds, micros } = instant;
  const span = months[unit];
  if (span === undefined) return instantOf(seconds + n * lengths[unit]!, micros);
  const days = dayOf(instant);
  const { year, month, day } = civilOf(days);
  const index = year * 12 + (month - 1) + n * span;
  // Beyond all dates anyway.
  if (!(Math.abs(index) < 1e6)) return undefined;
  const [toYear, toMonth] = [Math.floor(index / 12), (((index % 12) + 12) % 12) + 1];
  const toDay = Math.min(day, monthDays(toYear, toMonth));
  const inDay = seconds - days * daySeconds;
  return instantOf(daysOf(toYear, toMonth, toDay) * daySeconds + inDay, micros);
}

const isAfter = (a: Instant, b: Instant): boolean =>
  a.seconds > b.seconds || (a.seconds === b.seconds && a.micros > b.micros);

/** The most units that lead from a towards b without passing it; negative when b comes first. */
export function unitsBetween(a: Instant, b: Instant, unit: string): number {
  const span = months[unit];
  if (span === undefined) {
    const micros = (b.micros - a.micros) / 1e6;
    const whole = b.seconds - a.seconds + (micros < 0 ? -1 : 0);
    // `whole` seconds and a part of one more, counted from the earlier of the two.
    const complete = isAfter(a, b) ? whole + (micros === 0 ? 0 : 1) : whole;
    return Math.trunc(complete / lengths[unit]!) + 0;
  }
  const [x, y] = [civilOf(dayOf(a)), civilOf(dayOf(b))];
  const apart = (y.year - x.year) * 12 + (y.month - x.month);
  const backwards = isAfter(a, b);
  // The calendar months apart are at most one unit too many.
  const n = Math.trunc(apart / span);
  const reached = addUnits(a, n, unit)!;
  const passes = backwards ? isAfter(b, reached) : isAfter(reached, b);
  return (passes ? n - (backwards ? -1 : 1) : n) + 0;
}
