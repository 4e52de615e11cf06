// Defines the options of a database and of a call.
import type { LanguageName } from '../../base/text/language-name.js';
import type { ClusterPosition } from '../../cluster/node.js';
import type { ClusterOptions } from '../../cluster/options.js';
import type { ShardIndex } from '../../base/id.js';
import type { Limits } from '../../base/limits.js';
import type { BatchEmbedder } from '../../embed/embedder.js';
import type { Argument } from '../../exec/runtime/execute.js';
import type { Plan } from '../../plan/plan.js';
import type { Program } from '../../plan/program.js';
import type { IndexOptions } from '../../vector/index.js';
import type { Claim } from '../idempotency/idempotency-key.js';
import type { Cost, Whose } from './call.js';

export interface DatabaseOptions {
  dataDir: string;
  /**
   * In a cluster, the program with which the node is created. Later programs come from the log.
   * @internal
   */
  program: Program;
  cluster?: ClusterOptions;
  /**
   * Shard of a sharded type that this database holds. All new ids belong to this shard.
   * @internal
   */
  shard?: ShardIndex;
  limits: Limits;
  /** Number of reader threads. With 0, every read runs on the caller's thread (embedding in a backend). */
  workers: number;
  embedder: BatchEmbedder;
  /** Model for texts when neither the query nor the vector type names one. */
  embeddingModel?: string;
  /** Options per vector type; `default` for all others. */
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
    /** Maximum bytes of one segment of an index. Default: 4 GiB. */
    segmentBytes?: number;
  };
  textEnabled: boolean;
  /** Language of the texts of properties that name none. */
  textLanguage: LanguageName;
  /** If true, unknown members of a body fail with UNKNOWN_MEMBER. Otherwise they are ignored. */
  strictMembers: boolean;
  readOnly: boolean;
  /** Size of the data file, in bytes, beyond which writes are refused. 0 or absent: no limit. */
  maxBytes?: number;
  /** Bytes of the reserve file that an operator may delete when the disk is full. 0: no file. */
  ballastBytes?: number;
  /** Bytes that must stay free on the data disk. */
  minFreeBytes: number;
  /** Memory limit of the process in bytes. Near it, calls are refused. Default: the memory of the machine. */
  processBytes?: number;
  snapshot: { intervalMs: number; afterWrites: number; keep: number };
  workerHeapMb: number;
  /**
   * A named point of the code where tests stop the process.
   * @internal
   */
  failpoint?: string;
  /** Reports the progress of opening: 0 to 100 within a named phase. */
  onProgress?: (progress: number, phase: string) => void;
  /**
   * Called when another program, received from the cluster log, becomes current.
   * @internal
   */
  onProgram?: () => void;
  /** Writes one line of the log. */
  log: (
    level: 'debug' | 'info' | 'warn' | 'error',
    message: string,
    fields?: Record<string, unknown>,
  ) => void;
}

/** A call that another node is going to run: of a query, or of a plan without a name. */
export type AheadCall =
  | { name: string; body: Uint8Array }
  | { plan: Plan; args: readonly Argument[] };

/** Options of the requests to the shards of a sharded type, and their results by shard name. */
export interface ShardReading {
  /** Value of the header `Trellis-Consistency`. */
  readonly mode: string;
  /** API key of the caller, for nodes without a shared secret. */
  readonly key: Record<string, string>;
  /** For `session` consistency: the position that the reply of this shard must include. */
  after(shard: string): ClusterPosition | undefined;
  /** Reports the position of a shard's reply. */
  answered(shard: string, at: ClusterPosition): void;
}

export interface CallOptions {
  /** Identity of the caller. Callers get equal shares of the threads. */
  caller?: Whose | undefined;
  /** Time limit in milliseconds. Default: limits.query_time or limits.write_time. */
  budgetMs?: number;
  /** Called with a function that cancels the call (client disconnected, deadline). */
  onCancellable?: (cancel: () => void) => void;
  /** Called with the cost of the call before its promise settles. */
  onWork?: (cost: Cost) => void;
  /** If true, the reply is `{result, profile}` with the rows and time of every step. */
  profile?: boolean;
  /** If true, the reply may lack some shards of a sharded type. */
  partial?: boolean;
  /** Called with the number of shards that responded. */
  onShards?: (answered: number, shards: number) => void;
  /** Cluster only: the required freshness of these shards. */
  shards?: ShardReading;
  /** Result of another node's `embedAhead`. Texts in it are not embedded again. */
  embeddings?: Uint8Array | undefined;
  /**
   * Idempotency key of a write. The write runs once under this key, and a repetition gets the stored reply.
   */
  idempotency?: { scope: string; key: string; claim?: Claim };
}
