// Converts LMDB's errors to errors of the catalogue.
import type { RootDatabase } from 'lmdb';
import { TrellisError } from '../../base/errors.js';

/**
 * Codes by which LMDB reports a damaged page: PAGE_NOTFOUND, CORRUPTED, VERSION_MISMATCH, INVALID,
 * CURSOR_FULL, PAGE_FULL, INCOMPATIBLE, BAD_TXN, BAD_VALSIZE, PROBLEM.
 */
const damageCodes: ReadonlySet<unknown> = new Set([
  -30797, -30796, -30794, -30793, -30787, -30786, -30784, -30782, -30781, -30779,
]);

/**
 * PANIC: LMDB could not write a meta page. It then refuses reads too, until all threads of the process have
 * closed the file.
 */
const panicCode = -30795;
/** Reads report PANIC with the code of an invalid argument. */
const panicPattern = /\bMDB_PANIC\b/;

/** Whether LMDB refuses all use of the file. */
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
 * Converts an error of LMDB: DATA_CORRUPT for a damaged file, NOT_READY until the file is open again. Returns
 * all other errors unchanged. `name`: the table or file, for the message.
 */
export function asCorruption(error: unknown, name: string): unknown {
  const { code, message } = error as { code?: unknown; message?: string };
  if (code === panicCode || panicPattern.test(message ?? '')) {
    const args = { phase: 'opening the data file again', progress: 0 };
    return new TrellisError({ code: 'NOT_READY', args });
  }
  if (!damageCodes.has(code)) return error;
  return new TrellisError({ code: 'DATA_CORRUPT', args: { what: `${name}: ${message}` } });
}
