// The public face of an open database: calls by query name, plans of sessions, reload, status,
// close.
import type { ErrorData } from '../base/errors.js';
import type { Metric } from '../base/histogram.js';
import type { Limits } from '../base/limits.js';
import type { Embedder } from '../embed/embedder.js';
import type { Argument, ExecutionResult, ItemList } from '../exec/execute.js';
import type { BulkLoad } from './load/load-run.js';
import type { Plan } from '../plan/plan.js';
import type { Program } from '../plan/program.js';
import type { ReadView } from '../storage/store.js';
import type { IndexOptions } from '../vector/index.js';
import type { IndexInfo } from './index-list.js';
import type { Recall, RecallRequest } from './recall.js';
import type { Cost } from './tally.js';

export interface DatabaseOptions {
  dataDir: string;
  program: Program;
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
  snapshot: { intervalMs: number; afterWrites: number; keep: number };
  workerHeapMb: number;
  failpoint?: string;
  /** Hears how far opening has come, 0 to 100 of a phase that is told in words. */
  onProgress?: (progress: number, phase: string) => void;
  /** One line of the log. */
  log: (
    level: 'debug' | 'info' | 'warn' | 'error',
    message: string,
    fields?: Record<string, unknown>,
  ) => void;
}

export interface CallOptions {
  /** Time budget; default limits.query_time or write_time. */
  budgetMs?: number;
  /** Called with a function that cancels the call (client gone, deadline). */
  onCancellable?: (cancel: () => void) => void;
  /** Hears what the call took, before its promise settles. */
  onWork?: (cost: Cost) => void;
  /** Answer `{result, profile}`: rows and time of every step beside the reply. */
  profile?: boolean;
}

export interface DatabaseStatus {
  phase: 'opening' | 'replaying' | 'serving' | 'stopping' | 'lost';
  /** 0..100 while replaying. */
  progress: number;
  writes: boolean;
  /** Why writes are off. */
  readOnlyReason?: string;
  /** Seconds since the writer was last seen alive; 0 while it is known to work. */
  heartbeatAge?: number;
}

export interface Database {
  readonly program: Program;
  /**
   * Runs a query with its JSON body (empty = `{}`) and gives the reply body. Returns at once when
   * the read ran inline, else a promise. Fails with TrellisError.
   */
  call(name: string, body: Uint8Array, options?: CallOptions): Uint8Array | Promise<Uint8Array>;
  /** Runs a plan that a session made. */
  run(
    plan: Plan,
    args: readonly Argument[],
    items: ItemList | undefined,
    options?: CallOptions,
  ): ExecutionResult | Promise<ExecutionResult>;
  /**
   * A #[mcp] query run for a session: like call, keeping the items when the plan's output is
   * `items`.
   */
  embed(
    model: string | undefined,
    vectorType: string | undefined,
    texts: readonly string[],
    budgetMs: number,
  ): Promise<Float64Array[]>;
  /** A synchronous look at the newest snapshot on the calling thread (explorer, statistics). */
  view<T>(look: (view: ReadView) => T): T;
  /**
   * Swaps in another program. Additive schema changes are applied; others fail SCHEMA_INCOMPATIBLE.
   */
  reload(program: Program): Promise<void>;
  /**
   * Begins a bulk load, or goes on with the one of that name that was cut short. A name is that of
   * one load: when it is finished, its rows are known and others are refused under it.
   */
  load(name?: string): BulkLoad;
  /** Copies the newest commit to the new folder `to`, a backup, while everything goes on. */
  backUp(to: string): Promise<{ bytes: number }>;
  /** Writes vector snapshots now. */
  snapshot(): Promise<void>;
  /** Notes where this process serves in the lock file, for people who find it taken. */
  notePort(port: number): void;
  /** Every index in numbers. */
  indexes(): IndexInfo[];
  /**
   * Measures the recall of one vector type's index, or of all, against an exact scan; takes a while
   * and little of this thread at a time. Fails UNKNOWN_TYPE.
   */
  recall(type: string | undefined, request: RecallRequest): Promise<Recall[]>;
  status(): DatabaseStatus;
  /** Numbers for /metrics, by name (see operations.md 9.2). */
  metrics(): Metric[];
  /** Finishes queued writes, snapshots, closes. */
  close(options?: { snapshot?: boolean }): Promise<void>;
}

export type OpenDatabase = (options: DatabaseOptions) => Promise<Database>;
export type { ErrorData };
