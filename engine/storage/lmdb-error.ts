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

/**
 * After a commit whose last page the disk did not take LMDB begins no transaction any more, in no
 * thread that shares the environment, and gives this error another's number.
 */
const isPanic = (message: string | undefined): boolean => message?.includes('MDB_PANIC') === true;

/**
 * An error of LMDB as it leaves the environment: DATA_CORRUPT where the file is to blame,
 * STORAGE_LOST where nothing can be read before a restart.
 */
export function asDamage(error: unknown, place: string): unknown {
  const { code, message } = error as { code?: unknown; message?: string };
  if (isPanic(message)) {
    const what = 'the disk did not take the end of a commit; a restart reads what was there before';
    return new TrellisError({ code: 'STORAGE_LOST', args: { what } });
  }
  if (!damageCodes.has(code)) return error;
  return new TrellisError({ code: 'DATA_CORRUPT', args: { what: `${place}: ${message}` } });
}
