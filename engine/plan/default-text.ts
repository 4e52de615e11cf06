// Prints the defaults of a query's parameters, and of the members of object parameters, for
// callers.
import { printDate } from '../base/date.js';
import type { ParameterDefault } from '../base/schema.js';
import { Instant, isList, type Scalar, type ScalarList, Uuid } from '../base/value.js';

/** A parameter or a member of one. */
interface HasDefault {
  name: string;
  optional: boolean;
  default?: ParameterDefault;
}

/**
 * Returns the defaults as JSON texts by name, so that numbers of any width stay exact. `NOW` is the
 * instant of the request. Returns undefined if there are none.
 */
export function defaultTexts(
  parameters: readonly HasDefault[],
): Record<string, string> | undefined {
  const texts = parameters.flatMap(({ name, default: value }) => {
    if (value === undefined) return [];
    return [[name, value.kind === 'now' ? 'NOW' : printJson(value.value)] as const];
  });
  return texts.length === 0 ? undefined : Object.fromEntries(texts);
}

function printJson(value: Scalar | ScalarList): string {
  if (isList(value)) return `[${Array.from(value as Iterable<Scalar>, printJson).join(',')}]`;
  if (value instanceof Instant) return JSON.stringify(printDate(value));
  if (value instanceof Uuid) return JSON.stringify(value.text);
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}

/** Returns true if a call may omit the parameter or send null. */
export const mayBeAbsent = (parameter: HasDefault): boolean =>
  parameter.optional || parameter.default !== undefined;
