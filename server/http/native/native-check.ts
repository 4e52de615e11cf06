// Verifies the native transport before it is loaded. The SHA-256 of the build must be in native-builds.ts,
// and the script that loads the build must be one known line. Invariant: code that is not listed is not
// loaded; `node:http` serves instead.
import { webcrypto } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { nativeBuilds } from './native-builds.js';
import { addOnName } from './uws-add-on.js';

/** Hashes with WebCrypto, on a thread of the pool, because a build has 7 MB. */
const sha256 = async (path: string): Promise<string> =>
  Buffer.from(await webcrypto.subtle.digest('SHA-256', await readFile(path))).toString('hex');

function folderOf(name: string, from: string): string | undefined {
  try {
    return dirname(createRequire(from).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/**
 * Why the native transport must not be loaded. Returns undefined if it may be loaded, or if there is no build
 * for this version of Node. `own` is the SHA-256 of the operator's own build; empty for none.
 */
export async function nativeError(
  own: string,
  from: string = import.meta.url,
): Promise<string | undefined> {
  const folder = folderOf(addOnName, from);
  if (folder === undefined) return undefined;
  const manifest = await readFile(join(folder, 'package.json'), 'utf8');
  const { name, version } = JSON.parse(manifest) as { name: string; version: string };
  const known = `${name}@${version}`;
  const hash = await sha256(join(folder, 'uws.node'));
  const isOwn = hash === own.toLowerCase();
  const listed = Object.hasOwn(nativeBuilds, known) ? nativeBuilds[known] : undefined;
  if (!isOwn && listed === undefined) return `${known} is not listed; its SHA-256 is ${hash}`;
  if (!isOwn && hash !== listed) return `${known} is not the build that is listed, but ${hash}`;
  const script = join(folder, 'index.js');
  const isPlain = (await readFile(script, 'utf8')).trim() === scriptText;
  return isPlain ? undefined : `${script} is not the script that is expected`;
}

const scriptText = `module.exports = require('./uws.node');`;
