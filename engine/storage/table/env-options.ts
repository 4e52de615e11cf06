// What an environment is opened with: who may write, and who hears of commits. LMDB shows a commit to
// whoever looks, before anybody has been told of it; the log of a cluster has it before LMDB does.
import type { WriteFence } from '../lock/write-fence.js';
import type { WriteSet } from './write-set.js';
import type { Table } from './table.js';

/** Hears when other threads may begin to see a commit, and when all that look do. */
export interface CommitVisibility {
  beginCommit(): void;
  endCommit(): void;
}

/** Hears which elements every transaction changes (view/invalidation-queue.ts). */
export interface Invalidations {
  /** A transaction begins; elements from `nextId` on are those that it makes. */
  begin(state: { commits: number; nextId: number }): void;
  /** The record of an element, or a list of its edges, is put or removed. */
  touch(id: number): void;
  /** The transaction is about to be committed. */
  publish(commits: number): void;
  /** What reads what was noted, on this thread. */
  since(): ChangedSince;
}

export interface ChangedSince {
  /**
   * Goes on to another state of the data, and calls `drop` for every element that is not as it was;
   * false: nobody knows, all may have changed.
   */
  move(commits: number, drop: (id: number) => void): boolean;
}

/** Of a database in a cluster: hears what every transaction changes. */
export interface Replication {
  readonly recorder: WriteSet;
  /**
   * Called inside of a transaction that is about to be committed, which it may still prevent by throwing:
   * makes what the recorder has noted durable elsewhere first.
   */
  beforeCommit(meta: Table<Uint8Array>): void;
  /** Whether what the open transaction changes is durable elsewhere: it must be committed, or never be missed. */
  readonly isAhead: boolean;
  /**
   * The disk has no room for what is durable elsewhere: it is kept as an entry that this node has yet to apply, before
   * anything else. Gives what whoever asked for it hears.
   */
  setAside(): Error;
  /** The transaction is over, one way or the other. */
  ended(): void;
}

/** Hears when this thread may not be stopped, as at the end of its process (engine/database/lane/safe-exit.ts). */
export interface TransactionHold {
  begin(): void;
  end(): void;
}

export interface EnvOptions {
  readOnly?: boolean;
  permit?: WriteFence;
  visibility?: CommitVisibility;
  /** Shared by all threads of the process that have the data open. */
  notes?: Invalidations;
  /** Absent: a database of one process, none of whose puts is recorded. */
  replication?: Replication;
  /** Of a thread that writes and may be stopped. */
  hold?: TransactionHold;
}
