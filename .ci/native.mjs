// Fetches every build of the native transport that the lock file names, by npm and checked against the lock, and writes
// their SHA-256 to server/http/native-builds.ts: `node .ci/native.mjs`. Builds that the registry does not give are named;
// they are not on the list then, so that no server loads them. To be run when a version in package.json changes.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const listPath = join(root, 'server/http/native-builds.ts');
const npm = process.platform === 'win32' ? ['npm.cmd', { shell: true }] : ['npm', {}];
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));

const found = new Map();
for (const [place, { name, version, integrity }] of Object.entries(packages)) {
  const named = name ?? /node_modules\/(@uwsjs\/[^/]+)$/.exec(place)?.[1];
  if (named?.startsWith('@uwsjs/')) found.set(`${named}@${version}`, integrity);
}

const folder = mkdtempSync(join(tmpdir(), 'trellis-native-'));
const hashes = { builds: [], scripts: [] };
try {
  for (const [spec, integrity] of [...found].sort()) {
    const cwd = folder;
    const packed = spawnSync(npm[0], ['pack', '--json', spec], {
      cwd,
      encoding: 'utf8',
      ...npm[1],
    });
    if (packed.status !== 0) {
      console.error(`${spec}: the registry does not give it`);
      continue;
    }
    const [{ filename, integrity: fetched }] = JSON.parse(packed.stdout);
    if (integrity === undefined)
      console.error(`${spec}: add "integrity": "${fetched}" to the lock file`);
    else if (integrity !== fetched) throw new Error(`${spec} is not what the lock file says`);
    const isCore = spec.startsWith('@uwsjs/core@');
    const file = isCore ? 'uws.js' : 'uws.node';
    const options = { cwd, maxBuffer: 1 << 28 };
    const { stdout } = spawnSync('tar', ['xzOf', filename, `package/${file}`], options);
    const hash = createHash('sha256').update(stdout).digest('hex');
    if (isCore) hashes.scripts.push([spec.replace(/.*@/, ''), hash]);
    else hashes.builds.push([spec, hash]);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const lines = (list) => list.map(([name, hash]) => `  '${name}': '${hash}',\n`).join('');
let text = readFileSync(listPath, 'utf8');
for (const [name, list] of [
  ['nativeBuilds', hashes.builds],
  ['nativeScripts', hashes.scripts],
]) {
  const start = text.indexOf('{\n', text.indexOf(`const ${name}`)) + 2;
  text = text.slice(0, start) + lines(list) + text.slice(text.indexOf('};', start));
}
writeFileSync(listPath, text);
console.log(`${hashes.builds.length} of ${found.size - hashes.scripts.length} builds are listed`);
