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

/** The name of an error of the system, as far as it is one of those above. */
export const errnoOf = (code: unknown): string =>
  typeof code === 'number' ? (numbers.get(code) ?? String(code)) : String(code);

/** The code of an error; Node has no name for that of a quota. */
function codeOf(error: unknown): unknown {
  const { code, errno } = (error ?? {}) as { code?: unknown; errno?: unknown };
  return (typeof errno === 'number' && numbers.get(-errno)) || code;
}

/** Whether an error says that a disk, or what one may have of it, is full. */
export const isFullDisk = (error: unknown): boolean => full.has(errnoOf(codeOf(error)));

/** Bytes that are free where a path is, or will be. */
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

/** Fails INSUFFICIENT_STORAGE where a place has less room than is to be written: then nothing of it is begun. */
export function needRoom(place: DiskPlace): void {
  if (freeAt(place.path) < place.bytes) throw lackOf(place);
}

function lackOf({ path, name, bytes }: DiskPlace): TrellisError {
  const hint = `Free space on the disk of ${name}.`;
  const args = { free: freeAt(path), needed: bytes };
  return new TrellisError({ code: 'INSUFFICIENT_STORAGE', args, hint });
}

/** The error as it is, or what it means when it came of writing at a place. */
export function asDiskError(error: unknown, place: DiskPlace): unknown {
  if (error instanceof TrellisError || !(error instanceof Error)) return error;
  const shortage = shortageDataOf(error);
  if (shortage !== undefined) return new TrellisError(shortage);
  const code = codeOf(error);
  const errno = typeof code === 'number' ? (numbers.get(code) ?? `error ${code}`) : code;
  if (typeof errno !== 'string' || !/^(E[A-Z0-9]+|error \d+)$/.test(errno)) return error;
  if (full.has(errno)) return lackOf(place);
  // Node's message goes on with the call and the path.
  const reason = error.message.split(',')[0]!;
  return new TrellisError({ code: 'DATA_DIR_BAD', args: { what: `${place.name}: ${reason}` } });
}
