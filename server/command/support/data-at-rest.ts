// Opens the data of a project for a command, while no server has them open.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Storage,
  fail,
  openDataDirectory,
  openStorage,
  probeData,
  refuseBroken,
} from '../../../engine/internal.js';
import type { Config } from '../../config/config.js';
import { shownPath } from '../../terminal/format.js';

export const hasData = (dataDir: string): boolean => existsSync(join(dataDir, 'MANIFEST.json'));

/** Fails DATA_DIR_BAD: there is no data in the directory. */
export function failNoData(dataDir: string): never {
  const hint =
    'A first start of the server makes them. Is the project (--project) or its data directory (--data) another one?';
  return fail('DATA_DIR_BAD', { what: `${shownPath(dataDir)} holds no data` }, { hint });
}

/**
 * Runs `work` on the storage of a data directory, after a check of its pages. Fails DATA_LOCKED if a server
 * has it.
 */
export async function withStorage<T>(
  config: Config,
  work: (storage: Storage) => T | Promise<T>,
): Promise<T> {
  const { dataDir, limits } = config;
  if (!hasData(dataDir)) failNoData(dataDir);
  const directory = openDataDirectory(dataDir, { readOnly: true });
  try {
    refuseBroken(await probeData(join(dataDir, 'graph'), { sums: directory.takeSums() }));
    const storage = openStorage(join(dataDir, 'graph'), { limits, mode: 'attach' });
    try {
      return await work(storage);
    } finally {
      storage.close();
    }
  } finally {
    directory.close({ clean: false });
  }
}
