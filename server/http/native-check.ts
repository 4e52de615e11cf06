// Verifies the native transport before it is loaded: compares its build and the scripts that load it with the
// list in native-builds.ts. Invariant: code that is not listed is not loaded; `node:http` serves instead.
import { createHash, webcrypto } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { nativeBuilds, nativeScripts } from './native-builds.js';

/** Location of one uWebSockets.js package and of its parts. */
interface Place {
  core: string;
  version: string;
  /** Folder of the build. Empty if there is no build for this version of Node; loading then fails. */
  build: string;
}

const buildName = (): string =>
  `@uwsjs/${process.platform}-${process.arch}-${process.versions.node.split('.')[0]}`;

async function placeOf(name: string, from: string): Promise<Place | undefined> {
  try {
    const core = dirname(createRequire(from).resolve(name));
    const { version } = await manifestIn(core);
    return { core, version, build: buildIn(core) };
  } catch {
    return undefined;
  }
}

const manifestIn = async (folder: string): Promise<{ version: string }> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };

function buildIn(core: string): string {
  try {
    const fromCore = createRequire(join(core, 'uws.js'));
    return dirname(fromCore.resolve(`${buildName()}/package.json`));
  } catch {
    return '';
  }
}

/** A build has seven megabytes, so WebCrypto hashes it on a thread of the pool. */
const sha256 = async (path: string): Promise<string> =>
  Buffer.from(await webcrypto.subtle.digest('SHA-256', await readFile(path))).toString('hex');

const isText = async (path: string, text: string): Promise<boolean> =>
  (await readFile(path, 'utf8')).trim() === text;

/**
 * Why the package of this name must not be loaded. Returns undefined if it may be loaded, or if it cannot be
 * loaded at all.
 */
export async function nativeFault(
  name: string,
  own: string,
  from: string = import.meta.url,
): Promise<string | undefined> {
  const place = await placeOf(name, from);
  if (place === undefined || place.build === '') return undefined;
  const { core, build } = place;
  const { version } = await manifestIn(build);
  const known = `${buildName()}@${version}`;
  // npm may have installed the build of the other version within reach of this package.
  if (version !== place.version) return `${known} is no build of version ${place.version}`;
  const hash = await sha256(join(build, 'uws.node'));
  const isOwn = hash === own.toLowerCase();
  const listed = Object.hasOwn(nativeBuilds, known) ? nativeBuilds[known] : undefined;
  if (!isOwn && listed === undefined) return `${known} is not listed; its SHA-256 is ${hash}`;
  if (!isOwn && hash !== listed) return `${known} is not the build that is listed, but ${hash}`;
  const fault = await scriptFault(place);
  return fault === undefined ? undefined : `${join(core, fault)} is not the script that is listed`;
}

/**
 * Checks the scripts between the package name and the build: `uws.js`, one file per platform in one version,
 * and one line in the build. Returns the name of the first script that differs, or undefined.
 */
async function scriptFault({ core, version, build }: Place): Promise<string | undefined> {
  const script = 'uws.js';
  const hash = Object.hasOwn(nativeScripts, version) ? nativeScripts[version] : undefined;
  const bytes = await readFile(join(core, script));
  if (createHash('sha256').update(bytes).digest('hex') !== hash) return script;
  const { platform, arch, versions } = process;
  const between = `uws_${platform}_${arch}_${versions.modules}.node.js`;
  if (bytes.includes("require('./uws_'")) {
    const isPlain = await isText(
      join(core, between),
      `module.exports = require('${buildName()}');`,
    );
    if (!isPlain) return between;
  }
  const isPlain = await isText(join(build, 'index.js'), `module.exports = require('./uws.node');`);
  return isPlain ? undefined : join(build, 'index.js');
}
