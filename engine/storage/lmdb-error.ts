// What LMDB's own errors mean to us.
import { TrellisError } from '../base/errors.js';

/**
 * Codes by which LMDB says that a page is not what it must be, or that it has given up after such a
 * page: PAGE_NOTFOUND, CORRUPTED, PANIC, VERSION_MISMATCH, INVALID, CURSOR_FULL, PAGE_FULL,
 * INCOMPATIBLE, BAD_TXN, BAD_VALSIZE, PROBLEM.
 */
const damageCodes: ReadonlySet<unknown> = new Set([
  -30797, -30796, -30795, -30794, -30793, -30787, -30786, -30784, -30782, -30781, -30779,
]);

/** An error of LMDB as it leaves the environment: DATA_CORRUPT where the file is to blame. */
export function asDamage(error: unknown, place: string): unknown {
  const { code, message } = error as { code?: unknown; message?: string };
  if (!damageCodes.has(code)) return error;
  return new TrellisError({ code: 'DATA_CORRUPT', args: { what: `${place}: ${message}` } });
}
