// Directories that are being filled (`restore`, `load`, the copy of another node): a mark says so for as long as what is
// in them is no database yet. Invariant: whoever fails to fill one leaves nothing but the mark, and what a process that
// died has left is no obstacle: the next one begins anew.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, syncPath } from '../../fs/durable-file.js';

const mark = 'RESTORING';
/** What filling makes; the mark goes last. */
const contents = ['graph', 'vec', 'MANIFEST.json', 'MANIFEST.json.tmp', 'room.tmp'];
const others = ['LOCK', mark];

export const isUnfinished = (path: string): boolean => existsSync(join(path, mark));

/** Whether a directory may be filled: it holds nothing, or only what filling it has left. */
export function mayBeFilled(path: string): boolean {
  const names = existsSync(path) ? readdirSync(path) : [];
  const isOurs = names.every((name) => contents.includes(name) || others.includes(name));
  return isOurs && (names.includes(mark) || !names.some((name) => contents.includes(name)));
}

/** Says of a directory that it is not filled yet; to be called before anything is in it. */
export function markUnfinished(path: string): void {
  makeFolder(path);
  // Being there is all that it says: no moment at which it is there in part.
  writeFileSync(join(path, mark), '', { mode: 0o600 });
  syncPath(path);
}

export function markFinished(path: string): void {
  rmSync(join(path, mark));
  syncPath(path);
}

/** Removes what filling has left, but for the mark; whoever calls it holds the lock. */
export function clearUnfinished(path: string): void {
  for (const name of contents) rmSync(join(path, name), { recursive: true, force: true });
}

/** Filling has failed: all that stays is the mark, which no server starts over. */
export function giveUpUnfinished(path: string): void {
  try {
    clearUnfinished(path);
  } catch {
    // The error that led here is the one to tell; the next who fills the directory begins anew.
  }
}
