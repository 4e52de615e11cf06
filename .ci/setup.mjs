// Brings a checkout to a runnable state with nothing but Node and npm: installs the locked
// packages, compiles TypeScript and AssemblyScript, bundles. Steps whose inputs did not change are skipped:
// `dist` stays as it is under a server that runs from it. `--dry-run` says what would be done.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const force = process.argv.includes('--force');
const dryRun = process.argv.includes('--dry-run');
/** Windows runs `.cmd` files in a shell only; none of the arguments has a character that one reads. */
const npm = process.platform === 'win32' ? ['npm.cmd', { shell: true }] : ['npm', {}];

function run(command, args, options = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    ...options,
  });
  if (result.status !== 0) {
    console.error(`setup: \`${command} ${args.join(' ')}\` failed`);
    process.exit(result.status ?? 1);
  }
}

/** Files with one of the endings; folders that other programs fill (data, installed peers) are left out. */
function* filesBelow(folder, ...endings) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      const isForeign = entry.name === 'peers' || entry.name.startsWith('.');
      if (!isForeign) yield* filesBelow(path, ...endings);
    } else if (endings.some((ending) => entry.name.endsWith(ending))) yield path;
  }
}

/** Of names and contents: a checkout that only got new times is up to date. */
function fingerprint(paths) {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(`${relative(root, path)}\0`).update(readFileSync(path));
  return hash.digest('hex');
}

/** Runs `work` unless `stamp` already holds the fingerprint of `inputs`. */
async function step(name, stamp, inputs, work) {
  const path = join(root, stamp);
  const mark = fingerprint(inputs);
  if (!force && existsSync(path) && readFileSync(path, 'utf8') === mark) return;
  console.error(`setup: ${name}`);
  if (dryRun) return;
  await work();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, mark);
}

const at = (...parts) => join(root, ...parts);

await step('installing packages', 'node_modules/.trellis-stamp', [at('package-lock.json')], () =>
  run(npm[0], ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], npm[1]),
);
await step(
  'compiling AssemblyScript',
  'dist/wasm/.stamp',
  [at('asconfig.json'), ...filesBelow(at('wasm'), '.ts', '.json')],
  () => {
    mkdirSync(at('dist/wasm'), { recursive: true });
    run(process.execPath, [
      at('node_modules/assemblyscript/bin/asc.js'),
      '--config',
      'asconfig.json',
    ]);
  },
);
const rooms = ['engine', 'server', 'bench'];
const pages = at('server/explorer');
const sources = rooms
  .flatMap((folder) => [...filesBelow(at(folder), '.ts')])
  .filter((path) => !path.startsWith(pages));
await step(
  'compiling TypeScript',
  'dist/.stamp',
  [at('tsconfig.json'), at('wasm/layout.ts'), ...sources],
  () => {
    run(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json']);
    // What was compiled from a file that has gone would be shipped for ever.
    const known = new Set(sources.map((path) => relative(root, path).replace(/\.ts$/, '')));
    for (const path of rooms.flatMap((room) => [
      ...filesBelow(at('dist', room), '.js', '.ts', '.map'),
    ])) {
      const from = relative(at('dist'), path).replace(/\.(js|d\.ts)(\.map)?$/, '');
      if (!known.has(from)) rmSync(path);
    }
  },
);
/** What may go into the bundles; benches do not. */
function compiled() {
  const folders = [at('dist/engine'), at('dist/server')].filter(existsSync);
  return folders.flatMap((folder) => [...filesBelow(folder, '.js')]);
}
// One file instead of 350: a process starts in half the time. The entries stay side by side, where
// they look for each other and, two folders up, for package.json and dist/wasm.
await step(
  'bundling',
  'dist/bin/.stamp',
  [at('package-lock.json'), at('.ci/setup.mjs'), ...compiled()],
  async () => {
    const { buildSync } = await import('esbuild');
    rmSync(at('dist/bin'), { recursive: true, force: true });
    buildSync({
      entryPoints: [
        'dist/server/main.js',
        'dist/engine/index.js',
        'dist/engine/database/lane/worker.js',
        'dist/engine/database/vectors/snapshot-worker.js',
        'dist/engine/storage/folder/probe-child.js',
      ].map((path) => at(path)),
      entryNames: '[name]',
      outdir: at('dist/bin'),
      bundle: true,
      splitting: true,
      sourcemap: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      // With native parts, or a thread of their own.
      external: ['lmdb', 'piscina', 'uWebSockets.js', 'uWebSockets.js-next'],
    });
    // By themselves: the client for browsers imports nothing, the adapter only the framework.
    for (const [entry, name] of [
      ['client/client.js', 'client.js'],
      ['adapter/langchain.js', 'langchain.js'],
    ]) {
      buildSync({
        entryPoints: [at('dist/server', entry)],
        outfile: at('dist/bin', name),
        bundle: true,
        minify: true,
        platform: 'neutral',
        format: 'esm',
        target: 'es2022',
      });
    }
  },
);

/** The pages for browsers: named by their contents, each packed beforehand for those who take it. */
await step(
  'bundling the explorer',
  'dist/explorer/.stamp',
  [
    at('package-lock.json'),
    at('.ci/setup.mjs'),
    ...filesBelow(pages, '.ts', '.tsx', '.css', '.html', '.json'),
  ],
  async () => {
    const { buildSync } = await import('esbuild');
    const out = at('dist/explorer');
    rmSync(out, { recursive: true, force: true });
    const bundle = (options) =>
      buildSync({
        outdir: out,
        bundle: true,
        minify: true,
        metafile: true,
        format: 'esm',
        target: 'es2022',
        jsx: 'automatic',
        jsxImportSource: 'preact',
        entryNames: '[name].[hash]',
        chunkNames: '[name].[hash]',
        absWorkingDir: root,
        legalComments: 'none',
        ...options,
      }).metafile.outputs;
    const nameOf = (outputs, entry) =>
      Object.keys(outputs)
        .find((path) => outputs[path].entryPoint === entry)
        .replace(/^.*\//, '');
    const worker = 'server/explorer/canvas/layout-worker.ts';
    const workerName = nameOf(bundle({ entryPoints: [worker], format: 'iife' }), worker);
    const style = 'server/explorer/style.css';
    const styleName = nameOf(bundle({ entryPoints: [style] }), style);
    const main = 'server/explorer/main.tsx';
    const define = { LAYOUT_WORKER: JSON.stringify(workerName) };
    const mainName = nameOf(bundle({ entryPoints: [main], splitting: true, define }), main);
    const page = readFileSync(join(pages, 'index.html'), 'utf8')
      .replace('%STYLE%', styleName)
      .replace('%MAIN%', mainName);
    for (const name of readdirSync(out)) {
      const bytes = readFileSync(join(out, name));
      writeFileSync(join(out, `${name}.gz`), gzipSync(bytes, { level: 9 }));
      writeFileSync(join(out, `${name}.br`), brotliCompressSync(bytes));
    }
    writeFileSync(join(out, 'index.html'), page);
  },
);
