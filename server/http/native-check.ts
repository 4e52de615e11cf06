// Whether the native transport is the one that this version was made with: its build, and the scripts that load it, are
// compared with the list before any of them runs. Invariant: what is not known is not loaded; `node:http` serves then.
import { createHash, webcrypto } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { nativeBuilds, nativeScripts } from './native-builds.js';

/** Where one of the packages lies, and how its parts are called. */
interface Place {
  core: string;
  version: string;
  /** Empty: there is none for this Node, and loading will say so. */
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

/** In a thread of its own of the process: a build has seven megabytes. */
const sha256 = async (path: string): Promise<string> =>
  Buffer.from(await webcrypto.subtle.digest('SHA-256', await readFile(path))).toString('hex');

const isText = async (path: string, text: string): Promise<boolean> =>
  (await readFile(path, 'utf8')).trim() === text;

/** Why the package of this name is not to be loaded; undefined where it is, or cannot be at all. */
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
  // What npm has put in reach of this package may be the build of the other one.
  if (version !== place.version) return `${known} is no build of version ${place.version}`;
  const hash = await sha256(join(build, 'uws.node'));
  const isOwn = hash === own.toLowerCase();
  const listed = Object.hasOwn(nativeBuilds, known) ? nativeBuilds[known] : undefined;
  if (!isOwn && listed === undefined) return `${known} is not listed; its SHA-256 is ${hash}`;
  if (!isOwn && hash !== listed) return `${known} is not the build that is listed, but ${hash}`;
  const fault = await scriptFault(place);
  return fault === undefined ? undefined : `${join(core, fault)} is not the script that is listed`;
}

/** Between the name and the build: a script, in one version a file for each platform, and one line. */
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
