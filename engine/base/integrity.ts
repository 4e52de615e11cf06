// What one part of the stored data promises about another. A promise that does not hold is damage, not
// a defect of the program: whoever reads it hears DATA_CORRUPT instead of an answer that is wrong.
import { fail } from './errors.js';

/** Fails DATA_CORRUPT unless `condition` holds; `what` says what is missing or does not match. */
export function checkIntegrity(condition: unknown, what: string): asserts condition {
  if (!condition) fail('DATA_CORRUPT', { what });
}
