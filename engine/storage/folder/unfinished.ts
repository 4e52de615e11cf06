// Marks directories that are being filled (`restore`, `load`, the copy of another node): a marker file stays
// until they hold a complete database.
// Invariant: a failed fill leaves only the marker. The remains of a killed process are no obstacle: the next
// fill starts over.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, syncPath } from '../../fs/durable-file.js';

const mark = 'RESTORING';
/** Files that filling creates; the marker is deleted last. */
const contents = ['graph', 'vec', 'MANIFEST.json', 'MANIFEST.json.tmp', 'room.tmp'];
const others = ['LOCK', mark];

export const isUnfinished = (path: string): boolean => existsSync(join(path, mark));

/** Whether a directory may be filled: it is empty, or contains only what an earlier fill left. */
export function mayBeFilled(path: string): boolean {
  const names = existsSync(path) ? readdirSync(path) : [];
  const isOurs = names.every((name) => contents.includes(name) || others.includes(name));
  return isOurs && (names.includes(mark) || !names.some((name) => contents.includes(name)));
}

/** Marks a directory as unfinished. Call it before anything is in the directory. */
export function markUnfinished(path: string): void {
  makeFolder(path);
  // The file has no content, so it cannot exist in part.
  writeFileSync(join(path, mark), '', { mode: 0o600 });
  syncPath(path);
}

export function markFinished(path: string): void {
  rmSync(join(path, mark));
  syncPath(path);
}

/** Removes everything but the marker; the caller holds the lock. */
export function clearUnfinished(path: string): void {
  for (const name of contents) rmSync(join(path, name), { recursive: true, force: true });
}

/** Cleans up after a failed fill. Only the marker stays, and no server opens the directory. */
export function giveUpUnfinished(path: string): void {
  try {
    clearUnfinished(path);
  } catch {
    // Report the error that led here instead. The next fill starts over.
  }
}
