// Assertions about the program itself. User input must never trigger one: invalid input throws a
// TrellisError.

/** Thrown when an invariant of the program itself does not hold. */
export class DefectError extends Error {
  override readonly name = 'DefectError';
}

/** Throws a DefectError unless `condition` is true; `what` names the broken invariant. */
export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new DefectError(what);
}

/** Closes a switch over a discriminated union: compiles only when every kind is handled. */
export function unreachable(value: never): never {
  throw new DefectError(`unreachable: ${JSON.stringify(value)}`);
}
