// Fetches every build of the native transport that the lock file names, by npm and checked against the lock, and writes
// their SHA-256 to server/http/native/native-builds.ts: `node .ci/native.mjs`. Builds that the registry does not give are named;
// they are not on the list then, so that no server loads them. To be run when a version in package.json changes.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const listPath = join(root, 'server/http/native/native-builds.ts');
const npm = process.platform === 'win32' ? ['npm.cmd', { shell: true }] : ['npm', {}];
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));

const found = new Map();
for (const { name, version, integrity } of Object.values(packages)) {
  if (name?.startsWith('@uwsjs/')) found.set(`${name}@${version}`, integrity);
}

const folder = mkdtempSync(join(tmpdir(), 'trellis-native-'));
const builds = [];
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
    const options = { cwd, maxBuffer: 1 << 28 };
    const { stdout } = spawnSync('tar', ['xzOf', filename, 'package/uws.node'], options);
    builds.push([spec, createHash('sha256').update(stdout).digest('hex')]);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const lines = builds.map(([name, hash]) => `  '${name}': '${hash}',\n`).join('');
const text = readFileSync(listPath, 'utf8');
const start = text.indexOf('{\n', text.indexOf('const nativeBuilds')) + 2;
writeFileSync(listPath, text.slice(0, start) + lines + text.slice(text.indexOf('};', start)));
console.log(`${builds.length} of ${found.size} builds are listed`);
