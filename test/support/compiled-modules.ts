// A plugin of the test runner: modules of the product come from `dist`, where `npm run setup` has
// compiled them, instead of being transformed once more and evaluated through the runner, which is
// a fifth of the work of a run. Owns the decision: only while `dist` is what the sources say, and
// never in watch mode, where they change under it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { root } from './project.js';

/** What Node imports by itself. */
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
