// Parses and prints dates. The parser is a strict reader of RFC 3339; Date.parse is not used,
// because it accepts 30 February. Days are counted with days_from_civil and civil_from_days of H.
// Hinnant, "chrono-compatible low-level date algorithms".
import { Instant } from './value.js';

const pattern = new RegExp(
  '^(\\d{4})-(\\d{2})-(\\d{2})' +
    '(?:[Tt](\\d{2}):(\\d{2}):(\\d{2})(?:\\.(\\d{1,9}))?(?:[Zz]|([+-])(\\d{2}):(\\d{2})))?$',
);

const secondsMin = -62_135_596_800;
const secondsMax = 253_402_300_799;

/**
 * Returns the days from 1970-01-01 to a day of the proleptic Gregorian calendar. `month` is 1 to
 * 12.
 */
export function countDays(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const leaps = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  return era * 146_097 + yearOfEra * 365 + leaps + dayOfYear - 719_468;
}

export function monthDays(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/**
 * Returns the instant of an RFC 3339 text with offset, or of a date without time (midnight UTC).
 * Returns undefined for any other text.
 */
export function parseDate(text: string): Instant | undefined {
  if (text.length > 40) return undefined;
  const match = pattern.exec(text);
  if (!match) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > monthDays(year, month))
    return undefined;
  let seconds = countDays(year, month, day) * 86_400;
  if (match[4] === undefined) return new Instant(seconds, 0);
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6])];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  seconds += hour * 3600 + minute * 60 + second;
  if (match[8] !== undefined) {
    const [offsetHour, offsetMinute] = [Number(match[9]), Number(match[10])];
    if (offsetHour > 23 || offsetMinute > 59) return undefined;
    seconds -= (match[8] === '-' ? -1 : 1) * (offsetHour * 3600 + offsetMinute * 60);
  }
  const micros = Number((match[7] ?? '').padEnd(6, '0').slice(0, 6));
  return toInstant(seconds, micros);
}

/** Returns the instant of Unix time in seconds, or undefined outside the years 1 to 9999. */
export function toInstant(seconds: number, micros = 0): Instant | undefined {
  if (!Number.isInteger(seconds) || seconds < secondsMin || seconds > secondsMax) return undefined;
  return new Instant(seconds, micros);
}

/** Returns the instant of Unix time in microseconds. */
export function instantFromMicros(nowMicros: number): Instant {
  const seconds = Math.floor(nowMicros / 1e6);
  return new Instant(seconds, Math.floor(nowMicros - seconds * 1e6));
}

export interface Civil {
  year: number;
  month: number;
  day: number;
}

/** Returns the calendar day that is `days` days after 1970-01-01. */
export function toCivil(days: number): Civil {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

const two = (value: number): string => (value < 10 ? `0${value}` : `${value}`);

/**
 * Returns the text of an instant, for example `2026-03-01T08:00:00+00:00`, with 0, 3 or 6 fraction
 * digits.
 */
export function printDate(instant: Instant): string {
  const days = Math.floor(instant.seconds / 86_400);
  const inDay = instant.seconds - days * 86_400;
  const { year, month, day } = toCivil(days);
  const clock = `${two(Math.floor(inDay / 3600))}:${two(Math.floor(inDay / 60) % 60)}:${two(inDay % 60)}`;
  const { micros } = instant;
  const fraction =
    micros === 0
      ? ''
      : micros % 1000 === 0
        ? `.${String(micros / 1000).padStart(3, '0')}`
        : `.${String(micros).padStart(6, '0')}`;
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${clock}${fraction}+00:00`;
}
