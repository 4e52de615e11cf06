// Folders that keep loaded data between runs of a benchmark, outside the project. A folder counts
// only once `complete` was called: an interrupted load starts again.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CacheFolder {
  path: string;
  /** An earlier run has filled it. */
  isComplete: boolean;
  complete(): void;
}

/** `name` says all that the content depends on: data, scale, contender and its version. */
export function cacheFolder(name: string): CacheFolder {
  const path = join(tmpdir(), 'trellisdb-bench', name);
  const mark = `${path}.complete`;
  const isComplete = existsSync(mark);
  if (!isComplete) rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  return { path, isComplete, complete: () => writeFileSync(mark, '') };
}

/** Loads, and prints how long it took. */
export async function timeLoad(what: string, count: number, load: () => Promise<void>) {
  const started = performance.now();
  await load();
  printLoad(what, count, (performance.now() - started) / 1000);
}

/** Prints how long a load took. */
export function printLoad(what: string, count: number, seconds: number): void {
  const rate = Math.round(count / seconds).toLocaleString('en-US');
  console.log(`${what}: ${count.toLocaleString('en-US')} in ${seconds.toFixed(1)} s, ${rate}/s`);
}
