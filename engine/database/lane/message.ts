// What travels between the main thread and the lanes beside requests and replies (message-batch.ts): programs,
// vector memories, orders to the writer and its news.
import type { MessagePort } from 'node:worker_threads';
import type { ShardPlace } from '../../base/id.js';
import type { Limits } from '../../base/limits.js';
import type { LogLinkSetup } from '../../cluster/ipc/log-client.js';
import type { LockToken } from '../../storage/lock/lock-file.js';
import type { VectorStoreOptions } from '../vectors/vector-store.js';
import type { ClusterPosition } from '../../cluster/node.js';
import type { CheckMark, ClusterOrder } from '../replication/check-mark.js';
import type { ErrorData } from '../../base/errors.js';
import type { PackedProgram } from '../call/serialized-program.js';
import type { IndexHandle } from '../../vector/index.js';
import type { Batch, ReplyExtra, RequestExtra } from './message-batch.js';
import type { SnapshotInfo } from '../vectors/vector-snapshot.js';
import type { LoadOrder } from '../load/load-writer.js';

/** Tells a lane what it needs to run plans: sent before its first batch and after every reload. */
export interface ConfigureLane {
  kind: 'equip';
  program: PackedProgram;
  /** How many reloads came before it. */
  generation: number;
  /** Of its schema: see control-block.ts. */
  schema: number;
  /** For a lane that was not there yet: the programs before it, oldest first. */
  earlier?: readonly Pick<ConfigureLane, 'program' | 'generation' | 'schema'>[];
  indexes: { label: number; handle: IndexHandle }[];
}

/** A vector index got more memory, or a type its first. */
export interface AddIndex {
  kind: 'index';
  label: number;
  handle: IndexHandle;
}

/** The writer builds an index from many vectors: who has nothing else to do may help. */
export interface HelpBuild {
  kind: 'build';
  label: number;
  handle: IndexHandle;
}

/** Another program, and the data brought to it. */
export interface Reload {
  kind: 'reload';
  id: number;
  program: PackedProgram;
  generation: number;
  /** Of a leader: its packed sources; of a follower none: an entry that waits has them. */
  sources?: Uint8Array | undefined;
}

export type ToLane =
  | Batch<RequestExtra>
  | ConfigureLane
  | AddIndex
  | HelpBuild
  | Reload
  | (ClusterOrder & { id: number })
  /** `program`: packed; tried on the data, and undone. */
  | { kind: 'preview'; id: number; program: unknown }
  | { kind: 'load'; id: number; order: LoadOrder }
  | { kind: 'snapshot'; id: number }
  /** Lets go of the data file (reopen-after-failure.ts); a reader says `released`, and opens it again. */
  | { kind: 'release'; id: number }
  | { kind: 'reopen' }
  | { kind: 'close'; id: number; snapshot: boolean };

export type FromLane =
  | Batch<ReplyExtra>
  | { kind: 'released' }
  | { kind: 'ready'; indexes: { label: number; handle: IndexHandle }[] }
  | AddIndex
  | HelpBuild
  | { kind: 'snapshot'; info: SnapshotInfo }
  | { kind: 'progress'; phase: string; progress: number }
  | {
      kind: 'done';
      id: number;
      error?: ErrorData;
      /** Of a defect, for the log. */
      stack?: string;
      /** What the order gives. */
      result?: unknown;
      indexes?: { label: number; handle: IndexHandle }[];
    }
  | { kind: 'readOnly'; reason: string; errno: string }
  /** The disk is full, which a commit may have met; or, without `shortage`, there is room again. */
  | { kind: 'room'; shortage?: ErrorData | undefined; errno?: string | undefined }
  /** An entry of the log waits for the program of these sources. */
  | { kind: 'sources'; sources: Uint8Array }
  /** The log has such a mark there. */
  | { kind: 'mark'; mark: CheckMark; position: ClusterPosition }
  /** The log cannot be followed any more. */
  | { kind: 'clusterFault'; error: ErrorData }
  | {
      kind: 'log';
      level: 'debug' | 'info' | 'warn' | 'error';
      message: string;
      fields: Record<string, unknown>;
    };

/**
 * Why a lane could not open: the result of its task, since messages may be lost when its thread
 * ends.
 */
export interface LaneFault {
  error: ErrorData;
  stack?: string;
}

/** What a writer lane is made with: the message that starts its thread. */
export interface WriterSetup {
  role: 'writer';
  port: MessagePort;
  gate: SharedArrayBuffer;
  graphPath: string;
  limits: Limits;
  textEnabled: boolean;
  /** Shared: see metrics/writer-metrics.ts. */
  figures: SharedArrayBuffer;
  strict: boolean;
  program: PackedProgram;
  vectors: VectorStoreOptions;
  failpoint?: string;
  /** Looked for before every commit. */
  lock: LockToken;
  /** Why nothing may be written from the start. */
  readOnlyReason?: string | undefined;
  /** Of a database in a cluster. */
  cluster?: LogLinkSetup | undefined;
  /** Of a share of a scattered type. */
  shard?: ShardPlace | undefined;
}
