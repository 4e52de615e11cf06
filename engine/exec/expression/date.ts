// Functions of dates, in UTC. A null argument makes the result null.
import { addUnits, isUnit, splitInstant, truncate, unitsBetween } from '../../base/calendar.js';
import { excerpt, fail } from '../../base/errors.js';
import { Instant } from '../../base/value.js';
import type { Expression } from '../../plan/expression.js';
import type { DateFunction } from '../../plan/function-name.js';
import type { Builder } from '../runtime/build-context.js';
import { withOperands } from './operand.js';
import type { Evaluate } from '../runtime/compiled.js';
import type { Value } from '../runtime/value.js';
import { arithmetic } from './math.js';

type Apply = (args: readonly Value[]) => Value;

function instantOf(value: Value): Instant {
  if (value instanceof Instant) return value;
  return fail('PARAM_TYPE', { param: 'date', type: 'Date', got: typeof value });
}

const allowed = '"year", "quarter", "month", "week", "day", "hour", "minute" or "second"';

function unitOf(value: Value): string {
  if (typeof value === 'string' && isUnit(value)) return value;
  return fail('PARAM_VALUE', { param: 'unit', allowed, got: excerpt(JSON.stringify(value)) });
}

function integerOf(value: Value): number | bigint {
  if (typeof value === 'bigint' || Number.isInteger(value)) return value as number | bigint;
  return fail('PARAM_TYPE', { param: 'count', type: 'an integer', got: typeof value });
}

const functions: Record<DateFunction, Apply> = {
  YEAR: ([date]) => splitInstant(instantOf(date!)).year,
  MONTH: ([date]) => splitInstant(instantOf(date!)).month,
  DAY: ([date]) => splitInstant(instantOf(date!)).day,
  HOUR: ([date]) => splitInstant(instantOf(date!)).hour,
  TRUNC: ([date, unit]) => truncate(instantOf(date!), unitOf(unit!)),
  DATE_ADD: ([date, count, unit]) => {
    const sum = addUnits(instantOf(date!), integerOf(count!), unitOf(unit!));
    return sum ?? arithmetic('DATE_ADD', 'a date outside the years 0001 to 9999');
  },
  DATE_DIFF: ([a, b, unit]) => unitsBetween(instantOf(a!), instantOf(b!), unitOf(unit!)),
};

export function buildDate(
  builder: Builder,
  { function: name, of }: Extract<Expression, { kind: 'date' }>,
): Evaluate {
  const apply = functions[name];
  return withOperands(builder, of, (_frame, args) => apply(args));
}
