// The bundles are whole: they load modules of Node and files of the package, and of other packages only native
// parts. What is missing fails with one line that says what to do.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { makeFolder, root } from '../support/project.js';

const bin = join(root, 'dist/bin');
const entry = join(bin, 'index.js');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

test('no package is a dependency but native parts, each for one platform', () => {
  expect(manifest.dependencies).toBeUndefined();
  expect(manifest.peerDependencies).toBeUndefined();
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const name of Object.keys(manifest.optionalDependencies)) {
    const { os, cpu, optional, hasInstallScript } = lock.packages[`node_modules/${name}`];
    expect([os.length, cpu.length, optional, hasInstallScript], name).toEqual([
      1,
      1,
      true,
      undefined,
    ]);
  }
});

test('the bundles load modules of Node and files beside them', async () => {
  const files = readdirSync(bin).filter((name) => /\.c?js$/.test(name));
  const { metafile } = await build({
    entryPoints: files.map((name) => ({ in: join(bin, name), out: name })),
    bundle: true,
    external: ['*'],
    metafile: true,
    write: false,
    outdir: makeFolder(),
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
  const isKnown = (path: string): boolean =>
    /^(node:|\.\/)/.test(path) || builtinModules.includes(path);
  const loaded = Object.values(metafile.outputs).flatMap(({ imports }) => imports);
  expect(loaded.length).toBeGreaterThan(100);
  const foreign = new Set(loaded.map(({ path }) => path).filter((path) => !isKnown(path)));
  // Priorities of threads, which Piscina sets on request only; the others are looked up on other platforms.
  expect([...foreign].sort()).toEqual(['@napi-rs/nice']);
});

test('the library loads the client of JetStream when a log needs it', async () => {
  const [name] = readdirSync(bin).filter((one) => one.startsWith('jetstream-'));
  const { driver } = await import(pathToFileURL(join(bin, name!)).href);
  expect(Object.keys(driver)).toContain('open');
});

describe('one line says what to do', () => {
  const app = (folder: string, text = ''): string => {
    const path = join(folder, 'app.mjs');
    writeFileSync(path, `import { open } from ${JSON.stringify(entry)};\nvoid open;\n${text}`);
    return path;
  };
  /** Runs a program and returns the line of its error. */
  const errorOf = (argv: string[], cwd: string): string => {
    const { stderr, status } = spawnSync(process.execPath, argv, { cwd, encoding: 'utf8' });
    expect(status).not.toBe(0);
    return stderr.split('\n').find((line) => /^(Error|trellis): /.test(line)) ?? stderr;
  };

  test.each(['esm', 'cjs'] as const)(
    'when the library is part of a bundle (%s)',
    async (format) => {
      const folder = makeFolder();
      const outfile = join(folder, format === 'esm' ? 'out.mjs' : 'out.cjs');
      const entryPoints = [app(folder)];
      await build({
        ...{ entryPoints, outfile, format, bundle: true },
        platform: 'node',
        logLevel: 'silent',
      });
      expect(errorOf([outfile], folder)).toMatch(
        /^Error: trellisdb cannot be part of a bundle.*external: \['trellisdb'\]/,
      );
    },
  );

  test('when the native part is not installed', () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'dist'));
    const filter = (path: string): boolean => !/\.map$|bin.code/.test(path);
    cpSync(bin, join(folder, 'dist/bin'), { recursive: true, filter });
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    const missing = /needs the package @lmdb\/lmdb-\S+, which is not installed/;
    expect(errorOf(['dist/bin/main.js', 'version'], folder)).toMatch(missing);
    expect(errorOf(['dist/bin/index.js'], folder)).toMatch(missing);
  });
});

test('a bundle that leaves the library outside opens a database', async () => {
  const folder = makeFolder();
  const modules = join(folder, 'node_modules/trellisdb');
  mkdirSync(modules, { recursive: true });
  writeFileSync(
    join(modules, 'package.json'),
    JSON.stringify({ name: 'trellisdb', type: 'module', main: 'index.js' }),
  );
  writeFileSync(join(modules, 'index.js'), `export * from ${JSON.stringify(entry)};`);
  const file = join(folder, 'app.ts');
  writeFileSync(
    file,
    `import { open } from 'trellisdb';
     const sources = [{ path: 'a.hx', text: 'QUERY one() => RETURN 1' }];
     const db = await open({ dataDir: 'data', sources, minFreeBytes: 0 });
     console.log(JSON.stringify(await db.call('one')));
     await db.close();`,
  );
  const outfile = join(folder, 'out.mjs');
  const form = { platform: 'node', format: 'esm', minify: true } as const;
  const external = ['trellisdb'];
  await build({ entryPoints: [file], outfile, bundle: true, external, ...form });
  const out = execFileSync(process.execPath, [outfile], { cwd: folder, encoding: 'utf8' });
  expect(out).toBe('{"data":1}\n');
});
