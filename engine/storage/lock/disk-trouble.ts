// What the operating system says of a disk, as errors of the catalogue: beside the data file (backups,
// snapshots) a full or failing disk is no defect, and the operator must be told which disk.
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { TrellisError, shortageDataOf } from '../../base/errors.js';

const full = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** lmdb gives the number of an error and its text, Node its name. */
const numbers = new Map([
  [28, 'ENOSPC'],
  [122, 'EDQUOT'],
  [27, 'EFBIG'],
]);

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

/** A place to write to, as messages name it: who asks need not know the server's folders. */
export interface DiskPlace {
  path: string;
  /** `the folder of backups`. */
  name: string;
  /** What was to be written. */
  bytes: number;
}

/** The error as it is, or what it means when it came of writing at a place. */
export function diskTrouble(error: unknown, { path, name, bytes }: DiskPlace): unknown {
  if (error instanceof TrellisError || !(error instanceof Error)) return error;
  const shortage = shortageDataOf(error);
  if (shortage !== undefined) return new TrellisError(shortage);
  const { code } = error as { code?: unknown };
  const errno = typeof code === 'number' ? (numbers.get(code) ?? `error ${code}`) : code;
  if (typeof errno !== 'string' || !/^(E[A-Z0-9]+|error \d+)$/.test(errno)) return error;
  if (full.has(errno)) {
    const hint = `Free space on the disk of ${name}.`;
    const args = { free: freeAt(path), needed: bytes };
    return new TrellisError({ code: 'INSUFFICIENT_STORAGE', args, hint });
  }
  // Node's message goes on with the call and the path.
  const reason = error.message.split(',')[0]!;
  return new TrellisError({ code: 'DATA_DIR_BAD', args: { what: `${name}: ${reason}` } });
}
