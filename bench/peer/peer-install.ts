// Installs the packages a benchmark compares with into bench/peers (git-ignored: they are measured,
// never shipped) and loads them from there. A peer that cannot be had here is reported, not fatal.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = resolve('bench', 'peers');
const modules = join(folder, 'node_modules');

interface Manifest {
  version: string;
  main?: string;
  module?: string;
  exports?: unknown;
}

function manifestOf(name: string): Manifest | undefined {
  const path = join(modules, name, 'package.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : undefined;
}

/** `@scope/name@1.2.3` -> name and version. */
function split(spec: string): [name: string, version: string] {
  const at = spec.lastIndexOf('@');
  return [spec.slice(0, at), spec.slice(at + 1)];
}

/** The file that `import` of a package means: its condition `import`, else `module`, else `main`. */
function entryOf(manifest: Manifest): string {
  const walk = (node: unknown): string | undefined => {
    if (typeof node === 'string') return node;
    if (typeof node !== 'object' || node === null) return undefined;
    const conditions = node as Record<string, unknown>;
    return walk(conditions['.'] ?? conditions.import ?? conditions.node ?? conditions.default);
  };
  return walk(manifest.exports) ?? manifest.module ?? manifest.main ?? 'index.js';
}

/** Installs what is missing, all packages in one npm run. */
function install(specs: readonly string[]): void {
  const missing = specs.filter((spec) => {
    const [name, version] = split(spec);
    return manifestOf(name)?.version !== version;
  });
  if (missing.length === 0) return;
  mkdirSync(folder, { recursive: true });
  console.log(`installing ${missing.join(' ')} into bench/peers`);
  const options = ['--prefix', folder, '--no-audit', '--no-fund', '--loglevel', 'error'];
  spawnSync('npm', ['install', ...options, ...missing], { stdio: 'inherit' });
}

function pathOf(name: string): string {
  const manifest = manifestOf(name);
  if (manifest === undefined) throw new Error('npm could not install it');
  return join(modules, name, entryOf(manifest));
}

/** The module of a package of bench/peers, or the reason why there is none. */
const load = (name: string): Promise<unknown> => import(pathToFileURL(pathOf(name)).href);

/**
 * Modules by package name for `specs` such as `kuzu@0.11.3`; those that do not install or load here
 * are missing from the map and printed with the reason.
 */
export async function loadPeers(specs: readonly string[]): Promise<Map<string, unknown>> {
  install(specs);
  const found = new Map<string, unknown>();
  for (const spec of specs) {
    const [name] = split(spec);
    try {
      found.set(name, await load(name));
    } catch (error) {
      const reason = (error as Error).message.split('\n')[0];
      console.log(`${spec} is left out, it cannot be used here: ${reason}`);
    }
  }
  return found;
}
