// The LMDB environment: opens every table with the options that were measured to be safe (operations.md
// 11.1), and runs transactions.
//
// Invariant: when a transaction returns, all its writes are on disk, or none of them. In a cluster they are
// in the log before they are on this disk (env-options.ts).
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ABORT, type Database, type RootDatabase, open } from 'lmdb';
import { assert } from '../../base/assert.js';
import { TrellisError, fail } from '../../base/errors.js';
import { checkAddressSpace, mapBytes } from './address-space.js';
import { asCorruption, isPanic } from './lmdb-error.js';
import {
  type AdjacencyKey,
  type BlockKey,
  type KeyCodec,
  adjacencyKey,
  blockKey,
  bytesKey,
  idKey,
  sequenceKey,
} from './keys.js';
import { DiskRoom } from '../lock/disk-space.js';
import type { Invalidations, EnvOptions, TransactionHold } from './env-options.js';
import { readCommits, readState } from './meta.js';
import { ReplicatedTable } from './replicated-table.js';
import { Table, type TableWatch, releaseParts } from './table.js';
import { type TableName, tableNames } from './table-name.js';
import { type Usage, endOf, usageOf } from './file-usage.js';
import { UuidCache } from './uuid-cache.js';

export { Table } from './table.js';
export type { Usage } from './file-usage.js';

export interface Env {
  meta: Table<Uint8Array>;
  uuid: Table<Uint8Array>;
  records: Table<number>;
  labels: Table<BlockKey>;
  out: Table<AdjacencyKey>;
  in: Table<AdjacencyKey>;
  index: Table<Uint8Array>;
  vectors: Table<number>;
  vlog: Table<number>;
  derived: Table<Uint8Array>;
  /** Change notifications for all threads of the process; undefined if there is only one. */
  notes: Invalidations | undefined;
  /** Free space of the disk. */
  readonly room: DiskRoom;
  /**
   * Runs one durable transaction: when this returns, the writes of `work` are on disk. Nothing is written if
   * `work` throws or returns false. `work` must be synchronous, because a promise would leave the transaction
   * open (L08). Fails READ_ONLY if this thread may not write; after the commit, this means that another
   * process may have overwritten it. Fails INSUFFICIENT_STORAGE if the disk is full: nothing was written, and
   * a later transaction may succeed.
   */
  transact(work: () => boolean): void;
  /** Like `transact`, for data that only this node of a cluster has: nothing is recorded for the log. */
  transactLocally(work: () => boolean): void;
  /**
   * Shows the newest commit to this thread. Call it once per batch: each call leaves a timer until the next
   * turn of the event loop.
   */
  refresh(): void;
  /**
   * Protects the pages of this thread's present snapshot from reuse, until the returned function is called.
   */
  keep(): () => void;
  /** Returns the space usage of the file, as of this thread's present snapshot. */
  usage(): Usage;
  /** Resolves when this thread has closed the file. */
  close(): Promise<void>;
}

/** Bytes that LMDB writes to its two files before the first transaction, with a margin. */
const newFilesBytes = 256 * 1024;

const bigEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 0;

/**
 * Opens the environment in the folder `path`. For writing: creates missing files, and waits for a transaction
 * in progress (700 ms for an open transaction of 800 ms, L11). Read-only: takes 2 ms once this process has
 * opened the environment for writing; such a thread can never take the write lock (P02).
 */
export function openEnv(path: string, envOptions: EnvOptions = {}): Env {
  const { readOnly = false } = envOptions;
  assert(!bigEndian, 'values are little-endian, as this machine must be');
  checkAddressSpace();
  let root: RootDatabase | undefined;
  const room = new DiskRoom(path, () => (root === undefined ? 0 : endOf(root)));
  checkFiles(path, room);
  const options = {
    path,
    noSubdir: false,
    readOnly,
    overlappingSync: false,
    safeRestore: true,
    noSync: false,
    noMetaSync: false,
    useWritemap: false,
    maxDbs: tableNames.length + 32,
    maxReaders: 512,
    mapSize: mapBytes,
    pageSize: 4096,
    permissionsMode: 0o600,
    cache: false,
    compression: false,
    encoding: 'binary' as const,
  };
  envOptions.hold?.begin();
  try {
    root = open(options);
    return envOf(root, room, envOptions);
  } catch (error) {
    throw asCorruption(error, 'data.mdb');
  } finally {
    envOptions.hold?.end();
  }
}

/**
 * Checks the space for files that LMDB creates and maps: a page fault on a full disk would end the process
 * with a signal.
 */
function checkFiles(path: string, room: DiskRoom): void {
  const isThere = ['data.mdb', 'lock.mdb'].every((name) => existsSync(join(path, name)));
  if (isThere || room.canGrow(newFilesBytes)) return;
  fail('INSUFFICIENT_STORAGE', { free: room.free, needed: newFilesBytes });
}

/** Runs one transaction in which the thread cannot be stopped. */
function transactHeld(root: RootDatabase, hold: TransactionHold | undefined, work: () => unknown) {
  hold?.begin();
  try {
    root.transactionSync(work);
  } finally {
    hold?.end();
  }
}

function tablesOf(root: RootDatabase, { notes, replication }: EnvOptions, uuids?: UuidCache) {
  const table = <K>(name: TableName, codec: KeyCodec<K>, watch: TableWatch<K> = {}): Table<K> => {
    const own = { name, encoding: 'binary' as const, cache: false, keyEncoder: codec };
    const database = root.openDB(own) as Database;
    if (replication === undefined) return new Table(name, database, codec, watch);
    return new ReplicatedTable(name, database, codec, replication.recorder, watch);
  };
  const touchId = notes && ((id: number) => notes.touch(id));
  const touchList = notes && (({ id }: AdjacencyKey) => notes.touch(id));
  return {
    meta: table('meta', bytesKey),
    uuid: table('uuid', bytesKey, { memo: uuids }),
    records: table('records', idKey, { touch: touchId }),
    labels: table('labels', blockKey),
    out: table('out', adjacencyKey, { touch: touchList }),
    in: table('in', adjacencyKey, { touch: touchList }),
    index: table('index', bytesKey),
    vectors: table('vectors', idKey),
    vlog: table('vlog', sequenceKey),
    derived: table('derived', bytesKey),
  };
}

/**
 * Verifies the fence after a commit. The commit must not be reported as failed for a passing reason, so an
 * unclear state closes the fence.
 */
function checkAfterCommit(permit: EnvOptions['permit']): void {
  try {
    permit?.check();
  } catch (error) {
    if (!(error instanceof TrellisError)) permit?.failed(error);
    permit?.check();
  }
}

function envOf(root: RootDatabase, room: DiskRoom, envOptions: EnvOptions): Env {
  const { readOnly, permit, visibility, notes, replication, hold } = envOptions;
  const uuids = readOnly ? undefined : new UuidCache();
  const tables = tablesOf(root, envOptions, uuids);
  const transact = (work: () => boolean): void => {
    assert(!readOnly, 'a thread that reads does not write');
    if (permit?.closedBecause !== undefined) permit.check();
    let isCommitted = false;
    let now: number | undefined;
    let commits: number | undefined;
    try {
      transactHeld(root, hold, () => {
        const state = readState(tables.meta);
        notes?.begin(state);
        uuids?.begin(state.commits);
        if (!work()) return ABORT;
        permit?.check();
        replication?.beforeCommit(tables.meta);
        isCommitted = true;
        now = readCommits(tables.meta);
        notes?.publish(now);
        visibility?.beginCommit();
      });
      commits = now;
    } catch (error) {
      const shortage = isPanic(root) ? undefined : room.shortageIn(error);
      // The log has changes that this disk lacks: apply them before any other transaction.
      if (shortage !== undefined && replication?.isAhead) throw replication.leaveInLog();
      if ((isCommitted && shortage === undefined) || replication?.isAhead) permit?.failed(error);
      throw shortage ?? asCorruption(error, 'data.mdb');
    } finally {
      uuids?.end(commits);
      if (isCommitted) visibility?.endCommit();
      releaseParts();
      replication?.ended();
    }
    if (isCommitted) checkAfterCommit(permit);
  };
  return {
    ...tables,
    notes,
    room,
    transact,
    transactLocally(work) {
      if (replication === undefined) return transact(work);
      transact(() => replication.recorder.unrecorded(work));
    },
    refresh() {
      try {
        root.resetReadTxn();
      } catch (error) {
        throw asCorruption(error, 'data.mdb');
      }
    },
    keep() {
      const transaction = root.useReadTransaction();
      return () => transaction.done();
    },
    usage: () => usageOf(root, tables),
    close() {
      return root.close().catch(() => undefined);
    },
  };
}
