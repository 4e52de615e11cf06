// Functions of the oracle: branches, texts as lists of code points, dates by JavaScript's own
// calendar.
import { TrellisError, fail } from '../../../../engine/base/errors.js';
import { printDate } from '../../../../engine/base/date.js';
import { Instant, Uuid } from '../../../../engine/base/value.js';
import type { Expression } from '../../../../engine/plan/expression.js';
import type { Run } from '../oracle-run.js';
import { Item, isList, type Value } from '../oracle-value.js';

type Kind<K extends Expression['kind']> = Extract<Expression, { kind: K }>;
export type FunctionCall = Kind<'if' | 'coalesce' | 'text' | 'date'>;

export function callFunction(run: Run, call: FunctionCall): Value {
  if (call.kind === 'if') {
    return run.value(run.value(call.condition) === true ? call.value : call.otherwise);
  }
  if (call.kind === 'coalesce') {
    for (const each of call.of) {
      const value = found(run, each);
      if (value !== null) return value;
    }
    return null;
  }
  const args: Value[] = [];
  for (const each of call.of) {
    const value = run.value(each);
    if (value === null) return null;
    args.push(value);
  }
  return call.kind === 'text' ? textOf(call.function, args) : dateOf(call.function, args);
}

/** What is missing inside is null. */
function found(run: Run, expression: Expression): Value {
  try {
    return run.value(expression);
  } catch (error) {
    const isMiss = error instanceof TrellisError && /^NO_(VALUE_FOUND|PATH)$/.test(error.code);
    if (isMiss) return null;
    throw error;
  }
}

const characters = (value: Value): string[] => [...(value as string)];

function textOf(name: Kind<'text'>['function'], args: readonly Value[]): Value {
  const [text, a, b] = args as readonly [string, Value, Value];
  switch (name) {
    case 'LOWER':
      return text.toLowerCase();
    case 'UPPER':
      return text.toUpperCase();
    case 'TRIM':
      return text.replace(/^\s+/u, '').replace(/\s+$/u, '');
    case 'LENGTH':
      return characters(text).length;
    case 'CONCAT':
      return args.map(plainText).join('');
    case 'SUBSTRING':
      return substring(text, a, b);
    case 'REPLACE':
      return a === '' ? text : text.split(a as string).join(b as string);
    case 'GET':
      throw new Error('the oracle has no Json');
    case 'SPLIT':
      return a === ''
        ? fail('PARAM_VALUE', { param: name, allowed: 'a separator', got: '' })
        : text.split(a as string);
  }
}

function substring(text: string, start: Value, end: Value | undefined): Value {
  for (const bound of [start, end ?? 0])
    if ((bound as number) < 0)
      fail('PARAM_RANGE', { param: 'SUBSTRING', min: 0, max: Infinity, got: bound as number });
  return characters(text)
    .filter((_, i) => i >= (start as number) && (end === undefined || i < (end as number)))
    .join('');
}

function plainText(value: Value): string {
  if (value instanceof Instant) return printDate(value);
  if (value instanceof Uuid) return value.text;
  if (value instanceof Item) return value.element.uuid;
  return String(isList(value) ? fail('PARAM_TYPE', { param: '', type: '', got: '' }) : value);
}

const units = 'year quarter month week day hour minute second'.split(' ');

function dateOf(name: Kind<'date'>['function'], args: readonly Value[]): Value {
  const at = args[0] as Instant;
  const unit = args.at(-1) as string;
  const date = new Date(at.seconds * 1000);
  if (/^(TRUNC|DATE)/.test(name) && !units.includes(unit))
    fail('PARAM_VALUE', { param: 'unit', allowed: units.join(), got: unit });
  switch (name) {
    case 'YEAR':
      return date.getUTCFullYear();
    case 'MONTH':
      return date.getUTCMonth() + 1;
    case 'DAY':
      return date.getUTCDate();
    case 'HOUR':
      return date.getUTCHours();
    case 'TRUNC':
      return beginning(date, unit);
    case 'DATE_ADD': {
      const sum = later(at, Number(args[1]), unit);
      return sum ?? fail('ARITHMETIC', { operation: name, what: 'out of range' });
    }
    case 'DATE_DIFF':
      return between(at, args[1] as Instant, unit);
  }
}

/** Sets the smaller parts of a date to their first values. */
function beginning(date: Date, unit: string): Instant {
  const copy = new Date(date);
  const rank = units.indexOf(unit);
  if (rank <= 6) copy.setUTCSeconds(0);
  if (rank <= 5) copy.setUTCMinutes(0);
  if (rank <= 4) copy.setUTCHours(0);
  if (unit === 'week') copy.setUTCDate(copy.getUTCDate() - ((copy.getUTCDay() + 6) % 7));
  if (rank <= 2) copy.setUTCDate(1);
  if (unit === 'quarter') copy.setUTCMonth(copy.getUTCMonth() - (copy.getUTCMonth() % 3));
  if (unit === 'year') copy.setUTCMonth(0);
  return new Instant(copy.getTime() / 1000, 0);
}

const steps: Record<string, number> = { week: 604_800, day: 86_400, hour: 3_600, minute: 60 };
const [earliest, latest] = [Date.parse('0001-01-01'), Date.parse('9999-12-31T23:59:59.999Z')];

function later({ seconds, micros }: Instant, count: number, unit: string): Instant | undefined {
  const months = { year: 12, quarter: 3, month: 1 }[unit];
  const moved = new Date(seconds * 1000);
  if (months === undefined) moved.setTime((seconds + count * (steps[unit] ?? 1)) * 1000);
  else {
    const day = moved.getUTCDate();
    moved.setUTCDate(1);
    moved.setUTCMonth(moved.getUTCMonth() + count * months);
    const last = new Date(moved);
    last.setUTCMonth(last.getUTCMonth() + 1);
    last.setUTCDate(0);
    moved.setUTCDate(Math.min(day, last.getUTCDate()));
  }
  const time = moved.getTime();
  return time >= earliest && time <= latest ? new Instant(time / 1000, micros) : undefined;
}

const micros = (at: Instant): bigint => BigInt(at.seconds) * 1_000_000n + BigInt(at.micros);

/** Tries counts by halving: adding more never leads back. */
function between(a: Instant, b: Instant, unit: string): Value {
  const back = micros(b) < micros(a);
  const sign = back ? -1 : 1;
  const reaches = (count: number): boolean => {
    const sum = later(a, sign * count, unit);
    if (sum === undefined) return false;
    return back ? micros(sum) >= micros(b) : micros(sum) <= micros(b);
  };
  let [low, high] = [0, 400_000_000_000];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (reaches(middle)) low = middle;
    else high = middle;
  }
  return low === 0 ? 0 : sign * low;
}
