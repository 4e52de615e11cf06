// A plugin of the test runner that loads modules of the product from `dist`, where `npm run setup` has
// compiled them. Transforming and evaluating them in the runner is a fifth of the work of a run. It does so
// only while `dist` is current, and never in watch mode, where the sources change.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { root } from './project.js';

/** Modules that Node can import directly. */
export const compiled = /\/dist\/(engine|server|bench|wasm)\//;

/** Whether setup would have nothing to compile. */
function isCurrent(): boolean {
  const script = join(root, '.ci/setup.mjs');
  const dryRun = spawnSync(process.execPath, [script, '--dry-run'], { encoding: 'utf8' });
  return dryRun.status === 0 && !dryRun.stderr.includes('compiling');
}

const isProduct = (path: string): boolean =>
  /^(engine|server|bench)\/|^wasm\/layout\.js$/.test(path.replaceAll('\\', '/'));

export function compiledModules(isWatching: boolean) {
  const isUsed = !isWatching && isCurrent();
  return {
    name: 'compiled-modules',
    enforce: 'pre' as const,
    resolveId(id: string, importer?: string): string | undefined {
      if (!isUsed || importer === undefined || !/^\..*\.js$/.test(id)) return;
      const path = relative(root, resolve(dirname(importer), id));
      const built = join(root, 'dist', path);
      return isProduct(path) && existsSync(built) ? built : undefined;
    },
  };
}
