// Shrinks the data file of a stopped server. LMDB keeps freed pages; a compacting copy omits them.
// Invariant: the data file is either the old one or the complete new one.
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import { copyGraphDense, swapGraph } from '../../storage/folder/copy-data.js';
import { openDataDirectory } from '../../storage/folder/manifest.js';
import { asDiskError, requireSpace } from '../../storage/lock/disk-error.js';
import { openStorage } from '../../storage/open-storage.js';
import { probeData, failIfDamaged } from '../../storage/folder/preopen-check.js';
import { verifyStorage } from './verify.js';

export async function compactGraph(
  dataDir: string,
  limits: Limits,
): Promise<{ before: number; after: number }> {
  if (!existsSync(join(dataDir, 'MANIFEST.json'))) {
    fail('DATA_DIR_BAD', { what: `${dataDir} holds no data` });
  }
  const directory = openDataDirectory(dataDir);
  const [graph, copy] = [join(dataDir, 'graph'), join(dataDir, 'graph.compact')];
  const dataFile = join(graph, 'data.mdb');
  rmSync(copy, { recursive: true, force: true });
  let isDone = false;
  const target = { path: dataDir, name: 'the data directory', bytes: statSync(dataFile).size };
  try {
    failIfDamaged(await probeData(graph, { sums: directory.takeSums() }));
    const storage = openStorage(graph, { limits, mode: 'attach' });
    try {
      const { fileBytes, freePages, pageBytes } = storage.usage();
      target.bytes = fileBytes - freePages * pageBytes;
      requireSpace(target);
      await copyGraphDense(storage.env, copy);
    } finally {
      storage.close();
    }
    verifyCopy(copy, limits);
    const sizes = swapGraph(graph, copy);
    isDone = true;
    return sizes;
  } catch (error) {
    throw asDiskError(error, target);
  } finally {
    rmSync(copy, { recursive: true, force: true });
    // After a failure, do not mark the file as cleanly closed.
    directory.close({ clean: isDone && directory.wasClean });
  }
}

function verifyCopy(copy: string, limits: Limits): void {
  const storage = openStorage(copy, { limits, mode: 'attach' });
  const [violation] = verifyStorage(storage);
  storage.close();
  if (violation) {
    fail('DATA_CORRUPT', { what: `the copy: ${violation.invariant} ${violation.what}` });
  }
}
