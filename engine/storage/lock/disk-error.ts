// Converts errors of the operating system about a disk to errors of the catalogue. For files next to the data
// file (backups, snapshots), a full or failing disk is no defect, and the error must name the disk for the
// operator.
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { TrellisError, toShortageData } from '../../base/errors.js';

const full = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** lmdb reports the number of an error and a text, Node the name. */
const numbers = new Map([
  [28, 'ENOSPC'],
  [122, 'EDQUOT'],
  [27, 'EFBIG'],
]);

/** Returns the name of a system error if it is one of those above, else the code as a string. */
export const errnoOf = (code: unknown): string =>
  typeof code === 'number' ? (numbers.get(code) ?? String(code)) : String(code);

/** Returns the code of an error. Node has no name for the quota error (EDQUOT). */
function codeOf(error: unknown): unknown {
  const { code, errno } = (error ?? {}) as { code?: unknown; errno?: unknown };
  return (typeof errno === 'number' && numbers.get(-errno)) || code;
}

/** Whether an error means that the disk, or the quota on it, is full. */
export const isFullDisk = (error: unknown): boolean => full.has(errnoOf(codeOf(error)));

/** Returns the free bytes on the disk of a path, which need not exist yet. */
function freeAt(path: string): number {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      const { bavail, bsize } = statfsSync(folder);
      return bavail * bsize;
    } catch {
      if (folder === dirname(folder)) return 0;
    }
  }
}

/** A target of writes, as messages name it: clients need not know the server's folders. */
export interface DiskTarget {
  path: string;
  /** For example `the folder of backups`. */
  name: string;
  /** Number of bytes to write. */
  bytes: number;
}

/**
 * Fails INSUFFICIENT_STORAGE if the disk has less free space than the write needs, before the write begins.
 */
export function requireSpace(target: DiskTarget): void {
  if (freeAt(target.path) < target.bytes) throw shortageError(target);
}

function shortageError({ path, name, bytes }: DiskTarget): TrellisError {
  const hint = `Free space on the disk of ${name}.`;
  const args = { free: freeAt(path), needed: bytes };
  return new TrellisError({ code: 'INSUFFICIENT_STORAGE', args, hint });
}

/** Converts an error of writing to a target; returns all other errors unchanged. */
export function asDiskError(error: unknown, target: DiskTarget): unknown {
  if (error instanceof TrellisError || !(error instanceof Error)) return error;
  const shortage = toShortageData(error);
  if (shortage !== undefined) return new TrellisError(shortage);
  const code = codeOf(error);
  const errno = typeof code === 'number' ? (numbers.get(code) ?? `error ${code}`) : code;
  if (typeof errno !== 'string' || !/^(E[A-Z0-9]+|error \d+)$/.test(errno)) return error;
  if (full.has(errno)) return shortageError(target);
  // Node's message continues with the system call and the path.
  const reason = error.message.split(',')[0]!;
  return new TrellisError({ code: 'DATA_DIR_BAD', args: { what: `${target.name}: ${reason}` } });
}
