// Hashes every table at one log position, to check whether two nodes have the same data.
// Invariant: node-local values are excluded: the position, the trimmed part of the vector log, the positions
// of snapshots.
import { createHash } from 'node:crypto';
import { fail } from '../../base/errors.js';
import { entryKind } from '../../cluster/entry/kind.js';
import type { LogClient } from '../../cluster/ipc/log-client.js';
import type { ClusterPosition } from '../../cluster/node.js';
import type { Storage } from '../../storage/open-storage.js';
import type { Env, Table } from '../../storage/table/env.js';
import { metaKey } from '../../storage/table/meta.js';
import { type TableName, tableNames } from '../../storage/table/table-name.js';
import { isPositionKey } from '../vectors/snapshot-position.js';

export type TableHashes = Partial<Record<TableName, string>>;

const never = (): boolean => false;

/** Keys that are local to a node. */
const localIn: Partial<Record<TableName, (key: Uint8Array) => boolean>> = {
  meta: ([tag]) => tag === metaKey.position[0] || tag === metaKey.trimmed[0],
  derived: isPositionKey,
};

const rowsPerRead = 1000;

/**
 * Hashes the newest commit. The vector log is excluded, because each node keeps as much of it as it needs.
 */
export function hashTables(env: Env): TableHashes {
  env.refresh();
  return hashPinned(env);
}

/** Hashes the snapshot that this thread has open. */
export function hashPinned(env: Env): TableHashes {
  const hashes: TableHashes = {};
  for (const name of tableNames) {
    if (name !== 'vlog') hashes[name] = hashOf(env[name] as Table<unknown>, localIn[name]);
  }
  return hashes;
}

function hashOf(table: Table<unknown>, isLocal: (key: Uint8Array) => boolean = never): string {
  const hash = createHash('sha256');
  for (let from = table.first; from !== undefined; ) {
    const rows = table.withChecksum(from, rowsPerRead + 1);
    for (const { key, value } of rows.slice(0, rowsPerRead)) {
      const bytes = table.keyBytes(key);
      if (!isLocal(bytes)) hash.update(bytes).update(value);
    }
    from = rows[rowsPerRead]?.key;
  }
  return hash.digest('hex').slice(0, 32);
}

/** Leader only: appends an entry with the hashes of all tables at its position. */
export function appendTableHashes({ env }: Storage, log: LogClient): void {
  log.append(entryKind.check, new TextEncoder().encode(JSON.stringify(hashTables(env))));
  log.needsTableCheck = false;
}

/** Leader only: appends the settings for all nodes. */
export function appendSettings(
  { env }: Storage,
  log: LogClient,
  { settings }: { settings: Uint8Array },
): ClusterPosition {
  const put = (): boolean => {
    env.meta.put(metaKey.settings, settings);
    return true;
  };
  log.withAppendOptions({ kind: entryKind.schema }, () => env.transact(put));
  log.publish();
  const { epoch, seq } = log.position;
  return { epoch, seq };
}

/** Compares this node's tables with the hashes in a check entry. Fails DIVERGED. */
export function compareTables({ env }: Storage, body: Uint8Array): void {
  const theirs = JSON.parse(Buffer.from(body).toString()) as TableHashes;
  const local = hashTables(env);
  const other = tableNames.filter((name) => local[name] !== theirs[name]);
  if (other.length > 0) fail('DIVERGED', { tables: other.join(', ') });
}
