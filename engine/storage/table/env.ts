// The LMDB environment: opens every table with the options that were measured to be safe
// (operations.md 11.1), and owns transactions.
//
// Invariant: what a transaction has put is on disk when it returns, or nothing of it is. Of a database in
// a cluster it is in the log before it is on this disk (env-options.ts).
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
import { Table, type TableWatch, forgetParts } from './table.js';
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
  /** What all threads of the process hear of changes, where there are several. */
  notes: Invalidations | undefined;
  /** Of the disk that this is on. */
  readonly room: DiskRoom;
  /**
   * One durable transaction: when this returns, what `work` wrote is on disk. Nothing is written
   * when it throws or returns false. `work` is synchronous: a promise would leave the transaction
   * open (L08). Fails READ_ONLY when this thread may not write; said after the commit, it means
   * that another process may have overwritten it. Fails INSUFFICIENT_STORAGE where the disk is full:
   * nothing was written, and a later transaction may be.
   */
  transact(work: () => boolean): void;
  /** The same for what stays on this node of a cluster: nothing of it is recorded. */
  transactLocally(work: () => boolean): void;
  /**
   * Lets this thread see the newest commit. Once per batch: each call leaves a timer until the
   * event loop turns.
   */
  refresh(): void;
  /** Keeps the pages of the newest commit that this thread sees from being used again. */
  keep(): () => void;
  /** What the file holds, as of the newest commit this thread sees. */
  usage(): Usage;
  /** Resolves when this thread has let go of the file. */
  close(): Promise<void>;
}

/** What LMDB writes of its two files before the first transaction, and some more. */
const newFilesBytes = 256 * 1024;

const bigEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 0;

/**
 * Opens the environment in the folder `path`. For writing: creates what is missing, and waits for
 * whoever writes just now (700 ms beside an open transaction of 800 ms, L11). Read-only: 2 ms at
 * any time, once this process has opened it for writing; such a thread can never hold the write
 * lock (P02).
 */
export function openEnv(path: string, given: EnvOptions = {}): Env {
  const { readOnly = false } = given;
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
  given.hold?.begin();
  try {
    root = open(options);
    return envOf(root, room, given);
  } catch (error) {
    throw asCorruption(error, 'data.mdb');
  } finally {
    given.hold?.end();
  }
}

/** A file that LMDB makes and maps: a page of it that finds no room on the disk ends the process by a signal. */
function checkFiles(path: string, room: DiskRoom): void {
  const isThere = ['data.mdb', 'lock.mdb'].every((name) => existsSync(join(path, name)));
  if (isThere || room.canGrow(newFilesBytes)) return;
  fail('INSUFFICIENT_STORAGE', { free: room.free, needed: newFilesBytes });
}

/** One transaction, in which the thread is not stopped. */
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

/** What is committed is not said to have failed for a passing reason: where it cannot be told, writing ends. */
function checkKept(permit: EnvOptions['permit']): void {
  try {
    permit?.check();
  } catch (error) {
    if (!(error instanceof TrellisError)) permit?.failed(error);
    permit?.check();
  }
}

function envOf(root: RootDatabase, room: DiskRoom, given: EnvOptions): Env {
  const { readOnly, permit, visibility, notes, replication, hold } = given;
  const uuids = readOnly ? undefined : new UuidCache();
  const tables = tablesOf(root, given, uuids);
  const transact = (work: () => boolean): void => {
    assert(!readOnly, 'a thread that reads does not write');
    if (permit?.closedBecause !== undefined) permit.check();
    let kept = false;
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
        kept = true;
        now = readCommits(tables.meta);
        notes?.publish(now);
        visibility?.beginCommit();
      });
      commits = now;
    } catch (error) {
      const shortage = isPanic(root) ? undefined : room.shortageIn(error);
      // What others have, and this disk has not, nothing may be built on before it is here as well.
      if (shortage !== undefined && replication?.isAhead) throw replication.setAside();
      if ((kept && shortage === undefined) || replication?.isAhead) permit?.failed(error);
      throw shortage ?? asCorruption(error, 'data.mdb');
    } finally {
      uuids?.end(commits);
      if (kept) visibility?.endCommit();
      forgetParts();
      replication?.ended();
    }
    if (kept) checkKept(permit);
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
