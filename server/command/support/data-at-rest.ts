// The data of a project opened by a command itself, while no server has them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Storage,
  fail,
  openDataDirectory,
  openStorage,
  probeData,
  refuseBroken,
} from '../../../engine/index.js';
import type { Config } from '../../config/config.js';
import { shownPath } from '../../terminal/format.js';

export const hasData = (dataDir: string): boolean => existsSync(join(dataDir, 'MANIFEST.json'));

/** There is nothing at a place where data were expected. */
export function failNoData(dataDir: string): never {
  const hint =
    'A first start of the server makes them. Is the project (--project) or its data directory (--data) another one?';
  return fail('DATA_DIR_BAD', { what: `${shownPath(dataDir)} holds no data` }, { hint });
}

/** Reads a directory that holds data and whose pages are sound, while no server has it. */
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
