// Defines how the writer lane starts, and why it could not.
import type { MessagePort } from 'node:worker_threads';
import type { ShardIndex } from '../../base/id.js';
import type { Limits } from '../../base/limits.js';
import type { LogClientSetup } from '../../cluster/ipc/log-client.js';
import type { LockToken } from '../../storage/lock/lock-file.js';
import type { VectorStoreOptions } from '../vectors/vector-store.js';
import type { ErrorData } from '../../base/errors.js';
import type { PackedProgram } from '../call/serialized-program.js';

/**
 * Why a lane could not open. It is the result of the lane's task, because messages may be lost when the
 * thread ends.
 */
export interface LaneError {
  error: ErrorData;
  stack?: string;
}

/** Configuration of a writer lane: the message that starts its thread. */
export interface WriterSetup {
  role: 'writer';
  port: MessagePort;
  control: SharedArrayBuffer;
  graphPath: string;
  limits: Limits;
  textEnabled: boolean;
  /** Shared memory: see metrics/writer-metrics.ts. */
  writerMetrics: SharedArrayBuffer;
  strict: boolean;
  program: PackedProgram;
  vectors: VectorStoreOptions;
  failpoint?: string;
  /** Checked before every commit. */
  lock: LockToken;
  /** Why the database is read-only from the start. */
  readOnlyReason?: string | undefined;
  /** For a database in a cluster. */
  cluster?: LogClientSetup | undefined;
  /** For a database that holds a shard. */
  shard?: ShardIndex | undefined;
}
