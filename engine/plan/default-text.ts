// Prints the defaults of a query's parameters, and of the members of object parameters, for
// callers.
import { printDate } from '../base/date.js';
import type { GivenDefault } from '../base/schema.js';
import { Instant, isList, type Scalar, type ScalarList, Uuid } from '../base/value.js';

/** A parameter or a member of one. */
interface Given {
  name: string;
  optional: boolean;
  default?: GivenDefault;
}

/**
 * Returns the defaults as JSON texts by name, so that numbers of any width stay exact. `NOW` is the
 * instant of the request. Returns undefined if there are none.
 */
export function defaultTexts(parameters: readonly Given[]): Record<string, string> | undefined {
  const given = parameters.flatMap(({ name, default: value }) => {
    if (value === undefined) return [];
    return [[name, value.kind === 'now' ? 'NOW' : printJson(value.value)] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

function printJson(value: Scalar | ScalarList): string {
  if (isList(value)) return `[${Array.from(value as Iterable<Scalar>, printJson).join(',')}]`;
  if (value instanceof Instant) return JSON.stringify(printDate(value));
  if (value instanceof Uuid) return JSON.stringify(value.text);
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}

/** Returns true if a call may omit the parameter or send null. */
export const mayBeAbsent = (given: Given): boolean => given.optional || given.default !== undefined;
