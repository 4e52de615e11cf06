// What callers are told of the defaults of a query's parameters.
import { printDate } from '../base/date.js';
import { Instant, isList, type Scalar, type ScalarList, Uuid } from '../base/value.js';
import type { Parameter } from './plan.js';

/** Names to JSON texts, so that numbers of any width stay exact; `NOW` is the request's instant. */
export function defaultTexts(parameters: readonly Parameter[]): Record<string, string> | undefined {
  const given = parameters.flatMap(({ name, default: value }) => {
    if (value === undefined) return [];
    return [[name, value.kind === 'now' ? 'NOW' : jsonOf(value.value)] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

function jsonOf(value: Scalar | ScalarList): string {
  if (isList(value)) return `[${Array.from(value as Iterable<Scalar>, jsonOf).join(',')}]`;
  if (value instanceof Instant) return JSON.stringify(printDate(value));
  if (value instanceof Uuid) return JSON.stringify(value.text);
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}

/** Whether a call may leave the parameter out, or send null. */
export const mayBeAbsent = (parameter: Parameter): boolean =>
  parameter.optional || parameter.default !== undefined;
