// Assertions for defects of our own. No user input may trigger one: bad input is a TrellisError.

/** Thrown when an invariant of the program itself does not hold. */
export class DefectError extends Error {
  override readonly name = 'DefectError';
}

/** Throws unless `condition` holds; `what` says which invariant broke. */
export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new DefectError(what);
}

/** Closes a switch over a discriminated union: compiles only when every kind is handled. */
export function unreachable(value: never): never {
  throw new DefectError(`unreachable: ${JSON.stringify(value)}`);
}
