// The file of what the nodes of a cluster know and nobody else: a secret a line, the newest last. By the newest that
// all of them know they sign what they write to the log; by the newest that both know a node proves itself to another.
// Invariant: it is read only where nobody but its owner can.
import { readFileSync, statSync } from 'node:fs';
import { fail, keyIdsOf } from '../../engine/internal.js';

/** Oldest first, one at least. Fails CONFIG_INVALID. */
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
