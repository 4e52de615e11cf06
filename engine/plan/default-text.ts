// What callers are told of the defaults of a query's parameters.
import { jsonOf } from '../base/scalar-json.js';
import type { Parameter } from './plan.js';

/** Names to JSON texts, so that numbers of any width stay exact; `NOW` is the request's instant. */
export function defaultTexts(parameters: readonly Parameter[]): Record<string, string> | undefined {
  const given = parameters.flatMap(({ name, default: value }) => {
    if (value === undefined) return [];
    return [[name, value.kind === 'now' ? 'NOW' : jsonOf(value.value)] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
