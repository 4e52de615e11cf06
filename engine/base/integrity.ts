// Checks that one part of the stored data agrees with another. A disagreement is damage, not a
// defect of the program: the reader fails with DATA_CORRUPT and returns no wrong result.
import { fail } from './errors.js';

/** Fails DATA_CORRUPT unless `condition` holds; `what` says what is missing or does not match. */
export function checkIntegrity(condition: unknown, what: string): asserts condition {
  if (!condition) fail('DATA_CORRUPT', { what });
}
