// Applications that are built with Next.js, Vite and esbuild, as the guide on bundlers shows them: each opens a
// database from the packed package and calls it. Long tests only: npm asks the registry for the bundlers.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeFolder, root } from '../support/project.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const bundled = /trellisdb cannot be part of a bundle.*serverExternalPackages: \['trellisdb'\]/;
const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: undefined };

const source = `N::Person { name: String }
QUERY add(name: String) => p <- AddN<Person>({ name: name }) RETURN p::{name}
QUERY people() => p <- N<Person> RETURN p::{name}`;
const opened = `import { open } from 'trellisdb';
const sources = [{ path: 'app.hx', text: ${JSON.stringify(source)} }];`;
const program = `${opened}
const db = await open({ dataDir: 'data', sources, minFreeBytes: 0 });
await db.call('add', { name: 'Ada' });
console.log(JSON.stringify(await db.call('people')));
await db.close();
`;
const answer = '{"p":[{"name":"Ada"}]}';

let tarball: string;
beforeAll(() => {
  if (!isLong) return;
  const folder = makeFolder();
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
  tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz'))!);
});

/** An application with these files, and these packages beside the packed one. */
function application(files: Record<string, string>, packages: string[]): string {
  const folder = makeFolder();
  const manifest = JSON.stringify({ name: 'app', private: true, type: 'module' });
  for (const [path, text] of Object.entries({ 'package.json': manifest, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const argv = ['install', '--no-audit', '--no-fund', tarball, ...packages];
  execFileSync('npm', argv, { cwd: folder, env, stdio: 'pipe' });
  return folder;
}

/** Runs a script of Node and resolves with its output, errors included. Builds take longer than a test may block. */
async function output(cwd: string, ...argv: string[]): Promise<string> {
  const child = spawn(process.execPath, argv, { cwd, env });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (out += text));
  await new Promise((resolve) => child.once('close', resolve));
  return out;
}

describe.skipIf(!isLong)('an application opens a database', { timeout: 900_000 }, () => {
  it('that esbuild has built', async () => {
    const script = `import { build } from 'esbuild';
const form = { platform: 'node', format: 'esm', outfile: 'out.mjs' };
await build({ entryPoints: ['main.ts'], bundle: true, external: process.argv.slice(2), ...form });`;
    const app = application({ 'main.ts': program, 'build.mjs': script }, ['esbuild@0.28']);
    await output(app, 'build.mjs', 'trellisdb');
    expect(await output(app, 'out.mjs')).toContain(answer);
    await output(app, 'build.mjs');
    expect(await output(app, 'out.mjs')).toMatch(bundled);
  });

  it('that Vite has built, or serves', async () => {
    const serve = `import { createServer } from 'vite';
const server = await createServer({ server: { middlewareMode: true }, appType: 'custom' });
await server.ssrLoadModule('/main.ts');
await server.close();
process.exit();`;
    const app = application({ 'main.ts': program, 'serve.mjs': serve }, ['vite@7']);
    const build = async (): Promise<string> => {
      await output(app, 'node_modules/vite/bin/vite.js', 'build', '--ssr', 'main.ts');
      return await output(app, 'dist/main.js');
    };
    expect(await build()).toContain(answer);
    expect(await output(app, 'serve.mjs')).toContain('{"name":"Ada"},{"name":"Ada"}');
    writeFileSync(join(app, 'vite.config.mjs'), 'export default { ssr: { noExternal: true } };');
    expect(await build()).toMatch(bundled);
    const external = `export default { ssr: { noExternal: true, external: ['trellisdb'] } };`;
    writeFileSync(join(app, 'vite.config.mjs'), external);
    expect(await build()).toContain('{"name":"Ada"}');
  });

  it('that Next.js has built', async () => {
    const config = 'next.config.mjs';
    const app = application(
      {
        [config]: `export default { serverExternalPackages: ['trellisdb'] };`,
        'lib/db.js': `${opened}
export const db = () => (globalThis.db ??= open({ dataDir: 'data', sources, minFreeBytes: 0 }));`,
        'app/api/people/route.js': `import { db } from '../../../lib/db';
export const dynamic = 'force-dynamic';
export async function GET() {
  const opened = await db();
  await opened.call('add', { name: 'Ada' });
  return Response.json(await opened.call('people'));
}`,
      },
      ['next@16', 'react@19', 'react-dom@19'],
    );
    const next = 'node_modules/next/dist/bin/next';
    await output(app, next, 'build');
    const child = spawn(process.execPath, [next, 'start', '-p', '0'], { cwd: app, env });
    const ended = new Promise((resolve) => child.once('close', resolve));
    try {
      let out = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
      await expect.poll(() => out, { timeout: 60_000 }).toMatch(/localhost:\d+[\s\S]*Ready/);
      const url = /http:\/\/localhost:\d+/.exec(out)![0];
      expect(await (await fetch(`${url}/api/people`)).text()).toBe(answer);
    } finally {
      child.kill();
      await ended;
    }
    writeFileSync(join(app, config), 'export default {};');
    expect(await output(app, next, 'build')).toMatch(bundled);
  });
});
