// The package as its users get it [W01]: packed, installed by npm without scripts, a project made by npx and
// served by `npm run dev`. Long tests only: npm asks the registry for what the package depends on.
import { type SpawnSyncReturns, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeFolder, root } from '../support/project.js';
import { expectFigure } from '../support/run/figure.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';

/** Serves a project until `work` has ended. */
async function served<T>(project: string, work: (url: string) => Promise<T>): Promise<T> {
  const argv = ['run', 'dev', '--silent', '--', '--port', '0'];
  const child = spawn('npm', argv, { cwd: project, detached: true });
  const ended = new Promise((resolve) => child.once('close', resolve));
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let out = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text;
        const [, found] = /^trellis ready (\S+)$/m.exec(out) ?? [];
        if (found !== undefined) resolve(found);
      });
      void ended.then(() => reject(new Error(out)));
    });
    return await work(url);
  } finally {
    process.kill(-child.pid!, 'SIGTERM');
    await ended;
  }
}

let tarball: string;
beforeAll(() => {
  if (!isLong) return;
  const folder = makeFolder();
  const argv = ['pack', '--silent', '--pack-destination', folder];
  execFileSync('npm', argv, { cwd: root, encoding: 'utf8' });
  tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz'))!);
});

test.skipIf(!isLong)('W01 a page and an answer within 2 s after the install', async () => {
  const place = makeFolder();
  const npm = (...argv: string[]) => execFileSync('npm', argv, { cwd: place, encoding: 'utf8' });
  npm('init', '-y');
  npm('install', '--ignore-scripts', '--no-audit', '--no-fund', tarball);
  const waits: number[] = [];
  // Other work of this machine may be in the way of one of them, not of all.
  for (let i = 0; i < 4 && Math.min(...waits) >= 2_000; i++) {
    const app = join(place, `app${i}`);
    const started = performance.now();
    npm('exec', '--no', '--', 'trellisdb', 'init', `app${i}`, '--client');
    await served(app, async (url) => {
      const page = await fetch(`${url}/`, { headers: { Accept: 'text/html' } });
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
      const answer = await fetch(`${url}/people`, { method: 'POST' });
      expect(await answer.json()).toMatchObject({ people: [{ name: 'Mary Shelley' }, {}] });
      waits.push(performance.now() - started);
      expect(existsSync(join(app, 'trellis.gen.ts'))).toBe(true);
    });
  }
  console.log(`ms from the install to an answer: ${waits.map(Math.round).join(', ')}`);
  expectFigure(Math.min(...waits), 2_000, 'ms from the install to an answer');
});

/** Bytes of all files below a folder. */
const bytesBelow = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => statSync(join(folder, path)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);

/** The first example in TypeScript of the first page that opens a database. */
const example = (): string =>
  [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```ts[^\n]*\n([\s\S]*?)```/g)]
    .map((match) => match[1]!)
    .find((text) => text.includes("from 'trellisdb'"))!;

describe.skipIf(!isLong)('the packed package', { timeout: 300_000 }, () => {
  /** The program of a release of Node: the running one, or one from the registry. */
  function nodeOf(major: string): string {
    if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
    const folder = makeFolder();
    const name = `node-${process.platform}-${process.arch}`;
    writeFileSync(join(folder, 'package.json'), '{}');
    execFileSync('npm', ['install', '--ignore-scripts', `${name}@${major}`], { cwd: folder });
    return join(folder, 'node_modules', name, 'bin/node');
  }

  /** Path of npm's script, which each release of Node runs. */
  const npmScript = execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim();

  test.each(['20', '22', '24'])(
    'installs without a warning and works on Node %s',
    async (major) => {
      const node = nodeOf(major);
      const app = makeFolder();
      writeFileSync(join(app, 'package.json'), '{ "name": "app", "private": true }');
      writeFileSync(join(app, '.npmrc'), 'engine-strict=true\n');
      const run = (...argv: string[]): SpawnSyncReturns<string> =>
        spawnSync(node, argv, { cwd: app, encoding: 'utf8' });
      const installed = run(join(npmScript, 'npm/bin/npm-cli.js'), 'install', tarball);
      const text = installed.stdout + installed.stderr;
      expect(text).toMatch(/^added \d+ packages/m);
      expect(text).not.toMatch(/warn|error/i);
      expect(Number(/added (\d+)/.exec(text)![1])).toBeLessThan(15);
      const bytes = bytesBelow(join(app, 'node_modules'));
      console.log(`Node ${major}: ${text.trim().split('\n')[0]}, ${(bytes / 1e6).toFixed(1)} MB`);
      expect(bytes).toBeLessThan(35e6);

      writeFileSync(join(app, 'app.mjs'), example());
      for (const _ of ['first', 'second'])
        expect(run('app.mjs')).toMatchObject({
          stderr: '',
          stdout: expect.stringContaining('Ada'),
        });

      const program = join(app, 'node_modules/trellisdb/dist/bin/main.js');
      expect(run(program, 'init', 'project').status).toBe(0);
      const argv = [program, 'serve', 'project', '--port', '0'];
      const child = spawn(node, argv, { cwd: app, stdio: ['ignore', 'pipe', 'ignore'] });
      const ended = new Promise((resolve) => child.once('close', resolve));
      try {
        let out = '';
        child.stdout.setEncoding('utf8').on('data', (piece: string) => (out += piece));
        await expect.poll(() => out, { timeout: 60_000 }).toContain('trellis ready');
        const url = /http:\S+/.exec(out)![0];
        const answer = execFileSync('curl', ['-s', '-X', 'POST', `${url}/people`], {
          encoding: 'utf8',
        });
        expect(JSON.parse(answer)).toMatchObject({ people: [{ name: 'Mary Shelley' }, {}] });
      } finally {
        child.kill();
        await ended;
      }
    },
  );
});
