// What a database is opened with, and what a call is made with.
import type { ClusterPosition } from '../../cluster/node.js';
import type { ClusterOptions } from '../../cluster/options.js';
import type { ShardPlace } from '../../base/id.js';
import type { Limits } from '../../base/limits.js';
import type { Embedder } from '../../embed/embedder.js';
import type { Argument } from '../../exec/runtime/execute.js';
import type { Plan } from '../../plan/plan.js';
import type { Program } from '../../plan/program.js';
import type { IndexOptions } from '../../vector/index.js';
import type { Claim } from '../idempotency/idempotency-key.js';
import type { Cost, Whose } from './call.js';

export interface DatabaseOptions {
  dataDir: string;
  /** In a cluster, what a node is founded with: later ones come from the log. */
  program: Program;
  cluster?: ClusterOptions;
  /** Which share of a scattered type is here: all ids that are made are of it. */
  shard?: ShardPlace;
  limits: Limits;
  /** Reader threads; 0 runs every read on the caller's thread (embedding in a backend). */
  workers: number;
  embedder: Embedder;
  /** Model used where neither query nor vector type names one. */
  embeddingModel?: string;
  /** Per vector type; `default` for the rest. */
  vectors: {
    default: IndexOptions;
    types: Record<
      string,
      Partial<IndexOptions> & {
        dimensions?: number;
        embeddingModel?: string;
        store?: 'f64' | 'f32';
      }
    >;
    /** Most bytes of one segment of an index; absent: 4 GiB. */
    segmentBytes?: number;
  };
  textEnabled: boolean;
  /** Members of a body that are no parameters are 400 UNKNOWN_MEMBER instead of ignored. */
  strictMembers: boolean;
  readOnly: boolean;
  /** Size of the data file beyond which writes are refused; 0 or absent: none. */
  maxBytes?: number;
  /** Size of the reserve file that an operator may delete when the disk is full; 0: none. */
  ballastBytes?: number;
  /** Bytes that must stay free on the data disk. */
  minFreeBytes: number;
  /** Memory that the process may have; near it calls are turned away. Absent: as much as there is. */
  processBytes?: number;
  snapshot: { intervalMs: number; afterWrites: number; keep: number };
  workerHeapMb: number;
  failpoint?: string;
  /** Hears how far opening has come, 0 to 100 of a phase that is told in words. */
  onProgress?: (progress: number, phase: string) => void;
  /** Hears that another program answers, which came by the log of the cluster. */
  onProgram?: () => void;
  /** One line of the log. */
  log: (
    level: 'debug' | 'info' | 'warn' | 'error',
    message: string,
    fields?: Record<string, unknown>,
  ) => void;
}

/** A call that another node is going to run: of a query, or of a plan that has no name. */
export type AheadCall =
  | { name: string; body: Uint8Array }
  | { plan: Plan; args: readonly Argument[] };

/** What is asked of each shard of a scattered type, and told of it, by its name. */
export interface ShardReading {
  /** As `Trellis-Consistency` has it. */
  readonly mode: string;
  /** The key of who asks, for nodes that have no secret among themselves. */
  readonly key: Record<string, string>;
  /** Under `session`: the position that its answer must not be older than. */
  after(shard: string): ClusterPosition | undefined;
  /** Its answer is not newer than that position. */
  answered(shard: string, at: ClusterPosition): void;
}

export interface CallOptions {
  /** Whatever tells callers apart, who are given equal shares of the threads. */
  caller?: Whose | undefined;
  /** Time budget; default limits.query_time or write_time. */
  budgetMs?: number;
  /** Called with a function that cancels the call (client gone, deadline). */
  onCancellable?: (cancel: () => void) => void;
  /** Hears what the call took, before its promise settles. */
  onWork?: (cost: Cost) => void;
  /** Answer `{result, profile}`: rows and time of every step beside the reply. */
  profile?: boolean;
  /** An answer without some of the shards of a scattered type is welcome. */
  partial?: boolean;
  /** Hears how many shards have answered. */
  onShards?: (answered: number, shards: number) => void;
  /** In a cluster: how fresh those shards must be. */
  shards?: ShardReading;
  /** As another node's `embedAhead` gave them: texts among these are not embedded again. */
  embeddings?: Uint8Array | undefined;
  /** A write is done once under this key, and a repeat is given its answer. */
  once?: { scope: string; key: string; claim?: Claim };
}
