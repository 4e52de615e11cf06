// Copies of a data directory's file, and the manifests that go with them: backups, restores and
// compaction (operations.md 8). Invariant: what gets its final name is complete and on disk.
import { mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { syncPath } from '../lock/durable-file.js';
import { type Env, openEnv } from '../table/env.js';
import { probeData } from './probe.js';
import { copyDense } from './repack.js';
import { fail } from '../../base/errors.js';

/**
 * Copies the newest commit into the new folder `to`, while others read and write, and reads the copy
 * once in a child process. `dense`: written anew page by page, for which nobody else may have the
 * data open. Fails DATA_CORRUPT when a value of it is damaged.
 */
export async function copyGraph(env: Env, to: string, dense: boolean): Promise<void> {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  if (dense) {
    const copy = openEnv(to);
    copyDense(env, copy);
    copy.close();
  } else await env.copy(to);
  syncPath(join(to, 'data.mdb'));
  syncPath(to);
  const { rows, broken } = await probeData(to);
  const [fault] = [...broken, ...rows];
  if (fault !== undefined) fail('DATA_CORRUPT', { what: `the copy: ${fault}` });
}

/** Puts a compacted copy in the place of the data file; nobody may have it open. */
export function swapGraph(graph: string, copy: string): { before: number; after: number } {
  const [old, fresh] = [join(graph, 'data.mdb'), join(copy, 'data.mdb')];
  const sizes = { before: statSync(old).size, after: statSync(fresh).size };
  renameSync(fresh, old);
  syncPath(graph);
  return sizes;
}
