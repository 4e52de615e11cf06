// Who holds a data directory, for a process that does not want it for itself.
import { join } from 'node:path';
import { describeSelf, isRunning, type Noted, readOwner } from './lock-file.js';

/**
 * Who has a directory open, as far as another process can tell; undefined when nobody does. Of a
 * holder that counts processes apart from this one nothing but its word is known.
 */
export function holderOf(directory: string): Noted | undefined {
  const noted = readOwner(join(directory, 'LOCK'));
  const self = describeSelf();
  if (noted === undefined || noted.boot !== self.boot) return undefined;
  return noted.pid_namespace !== self.pid_namespace || isRunning(noted) ? noted : undefined;
}
