// Brings a checkout to a runnable state with nothing but Node and npm: installs the locked
// packages, compiles TypeScript and AssemblyScript. Steps whose inputs did not change are skipped.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const force = process.argv.includes('--force');

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.status !== 0) {
    console.error(`setup: \`${command} ${args.join(' ')}\` failed`);
    process.exit(result.status ?? 1);
  }
}

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    // bench/peers holds what the benches installed for themselves.
    if (entry.isDirectory()) {
      if (entry.name !== 'peers') yield* filesBelow(path);
    } else if (entry.name.endsWith('.ts') || entry.name.endsWith('.json')) yield path;
  }
}

/** A fingerprint of names, sizes and times: cheap, and any edit changes it. */
function fingerprint(paths) {
  const hash = createHash('sha256');
  for (const path of paths) {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** Runs `work` unless `stamp` already holds the fingerprint of `inputs`. */
function step(name, stamp, inputs, work) {
  const path = join(root, stamp);
  const mark = fingerprint(inputs);
  if (!force && existsSync(path) && readFileSync(path, 'utf8') === mark) return;
  console.error(`setup: ${name}`);
  work();
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, mark);
}

const at = (...parts) => join(root, ...parts);

step('installing packages', 'node_modules/.trellis-stamp', [at('package-lock.json')], () =>
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']),
);
step(
  'compiling AssemblyScript',
  'dist/wasm/.stamp',
  [at('asconfig.json'), ...filesBelow(at('wasm'))],
  () => {
    mkdirSync(at('dist/wasm'), { recursive: true });
    run(process.execPath, [
      at('node_modules/assemblyscript/bin/asc.js'),
      '--config',
      'asconfig.json',
    ]);
  },
);
const sources = ['engine', 'server', 'bench'].flatMap((folder) => [...filesBelow(at(folder))]);
step(
  'compiling TypeScript',
  'dist/.stamp',
  [at('tsconfig.json'), at('wasm/layout.ts'), ...sources],
  () => run(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json']),
);
