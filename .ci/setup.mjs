// Brings a checkout to a runnable state with nothing but Node and npm: installs the locked
// packages, compiles TypeScript and AssemblyScript, bundles. Steps whose inputs did not change are skipped:
// `dist` stays as it is under a server that runs from it. `--dry-run` says what would be done.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, parse, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { nativeFaults } from './native-faults.mjs';
import { noteBundled, noticesText } from './notices.mjs';
import { bomText } from './sbom.mjs';
import { warm } from './warm.mjs';

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
  endUnlessDone(result.status, command, args);
}

/** Runs a step in parallel with other steps. */
async function runBeside(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  const status = await new Promise((resolve) => child.once('close', resolve));
  endUnlessDone(status, command, args);
}

function endUnlessDone(status, command, args) {
  if (status === 0) return;
  console.error(`setup: \`${command} ${args.join(' ')}\` failed`);
  process.exit(status ?? 1);
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

/** Fingerprint of names and contents: a checkout with new file times only is up to date. */
function fingerprint(paths) {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(`${relative(root, path)}\0`).update(readFileSync(path));
  return hash.digest('hex');
}

/** Fingerprint of names, sizes and times. If none has changed, the contents have not either. */
function glance(paths) {
  const looks = paths.map((path) => {
    const { size, mtimeMs } = statSync(path);
    return `${relative(root, path)} ${size} ${mtimeMs}`;
  });
  return createHash('sha256').update(looks.join('\n')).digest('hex');
}

/** What each step has seen of its inputs, by its stamp. */
const looksPath = join(root, 'dist/.looks');
const looks = existsSync(looksPath) ? JSON.parse(readFileSync(looksPath, 'utf8')) : {};

/** Runs `work` unless `stamp` already holds the fingerprint of `inputs`. */
async function step(name, stamp, inputs, work) {
  const path = join(root, stamp);
  const look = glance(inputs);
  const isThere = !force && existsSync(path);
  if (isThere && looks[stamp] === look) return;
  const mark = fingerprint(inputs);
  const isDone = isThere && readFileSync(path, 'utf8') === mark;
  if (!isDone) console.error(`setup: ${name}`);
  if (dryRun) return;
  if (!isDone) await work();
  mkdirSync(dirname(path), { recursive: true });
  if (!isDone) writeFileSync(path, mark);
  looks[stamp] = look;
  mkdirSync(dirname(looksPath), { recursive: true });
  writeFileSync(looksPath, JSON.stringify(looks));
}

const at = (...parts) => join(root, ...parts);

await step('installing packages', 'node_modules/.trellis-stamp', [at('package-lock.json')], () =>
  run(npm[0], ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], npm[1]),
);
// The compiler has not been loaded yet.
if (!dryRun) {
  const { faults, unlisted } = nativeFaults(root, process.env.TRELLIS_SERVER_TRANSPORT_SHA256);
  for (const name of unlisted)
    console.error(`setup: ${name} is on no list: the server does not load it`);
  for (const fault of faults) console.error(`setup: ${fault}`);
  if (faults.length > 0) process.exit(1);
}
// The two compilers need nothing of each other.
const module = step(
  'compiling AssemblyScript',
  'dist/wasm/.stamp',
  [at('asconfig.json'), ...filesBelow(at('wasm'), '.ts', '.json')],
  () => {
    mkdirSync(at('dist/wasm'), { recursive: true });
    return runBeside(process.execPath, [
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
    // Types are checked by `npm run check`: half of the time, and what is written is the same.
    const tsc = at('node_modules/typescript/bin/tsc');
    run(process.execPath, [tsc, '-p', 'tsconfig.json', '--noCheck']);
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
await module;
/** Declarations of what the package exports, with all that these name, and no others. */
await step(
  'gathering declarations',
  'dist/types/.stamp',
  [at('.ci/setup.mjs'), at('.ci/declarations.mjs'), at('dist/.stamp')].filter(existsSync),
  async () => {
    const { gatherDeclarations } = await import('./declarations.mjs');
    gatherDeclarations(at('dist'), at('dist/types'), [
      'engine/public.d.ts',
      'server/client/client.d.ts',
    ]);
  },
);
/** The file by which a program is started. */
const runnerOf = ([file, bundle, started, keepAfterMs]) => {
  const name = parse(file).name;
  const mark = `${name}-${fingerprint([at('dist/bin', `${bundle}.cjs`)]).slice(0, 16)}`;
  const run = `runBundle({ url, mark: '${mark}', keepAfterMs: ${keepAfterMs} })`;
  // As engine/database/lane/worker.cts does: the process must not end while a thread of a database loads.
  const isLane = file === 'worker.cjs';
  const contents = `
    import { runBundle } from './compile-cache.js';
    ${isLane ? "import { beginLoading, endLoading } from '../../engine/database/lane/safe-exit.js';" : ''}
    const url = new URL('./${bundle}.cjs', import.meta.url).href;
    ${isLane ? 'beginLoading();' : ''}
    const bundle = ${run};
    ${isLane ? 'endLoading();' : ''}
    export default bundle.${started};`;
  return { contents, resolveDir: at('dist/server/lifecycle') };
};
/**
 * The file that `trellis` starts. It checks the version of Node before anything else is loaded, in syntax that every
 * version parses: older versions would end with a line of bundled code.
 */
const launcherText = () => {
  const { engines } = JSON.parse(readFileSync(at('package.json'), 'utf8'));
  const [, major, minor] = /(\d+)\.(\d+)/.exec(engines.node);
  return `#!/usr/bin/env node
var version = process.versions.node.split('.').map(Number);
if (version[0] < ${major} || (version[0] === ${major} && version[1] < ${minor})) {
  console.error('trellis needs Node.js ${major}.${minor} or newer. This is Node.js ' + process.versions.node + '.');
  process.exitCode = 78;
} else {
  import('./program.js').catch(function (error) {
    // A package that is not installed has one line of its own.
    return import('./installed-package.js').then(
      function () { throw error; },
      function (missing) { console.error('trellis: ' + missing.message); process.exitCode = 78; }
    );
  });
}
`;
};
/**
 * Packages whose JavaScript is a separate bundle, loaded when it is first needed: most users do not need the client
 * of the JetStream log.
 */
const nats = {
  name: 'the client of JetStream is a file beside',
  setup(build) {
    build.onResolve({ filter: /^@nats-io\// }, () => ({ path: './nats.cjs', external: true }));
  },
};
/** The CommonJS form of packages that have two, so that a bundle holds one. */
const alias = { lmdb: at('node_modules/lmdb/dist/index.cjs') };
/** Texts of modules that look for a file next to themselves, and their replacements in a bundle. */
const relocated = {
  'dist/engine/vector/wasm.js': [
    ["'../../wasm/hnsw.wasm'", "'../wasm/hnsw.wasm'"],
    ["'../../dist/wasm/hnsw.wasm'", "'../wasm/hnsw.wasm'"],
  ],
  'node_modules/lmdb/dist/index.cjs': [
    ["new (require('u' + 'rl').URL)('file:' + __filename).href", 'ownUrl'],
  ],
  // The native part is a package for each platform. Nothing else of lmdb is installed.
  'node_modules/node-gyp-build-optional-packages/node-gyp-build.js': [
    ["runtimeRequire(path.join(dir, 'package.json')).name", "'lmdb'"],
  ],
  'node_modules/piscina/dist/index.js': [
    ["(0, node_path_1.resolve)(__dirname, 'worker.js')", "new URL('./task-thread.cjs', ownUrl)"],
  ],
};
const placed = {
  name: 'modules know where they lie',
  setup(build) {
    const files =
      /[\\/]node_modules[\\/].*\.[mc]?js$|[\\/]dist[\\/]engine[\\/]vector[\\/]wasm\.js$/;
    build.onResolve({ filter: /^own-url$/ }, () => ({ path: 'own-url', namespace: 'own' }));
    build.onLoad({ filter: /^own-url$/, namespace: 'own' }, () => ({
      contents: 'export const ownUrl = import.meta.url;',
    }));
    build.onLoad({ filter: files }, async ({ path }) => {
      const place = relative(root, path).replaceAll('\\', '/');
      const changes = relocated[place] ?? [];
      let text = readFileSync(path, 'utf8');
      for (const [from, to] of changes) {
        if (!text.includes(from)) throw new Error(`${path} has no \`${from}\``);
        text = text.replaceAll(from, to);
      }
      if (place.startsWith('dist/')) return { contents: text };
      const needsUrl = changes.some(([, to]) => to.includes('ownUrl'));
      if (needsUrl) text = `const { ownUrl } = require('own-url');\n${text}`;
      // Names of local variables are short in code of others only: stacks show the names of ours.
      const { code } = await build.esbuild.transform(text, { minify: true, target: 'node20' });
      return { contents: code };
    });
  },
};
/**
 * Code from the V8 cache has lost what `import` needs, so the program that runs the bundle provides it.
 */
const imported = {
  name: 'modules that are named as it runs come by importModule',
  setup(build) {
    build.onLoad({ filter: /[\\/]dist[\\/](engine|server)[\\/].*\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!/\bimport\((?!['"`])/.test(text)) return undefined;
      return { contents: text.replace(/\bimport\((?!['"`])/g, 'importModule(') };
    });
  },
};
/** No module of ours is there for what it does when it is loaded: one of which nothing is used is left out. */
const used = {
  name: 'modules of which something is used',
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ path, resolveDir }) =>
      relative(at('dist'), resolveDir).startsWith('..')
        ? undefined
        : { path: join(resolveDir, path), sideEffects: false },
    );
  },
};
const program = {
  plugins: [used, nats, placed, imported],
  lineLimit: 200,
  sourcemap: true,
  format: 'cjs',
  define: {
    'import.meta.url': 'bundleUrl',
    'process.env.MSGPACKR_NATIVE_ACCELERATION_DISABLED': '"true"',
  },
  supported: { 'dynamic-import': true },
};
/** Milliseconds of a run whose code is kept. */
const typical = '2_000';
/** By file, or by text: reader, writer and HTTP threads share nearly all of their code, so they are one bundle. */
const bundles = {
  main: 'server/main.js',
  threads: `
    export { default as lane } from './engine/database/lane/thread-main.js';
    import { parentPort, workerData } from 'node:worker_threads';
    import { runHttpThread } from './server/http-threads/http-thread.js';
    export const httpThread = () => runHttpThread(parentPort, workerData);`,
  'compile-task': 'engine/database/schema/compile-task.js',
  'answer-task': 'engine/embed/answer-task.js',
  'log-thread': 'engine/cluster/role/log-thread.js',
  'snapshot-worker': 'engine/database/vectors/snapshot-worker.js',
};
/**
 * Files of packages alone: the client of JetStream, and the script that Piscina's threads run. The names of the client
 * are written out, because an ES module can import only the names that Node finds in the text of a CommonJS file.
 */
const packages = {
  nats: `
    export { DeliverPolicy, DiscardPolicy, JetStreamApiError } from '@nats-io/jetstream';
    export { RetentionPolicy, StorageType, jetstream, jetstreamManager } from '@nats-io/jetstream';
    export { connect, credsAuthenticator, nanos } from '@nats-io/transport-node';`,
  'task-thread': "import './node_modules/piscina/dist/worker.js';",
};
/** Programs and threads: the file's name, its bundle, what of it is called, for how long its run is a typical one. */
const programs = [
  [
    'program.js',
    'main',
    'default',
    `['serve', 'dev'].includes(process.argv[2]) ? ${typical} : undefined`,
  ],
  ['http-thread-entry.js', 'threads', 'httpThread()', typical],
  ['worker.cjs', 'threads', 'lane', typical],
  ['compile-thread.cjs', 'compile-task', 'default', 'undefined'],
  ['answer-thread.cjs', 'answer-task', 'default', 'undefined'],
  ['log-thread.js', 'log-thread', 'default', typical],
  ['snapshot-worker.js', 'snapshot-worker', 'default', typical],
];
// One file instead of 350 halves the start time of a process. With cached code of V8 it is a third; V8 caches
// code of scripts only, not of modules (server/lifecycle/compile-cache.ts). The entries stay in one folder,
// because they look for each other there, and two folders up for package.json and dist/wasm.
await step(
  'bundling',
  'dist/bin/.stamp',
  ['package-lock.json', '.ci/setup.mjs', '.ci/installed-package.mjs', 'dist/.stamp']
    .map((path) => at(path))
    .filter(existsSync),
  async () => {
    const esbuild = await import('esbuild');
    const metafiles = [];
    const build = async (options) => metafiles.push((await esbuild.build(options)).metafile);
    rmSync(at('dist/bin'), { recursive: true, force: true });
    const shared = {
      bundle: true,
      metafile: true,
      absWorkingDir: root,
      platform: 'node',
      target: 'node20',
      alias,
      // For priorities of threads, which no thread here has.
      external: ['@napi-rs/nice'],
      minifyWhitespace: true,
      minifySyntax: true,
    };
    await build({
      ...shared,
      plugins: [used, nats, placed],
      // Packages in CommonJS load modules of Node by `require`.
      banner: { js: "import{require}from'./installed-package.js';" },
      entryPoints: {
        index: at('dist/engine/public.js'),
        'preopen-check-child': at('dist/engine/storage/folder/preopen-check-child.js'),
      },
      entryNames: '[name]',
      // Node prints the source line of an uncaught error, so keep lines short.
      lineLimit: 120,
      outdir: at('dist/bin'),
      splitting: true,
      format: 'esm',
    });
    copyFileSync(at('.ci/installed-package.mjs'), at('dist/bin/installed-package.js'));
    for (const [name, contents] of Object.entries(packages)) {
      await build({
        ...shared,
        stdin: { contents, resolveDir: root },
        minify: true,
        outfile: at('dist/bin', `${name}.cjs`),
        format: 'cjs',
      });
    }
    for (const [name, entry] of Object.entries(bundles)) {
      const isFile = existsSync(at('dist', entry));
      await build({
        ...shared,
        ...(isFile
          ? { entryPoints: [at('dist', entry)] }
          : { stdin: { contents: entry, resolveDir: at('dist') } }),
        outfile: at('dist/bin', `${name}.cjs`),
        ...program,
      });
    }
    for (const one of programs) {
      const [file] = one;
      // Piscina's threads have theirs by `require` (engine/database/lane/worker.cts).
      const isRequired = file.endsWith('.cjs');
      await build({
        ...shared,
        stdin: runnerOf(one),
        minify: true,
        ...(isRequired && {
          banner: { js: "const fileUrl = require('node:url').pathToFileURL(__filename).href;" },
          define: { 'import.meta.url': 'fileUrl' },
          supported: { 'dynamic-import': true },
        }),
        outfile: at('dist/bin', file),
        format: isRequired ? 'cjs' : 'esm',
      });
    }
    writeFileSync(at('dist/bin/main.js'), launcherText());
    chmodSync(at('dist/bin/main.js'), 0o755);
    // Bundled separately: the client for browsers imports nothing, and an integration imports only its
    // framework.
    for (const [entry, name] of [
      ['client/client.js', 'client.js'],
      ['integrations/langchain.js', 'langchain.js'],
      ['integrations/mastra.js', 'mastra.js'],
    ]) {
      await build({
        entryPoints: [at('dist/server', entry)],
        outfile: at('dist/bin', name),
        bundle: true,
        minifyIdentifiers: name === 'client.js',
        metafile: true,
        absWorkingDir: root,
        minify: true,
        platform: 'neutral',
        format: 'esm',
        target: 'es2022',
      });
    }
    noteBundled(root, 'bin', metafiles);
  },
);

/** Entries of threads among what is only compiled, and the files above that do the same. */
const entries = [
  ['engine/database/lane/worker.cjs', 'worker.cjs'],
  ['engine/database/schema/compile-thread.cjs', 'compile-thread.cjs'],
  ['engine/embed/answer-thread.cjs', 'answer-thread.cjs'],
  ['server/http-threads/http-thread-entry.js', 'http-thread-entry.js'],
];
// Tests and benches run what is compiled: their threads start from the bundles, with a fifth of the work
// that loading 250 modules is.
await step(
  'pointing threads at the bundles',
  'dist/bin/.entries-stamp',
  [at('.ci/setup.mjs'), at('dist/bin/.stamp')].filter(existsSync),
  () => {
    for (const [entry, file] of entries) {
      const path = posix.relative(posix.dirname(entry), `bin/${file}`);
      const isRequired = file.endsWith('.cjs');
      writeFileSync(
        at('dist', entry),
        isRequired ? `module.exports = require('${path}');\n` : `import '${path}';\n`,
      );
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
    const metafiles = [];
    const bundle = (options) => {
      const { metafile } = buildSync({
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
      });
      metafiles.push(metafile);
      return metafile.outputs;
    };
    const nameOf = (outputs, entry) =>
      Object.keys(outputs)
        .find((path) => outputs[path].entryPoint === entry)
        .replace(/^.*\//, '');
    const worker = 'server/explorer/canvas/layout-worker.ts';
    const workerName = nameOf(bundle({ entryPoints: [worker], format: 'iife' }), worker);
    const style = 'server/explorer/style.css';
    const styleName = nameOf(bundle({ entryPoints: [style] }), style);
    const pageStyle = 'server/explorer/pages.css';
    const pageStyleName = nameOf(bundle({ entryPoints: [pageStyle] }), pageStyle);
    const main = 'server/explorer/main.tsx';
    const define = {
      LAYOUT_WORKER: JSON.stringify(workerName),
      PAGES_STYLE: JSON.stringify(pageStyleName),
    };
    const alias = { events: './server/explorer/canvas/events.ts' };
    const mainName = nameOf(bundle({ entryPoints: [main], splitting: true, define, alias }), main);
    const page = readFileSync(join(pages, 'index.html'), 'utf8')
      .replace('%STYLE%', styleName)
      .replace('%MAIN%', mainName);
    for (const name of readdirSync(out)) {
      const bytes = readFileSync(join(out, name));
      writeFileSync(join(out, `${name}.gz`), gzipSync(bytes, { level: 9 }));
      writeFileSync(join(out, `${name}.br`), brotliCompressSync(bytes));
    }
    writeFileSync(join(out, 'index.html'), page);
    noteBundled(root, 'explorer', metafiles);
  },
);

await step(
  'telling what is inside',
  'dist/bin/.inside-stamp',
  [
    at('package-lock.json'),
    ...['setup', 'notices', 'sbom'].map((name) => at('.ci', `${name}.mjs`)),
    ...['dist/bin/.stamp', 'dist/explorer/.stamp'].map((name) => at(name)).filter(existsSync),
  ],
  () => {
    writeFileSync(at('dist/bin/THIRD-PARTY-NOTICES.txt'), noticesText(root));
    writeFileSync(at('dist/bin/sbom.cdx.json'), bomText(root));
  },
);

await step(
  'running the server once',
  'dist/bin/code/.stamp',
  [
    at('.ci/warm.mjs'),
    ...Object.keys(bundles)
      .map((name) => at('dist/bin', `${name}.cjs`))
      .filter(existsSync),
  ],
  () => warm(root, at('dist/bin/code'), ['program', 'http-thread-entry', 'worker']),
);
