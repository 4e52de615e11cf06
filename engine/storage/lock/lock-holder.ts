// Finds the holder of a data directory, for a process that does not open it.
import { join } from 'node:path';
import { describeSelf, isRunning, type StoredOwner, readOwner } from './lock-file.js';

/**
 * Returns the process that has a directory open, as far as this process can tell, or undefined. A holder in
 * another pid namespace is returned unverified.
 */
export function holderOf(directory: string): StoredOwner | undefined {
  const noted = readOwner(join(directory, 'LOCK'));
  const self = describeSelf();
  if (noted === undefined || noted.boot !== self.boot) return undefined;
  return noted.pid_namespace !== self.pid_namespace || isRunning(noted) ? noted : undefined;
}
