// Whether a path still leads to the file that was opened. A data file that was unlinked or replaced
// takes writes and fsyncs without complaint, and all of them are gone at the next start (operations.md
// L18).
import { type Stats, statSync } from 'node:fs';

const isSame = (a: Stats, b: Stats | undefined): boolean => a.ino === b?.ino && a.dev === b.dev;

/** Remembers the file that a path leads to now; asked again, says whether it is still that one. */
export function fileIdentity(path: string): () => boolean {
  const opened = statSync(path);
  return () => isSame(opened, statSync(path, { throwIfNoEntry: false }));
}
