// Copies the file of a data directory and writes the manifest of the copy, for backups, restores and
// compaction (operations.md 8).
// Invariant: a file that has its final name is complete and on disk.
import { mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { syncPath } from '../../fs/durable-file.js';
import { type Env, openEnv } from '../table/env.js';
import { copyPages } from './copy-pages.js';
import { probeData } from './preopen-check.js';
import { copyDense } from './defragment.js';
import { fail } from '../../base/errors.js';

/**
 * Copies the newest commit of the data in the folder `graph` into the new folder `to`, while other threads
 * read and write. The caller must hold a read transaction (`Env.keep`). Fails DATA_CORRUPT if a value of the
 * copy is damaged.
 */
export async function copyGraph(graph: string, to: string): Promise<void> {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  copyPages(join(graph, 'data.mdb'), join(to, 'data.mdb'));
  await readBack(to);
}

/**
 * Copies the data in key order, which fills all pages. No other process may have the data open. Fails
 * DATA_CORRUPT if a value of the copy is damaged.
 */
export async function copyGraphDense(env: Env, to: string): Promise<void> {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const copy = openEnv(to);
  copyDense(env, copy);
  copy.close();
  syncPath(join(to, 'data.mdb'));
  await readBack(to);
}

/** Verifies a copy; a large one in a child process. */
async function readBack(to: string): Promise<void> {
  syncPath(to);
  const { rows, broken } = await probeData(to, { isCopy: true });
  const [violation] = [...broken, ...rows];
  if (violation !== undefined) fail('DATA_CORRUPT', { what: `the copy: ${violation}` });
}

/**
 * Replaces the data file by a compacted copy; no process may have it open. Returns the file sizes in bytes.
 */
export function swapGraph(graph: string, copy: string): { before: number; after: number } {
  const [old, fresh] = [join(graph, 'data.mdb'), join(copy, 'data.mdb')];
  const sizes = { before: statSync(old).size, after: statSync(fresh).size };
  renameSync(fresh, old);
  syncPath(graph);
  return sizes;
}
