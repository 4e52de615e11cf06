// What lies on the disk of a node that has stopped, table by table, for comparisons between nodes.
import { join } from 'node:path';
import { hashTables } from '../../../engine/database/replication/table-check.js';
import { openEnv } from '../../../engine/storage/table/env.js';

/** A hash of each table of the data in `folder`. */
export async function storedTables(folder: string): Promise<object> {
  const env = openEnv(join(folder, 'graph'), { readOnly: true });
  const hashes = hashTables(env);
  await env.close();
  return hashes;
}
