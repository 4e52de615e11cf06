// Takes what the writer needs for its vector indexes from the options of a database.
import { join } from 'node:path';
import type { DatabaseOptions } from '../call/options.js';
import type { VectorStoreOptions } from './vector-store.js';

export function vectorSetup(
  { dataDir, vectors, cluster, snapshot }: DatabaseOptions,
  dbUuid: string,
): VectorStoreOptions {
  const { types, segmentBytes } = vectors;
  const folder = join(dataDir, 'vec');
  const skipped = cluster?.skipVectors;
  const index = { default: vectors.default, types, skipped, snapshot };
  return { folder, dbUuid, ...index, ...(segmentBytes !== undefined && { segmentBytes }) };
}
