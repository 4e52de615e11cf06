// The installed files are the intended ones: the lock file has the digest of each package. The set-up of a
// checkout and the server itself compare the native transport with a list before any of it runs.
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
} from 'node:fs';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { nativeBuilds } from '../../server/http/native/native-builds.js';
import { nativeError } from '../../server/http/native/native-check.js';
import { addOnName } from '../../server/http/native/uws-add-on.js';
import { makeFolder, root, writeProject } from '../support/project.js';
import { hasUws } from '../support/server/has-uws.js';

interface Locked {
  name?: string;
  version: string;
  integrity?: string;
}
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const locked = Object.entries(lock.packages as Record<string, Locked>).filter(([place]) => place);
const nameOf = (place: string): string => place.replace(/^.*node_modules\//, '');

test('the lock file has the integrity of every package, and the list has every native build', () => {
  expect(locked.length).toBeGreaterThan(200);
  for (const [place, { name, version, integrity }] of locked) {
    const known = `${name ?? nameOf(place)}@${version}`;
    expect(integrity, place).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
    if (known.startsWith('@uwsjs/')) expect(nativeBuilds[known], known).toBeDefined();
  }
});

/** A folder with a copy of the native transport as it is installed, and a module path that finds it there. */
function copied(): { folder: string; from: string; build: string } {
  const folder = makeFolder();
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(join(root, 'node_modules'))) {
    const [from, to] = [join(root, 'node_modules', name), join(modules, name)];
    if (name.startsWith('uWebSockets.js-')) cpSync(from, to, { recursive: true });
    else if (!name.startsWith('.')) symlinkSync(from, to);
  }
  const from = pathToFileURL(join(folder, 'x.js')).href;
  return { folder, from, build: join(modules, addOnName) };
}

describe.skipIf(!hasUws)('the native transport', () => {
  const fault = (place: { from: string }, own = '') => nativeError(own, place.from);

  test('is as it is listed', async () => {
    expect(await fault(copied())).toBeUndefined();
    expect(await nativeError('')).toBeUndefined();
    const { nativeFaults } = await import(pathToFileURL(join(root, '.ci/native-faults.mjs')).href);
    expect(nativeFaults(root)).toEqual({ faults: [], unlisted: [] });
  });

  test('is loaded as a build of one’s own only where its hash is said', async () => {
    const place = copied();
    const file = join(place.build, 'uws.node');
    appendFileSync(file, 'x');
    const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
    expect(await fault(place)).toContain(`is not the build that is listed, but ${hash}`);
    expect(await fault(place, hash.toUpperCase())).toBeUndefined();
    const { nativeFaults } = await import(pathToFileURL(join(root, '.ci/native-faults.mjs')).href);
    for (const name of ['package-lock.json', 'server/http/native/native-builds.ts']) {
      mkdirSync(dirname(join(place.folder, name)), { recursive: true });
      copyFileSync(join(root, name), join(place.folder, name));
    }
    expect(nativeFaults(place.folder).faults).toEqual([expect.stringContaining('do not run it')]);
    expect(nativeFaults(place.folder, hash).faults).toEqual([]);
  });

  test('is not loaded by another script', async () => {
    const place = copied();
    appendFileSync(join(place.build, 'index.js'), '\nrequire("fs")');
    expect(await fault(place)).toContain('index.js is not the script that is expected');
    const hash = createHash('sha256').update(readFileSync(join(place.build, 'uws.node')));
    expect(await fault(place, hash.digest('hex'))).toContain('index.js');
  });

  test('is not run by a server where it is another one: node:http serves, and the log says why', async () => {
    const { folder, build } = copied();
    cpSync(join(root, 'dist'), join(folder, 'dist'), {
      recursive: true,
      filter: (path) => !/dist\/(bench|types|engine|server)(\/|$)|\.map$/.test(path),
    });
    const mark = join(folder, 'ran');
    appendFileSync(
      join(build, 'index.js'),
      `\nrequire('fs').writeFileSync(${JSON.stringify(mark)}, '')`,
    );
    const project = join(folder, 'project');
    mkdirSync(project);
    writeProject(project, { sources: { 'a.hx': 'QUERY one() => RETURN 1\n' } });
    const argv = [join(folder, 'dist/bin/main.js'), 'serve', project, '--port', '0'];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
    let told = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    const ended = new Promise((resolve) => child.once('close', resolve));
    await expect.poll(() => said).toContain('trellis ready');
    const answer = await fetch(`${/http:\S+/.exec(said)![0]}/one`, { method: 'POST' });
    expect(await answer.text()).toContain('1');
    child.kill();
    await ended;
    expect(told).toMatch(/node:http serves instead.*index\.js is not the script that is expected/);
    expect(existsSync(mark)).toBe(false);
  });
});
