// The public face of an open database: calls by query name, plans of sessions, reload, status,
// close.
import type { ErrorData } from '../base/errors.js';
import type { ClusterNode } from '../cluster/node.js';
import type { SourceArchive } from '../cluster/options.js';
import type { Attachment } from './attach/attachment.js';
import type { DatabaseSample } from './metrics/definitions.js';
import type { Argument, ExecutionResult, ItemList } from '../exec/runtime/execute.js';
import type { BulkLoad } from './load/load-run.js';
import type { LoadName } from './load/load-registry.js';
import type { Plan } from '../plan/plan.js';
import type { Program } from '../plan/program.js';
import type { SchemaPreview } from '../storage/open-storage.js';
import type { ReadView } from '../storage/table/view-types.js';
import type { AheadCall, CallOptions, DatabaseOptions } from './call/options.js';
import type { IndexInfo } from './vectors/index-list.js';
import type { Recall, RecallRequest } from './vectors/recall.js';

export interface DatabaseStatus {
  phase: 'opening' | 'replaying' | 'serving' | 'stopping' | 'lost';
  /** 0..100 while replaying. */
  progress: number;
  writes: boolean;
  /** Why writes are off. */
  readOnlyReason?: string;
  /** Seconds since the writer was last seen alive; 0 while it is known to work. */
  heartbeatAge?: number;
  /** False while the system gives no thread for reads that need one. */
  readers?: boolean;
}

export interface Database {
  /** Its place in a cluster, if it has one. */
  readonly cluster?: ClusterNode | undefined;
  readonly program: Program;
  /**
   * Runs a query with its JSON body (empty = `{}`) and gives the reply body. Returns at once when
   * the read ran inline, else a promise. Fails with TrellisError.
   */
  call(name: string, body: Uint8Array, options?: CallOptions): Uint8Array | Promise<Uint8Array>;
  /**
   * Why a call of a query with a body of that length would be turned away for want of room, before the
   * body is there; undefined when it is known only later.
   */
  refusal(name: string, bytes: number, caller?: CallOptions['caller']): ErrorData | undefined;
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
  /**
   * What the texts of a call become, for the node that will run it; undefined: it has none. Fails as the call would
   * before it is run.
   */
  embedAhead(call: AheadCall, budgetMs: number): Promise<Uint8Array> | undefined;
  /** A synchronous look at the newest snapshot on the calling thread (explorer, statistics). */
  view<T>(look: (view: ReadView) => T): T;
  /**
   * Swaps in another program. Additive schema changes are applied; others fail SCHEMA_INCOMPATIBLE. In a
   * cluster, on all nodes: `archive` are its sources. Fails NOT_LEADER there.
   */
  reload(program: Program, archive?: SourceArchive): Promise<void>;
  /**
   * What `reload` would do to the data or refuse; changes nothing. It is tried and undone: writes wait as
   * long as the change itself would take.
   */
  preview(program: Program): Promise<SchemaPreview>;
  /**
   * Begins a bulk load, or goes on with the one of that name that was cut short. A name is that of
   * one load: when it is finished, its rows are known and others are refused under it. `again`: loads
   * the same rows once more all the same. `isAlone`: nobody reads or writes meanwhile, which takes edges
   * to random ends half the time; until it is over they may be missing where they end. A process that
   * dies before has them completed by the next one that opens the data. `files`: where the rows are from, by
   * which a load that was begun is known though they were mended since. Fails IMPORT_KNOWN where such rows are
   * in the data and no option says what becomes of them.
   */
  load(name?: string, options?: Omit<LoadName, 'name'>): BulkLoad;
  /** Copies the newest commit to the new folder `to`, a backup, while everything goes on. */
  backUp(to: string): Promise<{ bytes: number }>;
  /** Writes vector snapshots now. */
  snapshot(): Promise<void>;
  /** Notes where this process serves in the lock file, for people who find it taken. */
  notePort(port: number): void;
  /**
   * What another thread of this process needs to read in place: for one thread, posted to it with its
   * `port` in the list of what is transferred.
   */
  attachment(): Attachment;
  /** Every index in numbers. */
  indexes(): IndexInfo[];
  /**
   * Measures the recall of one vector type's index, or of all, against an exact scan; takes a while
   * and little of this thread at a time. Fails UNKNOWN_TYPE.
   */
  recall(type: string | undefined, request: RecallRequest): Promise<Recall[]>;
  status(): DatabaseStatus;
  /** Whether the data are lost, as the status says: asked for every request, and made without one. */
  isLost?(): boolean;
  /** Numbers for /metrics, by name (see operations.md 9.2). */
  metrics(): DatabaseSample[];
  /** Finishes queued writes, snapshots, closes. */
  close(options?: { snapshot?: boolean }): Promise<void>;
}

export type OpenDatabase = (options: DatabaseOptions) => Promise<Database>;
export type { ErrorData };
