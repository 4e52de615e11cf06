// Parses dates in CSV cells. A cell that has only digits can be a day, seconds or milliseconds:
// `--date-format` decides, and nothing is guessed.
import { excerpt, fail } from '../../engine/internal.js';

/**
 * Returns the date of a cell as RFC 3339, or undefined if it is none; then `allowed` describes the
 * expected format.
 */
export type ReadDate = (cell: string) => { date?: string | undefined; allowed: string };

/** Default format: dates as in requests, but not digits alone. */
export const plainDate: ReadDate = (cell) => ({
  date: /^[+-]?\d+(\.\d*)?$/.test(cell) ? undefined : cell,
  allowed: 'a date that says what its digits are (--date-format)',
});

const parts: Record<string, string> = {
  YYYY: '(?<year>\\d{4})',
  MM: '(?<month>\\d{1,2})',
  DD: '(?<day>\\d{1,2})',
  hh: '(?<hour>\\d{1,2})',
  mm: '(?<minute>\\d{1,2})',
  ss: '(?<second>\\d{1,2})',
  SSS: '(?<millisecond>\\d{3})',
};

/** Returns the parser of a date format. Fails CONFIG_INVALID. */
export function dateReader(format: string): ReadDate {
  const allowed = `a date as ${excerpt(format)}`;
  const scale = { unix: 1000, 'unix-ms': 1 }[format];
  if (scale !== undefined) return (cell) => ({ date: instantOf(cell, scale), allowed });
  const pattern = patternOf(format);
  return (cell) => ({ date: dateOf(pattern.exec(cell)?.groups), allowed });
}

function patternOf(format: string): RegExp {
  const used = new Set<string>();
  const isPacked = /[A-Za-z]{6}/.test(format);
  const source = format.replace(/YYYY|MM|DD|hh|mm|SSS|ss|[^A-Za-z]|./gs, (part) => {
    if (used.has(part) && part in parts) refuse(format);
    used.add(part);
    // Parts without a separator between them must have all their digits.
    const known = parts[part];
    if (known !== undefined) return isPacked ? known.replace('{1,2}', '{2}') : known;
    if (/[A-Za-z]/.test(part) && part !== 'T' && part !== 'Z') refuse(format);
    return part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  });
  if (!['YYYY', 'MM', 'DD'].every((part) => used.has(part))) refuse(format);
  return new RegExp(`^${source}$`);
}

function refuse(format: string): never {
  const hint = 'Write it with YYYY MM DD hh mm ss SSS, as DD.MM.YYYY, or say unix or unix-ms.';
  fail('CONFIG_INVALID', { what: `--date-format ${excerpt(format)} is no format.` }, { hint });
}

function instantOf(cell: string, scale: number): string | undefined {
  const date = new Date(/^-?\d+$/.test(cell) ? Number(cell) * scale : Number.NaN);
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? date.toISOString() : undefined;
}

/** The load refuses a date that is not in the calendar. */
function dateOf(found: Record<string, string | undefined> | undefined): string | undefined {
  if (found === undefined) return undefined;
  const two = (part: string): string => (found[part] ?? '0').padStart(2, '0');
  const day = `${found.year}-${two('month')}-${two('day')}`;
  if (found.hour === undefined) return day;
  const fraction = found.millisecond === undefined ? '' : `.${found.millisecond}`;
  return `${day}T${two('hour')}:${two('minute')}:${two('second')}${fraction}Z`;
}
