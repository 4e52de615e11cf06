// Detects whether a path still leads to the file that was opened. A data file that was unlinked or replaced
// accepts writes and fsyncs, but all of them are lost at the next start (operations.md L18).
import { type Stats, statSync } from 'node:fs';

const isSame = (a: Stats, b: Stats | undefined): boolean => a.ino === b?.ino && a.dev === b.dev;

/** Remembers the file at a path. The returned function tells whether the path still leads to it. */
export function fileIdentity(path: string): () => boolean {
  const opened = statSync(path);
  return () => isSame(opened, statSync(path, { throwIfNoEntry: false }));
}
