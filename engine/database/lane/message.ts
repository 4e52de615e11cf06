// Defines the messages between the main thread and the lanes, except for requests and replies
// (message-batch.ts): programs, vector memory, commands to the writer and its reports.
import type { LanguageName } from '../../base/text/language-name.js';
import type { VectorStoreOptions } from '../vectors/vector-store.js';
import type { LockToken } from '../../storage/lock/lock-file.js';
import type { LogClientSetup } from '../../cluster/ipc/log-client.js';
import type { Limits } from '../../base/limits.js';
import type { ShardIndex } from '../../base/id.js';
import type { MessagePort } from 'node:worker_threads';
import type { ClusterPosition } from '../../cluster/node.js';
import type { CheckMark, ClusterCommand } from '../replication/check-mark.js';
import type { ErrorData } from '../../base/errors.js';
import type { PackedProgram } from '../call/serialized-program.js';
import type { IndexHandle } from '../../vector/index.js';
import type { Batch, RequestExtra } from './message-batch.js';
import type { SnapshotInfo } from '../vectors/vector-snapshot.js';
import type { LoadCommand } from '../load/load-writer.js';
import type { ReembedCommand } from '../reembed/reembed-writer.js';

/** Configures a lane to run plans. Sent before its first batch and after every reload. */
export interface ConfigureLane {
  kind: 'configure';
  program: PackedProgram;
  /** Number of reloads before this program. */
  generation: number;
  /** Schema version of the program: see control-block.ts. */
  schema: number;
  /** For a new lane: the earlier programs, oldest first. */
  earlier?: readonly Pick<ConfigureLane, 'program' | 'generation' | 'schema'>[];
  indexes: { label: number; handle: IndexHandle }[];
}

/** A vector index got more memory, or a type got its first index. */
export interface AddIndex {
  kind: 'index';
  label: number;
  handle: IndexHandle;
}

/** The writer builds an index from many vectors. Idle threads may help. */
interface HelpBuild {
  kind: 'build';
  label: number;
  handle: IndexHandle;
}

/** Replaces the program and changes the data accordingly. */
interface Reload {
  kind: 'reload';
  id: number;
  program: PackedProgram;
  generation: number;
  /** On a leader: its packed sources. On a follower: undefined, because the waiting log entry has them. */
  sources?: Uint8Array | undefined;
}

/** Messages to a reader lane. */
export type ToReader =
  | Batch<RequestExtra>
  | ConfigureLane
  | AddIndex
  | HelpBuild
  /** Releases the data file (reopen-after-failure.ts). The reader responds with `released`. */
  | { kind: 'release' }
  /** Opens the data file again. */
  | { kind: 'reopen' }
  | { kind: 'close' };

/** Messages to the writer lane. Each command has an `id`, and the writer answers it with `done`. */
export type ToWriter =
  | Batch<RequestExtra>
  | Reload
  | (ClusterCommand & { id: number })
  /** `program` is packed. The change is executed and undone. */
  | { kind: 'preview'; id: number; program: unknown }
  | { kind: 'load'; id: number; command: LoadCommand }
  | { kind: 'reembed'; id: number; command: ReembedCommand }
  | { kind: 'snapshot'; id: number }
  /** Releases the data file permanently (reopen-after-failure.ts). */
  | { kind: 'release'; id: number }
  | { kind: 'close'; id: number; snapshot: boolean };

/** Messages of a reader lane, except for replies. */
export type FromReader = { kind: 'ready' } | { kind: 'released' };

/** Messages of the writer lane, except for replies. */
export type FromWriter =
  | { kind: 'ready'; indexes: { label: number; handle: IndexHandle }[] }
  | AddIndex
  | HelpBuild
  | { kind: 'snapshot'; info: SnapshotInfo }
  | { kind: 'progress'; phase: string; progress: number }
  | {
      kind: 'done';
      id: number;
      error?: ErrorData;
      /** Stack of a defect, for the log. */
      stack?: string;
      /** Result of the command. */
      result?: unknown;
      indexes?: { label: number; handle: IndexHandle }[];
    }
  | { kind: 'readOnly'; reason: string; errno: string }
  /** The disk is full, which a commit may have met. Without `shortage`: there is space again. */
  | { kind: 'room'; shortage?: ErrorData | undefined; errno?: string | undefined }
  /** A log entry waits for the program of these sources. */
  | { kind: 'sources'; sources: Uint8Array }
  /** The log has this mark of a comparison at this position. */
  | { kind: 'mark'; mark: CheckMark; position: ClusterPosition }
  /** The log can no longer be applied. */
  | { kind: 'clusterFault'; error: ErrorData }
  | {
      kind: 'log';
      level: 'debug' | 'info' | 'warn' | 'error';
      message: string;
      fields: Record<string, unknown>;
    };

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
  textLanguage: LanguageName;
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
