// What LMDB's own errors mean to us.
import type { RootDatabase } from 'lmdb';
import { TrellisError } from '../../base/errors.js';

/**
 * Codes by which LMDB says that a page is not what it must be: PAGE_NOTFOUND, CORRUPTED,
 * VERSION_MISMATCH, INVALID, CURSOR_FULL, PAGE_FULL, INCOMPATIBLE, BAD_TXN, BAD_VALSIZE, PROBLEM.
 */
const damageCodes: ReadonlySet<unknown> = new Set([
  -30797, -30796, -30794, -30793, -30787, -30786, -30784, -30782, -30781, -30779,
]);

/**
 * PANIC: a meta page could not be written. From then on LMDB refuses reads, too, until nobody in the
 * process has the file open.
 */
const panicCode = -30795;
/** Reads say it with the code of an invalid argument. */
const saysPanic = /\bMDB_PANIC\b/;

/** Whether LMDB has given up on the file. */
export function isPanic(root: RootDatabase): boolean {
  try {
    root.resetReadTxn();
    root.getStats();
    return false;
  } catch {
    return true;
  }
}

/**
 * An error of LMDB as it leaves the environment: DATA_CORRUPT where the file is to blame, NOT_READY
 * until the file is open again.
 */
export function asCorruption(error: unknown, place: string): unknown {
  const { code, message } = error as { code?: unknown; message?: string };
  if (code === panicCode || saysPanic.test(message ?? '')) {
    const args = { phase: 'opening the data file again', progress: 0 };
    return new TrellisError({ code: 'NOT_READY', args });
  }
  if (!damageCodes.has(code)) return error;
  return new TrellisError({ code: 'DATA_CORRUPT', args: { what: `${place}: ${message}` } });
}
