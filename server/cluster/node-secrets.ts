// Reads the file of the secrets that only the nodes of a cluster have: one secret per line, the newest last.
// Nodes sign log entries with the newest secret that all of them have. A node proves itself to another with
// the newest secret that both have. Invariant: the file is used only if no other user can read it.
import { readFileSync, statSync } from 'node:fs';
import { fail, keyIdsOf } from '../../engine/internal.js';

/** Returns at least one secret, oldest first. Fails CONFIG_INVALID. */
export function readSecrets(path: string): string[] {
  let text: string;
  try {
    if ((statSync(path).mode & 0o077) !== 0)
      fail('CONFIG_INVALID', { what: '`cluster.secret_file` may be read by others; make it 0600' });
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    const { message } = error as Error;
    return fail('CONFIG_INVALID', { what: `\`cluster.secret_file\` cannot be read: ${message}` });
  }
  const lines = text.split('\n').map((line) => line.trim());
  const secrets = lines.filter((line) => line !== '');
  if (secrets.length === 0) fail('CONFIG_INVALID', { what: '`cluster.secret_file` is empty' });
  keyIdsOf(secrets);
  return secrets;
}
