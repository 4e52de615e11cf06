// Whether the native transport that was installed is what the list in the tree says. Invariant: looks only, so that it
// can be done before anything of it is loaded.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** `own`: the SHA-256 of a build of one's own. */
export function nativeFaults(root, own = '') {
  const list = readFileSync(join(root, 'server/http/native/native-builds.ts'), 'utf8');
  const rows = list.matchAll(/'([^']+)':\s*'([0-9a-f]{64})'/g);
  const listed = new Map([...rows].map(([, name, hash]) => [name, hash]));
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const faults = [];
  const unlisted = [];
  for (const [place, { name: build, version }] of Object.entries(packages)) {
    const path = join(root, place, 'uws.node');
    if (!build?.startsWith('@uwsjs/') || !existsSync(path)) continue;
    const hash = sha256(path);
    if (hash === own.toLowerCase()) continue;
    const known = listed.get(`${build}@${version}`);
    if (known === undefined) unlisted.push(`${build}@${version}`);
    else if (hash !== known)
      faults.push(`${path} has the SHA-256 ${hash}, not ${known}: do not run it`);
  }
  return { faults, unlisted };
}
