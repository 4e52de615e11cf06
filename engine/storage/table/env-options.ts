// Options of an environment: who may write, and which callbacks run around a commit. LMDB makes a commit
// visible to readers before any callback runs. In a cluster, the log has the commit before LMDB does.
import type { WriteFence } from '../lock/write-fence.js';
import type { WriteSet } from './write-set.js';
import type { Table } from './table.js';

/** Callbacks around the moment at which a commit becomes visible to other threads. */
export interface CommitVisibility {
  beginCommit(): void;
  endCommit(): void;
}

/** Receives the elements that every transaction changes (view/invalidation-queue.ts). */
export interface Invalidations {
  /** A transaction begins. It creates the elements from `nextId` on. */
  begin(state: { commits: number; nextId: number }): void;
  /** The record of an element, or one of its adjacency lists, is written or removed. */
  touch(id: number): void;
  /** The transaction is about to be committed. */
  publish(commits: number): void;
  /** Returns a reader of the recorded changes for this thread. */
  since(): ChangedSince;
}

export interface ChangedSince {
  /**
   * Moves to another commit and calls `drop` for every changed element. Returns false if the changes are
   * unknown, so that any element may have changed.
   */
  move(commits: number, drop: (id: number) => void): boolean;
}

/** Cluster only: receives the changes of every transaction. */
export interface Replication {
  readonly recorder: WriteSet;
  /**
   * Called in a transaction before its commit: makes the changes of the write set durable in the log.
   * Prevents the commit by throwing.
   */
  beforeCommit(meta: Table<Uint8Array>): void;
  /**
   * Whether the changes of the open transaction are durable in the log. They must then be committed here, now
   * or later.
   */
  readonly isAhead: boolean;
  /**
   * Called when the disk has no space for changes that are durable in the log. They stay a log entry that
   * this node must apply before anything else. Returns the error for the caller.
   */
  leaveInLog(): Error;
  /** The transaction has ended, by a commit or not. */
  ended(): void;
}

/**
 * Called around times at which this thread must not be stopped, for example at the end of its process
 * (engine/database/lane/safe-exit.ts).
 */
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
  /** Absent for a database outside a cluster: its writes are not recorded. */
  replication?: Replication;
  /** For a writing thread that may be stopped. */
  hold?: TransactionHold;
}
