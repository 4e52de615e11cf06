// Defines the interface of an open database: calls by query name, plans of sessions, reload, status and
// close.
import type { ErrorData } from '../base/errors.js';
import type { Purpose } from '../embed/embedder.js';
import type { ClusterNode } from '../cluster/node.js';
import type { SourceArchive } from '../cluster/options.js';
import type { Attachment } from './attach/attachment.js';
import type { DatabaseSample } from './metrics/definitions.js';
import type { Argument, ExecutionResult, ItemList } from '../exec/runtime/execute.js';
import type { BulkLoad } from './load/load-run.js';
import type { LoadName } from './load/load-registry.js';
import type { Plan } from '../plan/plan.js';
import type { ReembedJobs } from './reembed/reembed-jobs.js';
import type { Program } from '../plan/program.js';
import type { SchemaPreview } from '../storage/open-storage.js';
import type { ReadView } from '../storage/table/view-types.js';
import type { AheadCall, CallOptions, DatabaseOptions } from './call/options.js';
import type { IndexInfo } from './vectors/index-list.js';
import type { Recall, RecallRequest } from './vectors/recall.js';

export interface DatabaseStatus {
  phase: 'opening' | 'replaying' | 'serving' | 'stopping' | 'lost';
  /** Percent (0 to 100) of the replay. */
  progress: number;
  writes: boolean;
  /** Reason why writes are refused. */
  readOnlyReason?: string;
  /** Seconds since the writer's last sign of life; 0 while it is known to work. */
  heartbeatAge?: number;
  /** False while the system provides no thread for reads that need one. */
  readers?: boolean;
}

export interface Database {
  /** The node of this database in a cluster, if it is in one. */
  readonly cluster?: ClusterNode | undefined;
  readonly program: Program;
  /**
   * Runs a query with its JSON body (empty means `{}`) and returns the reply body. Returns synchronously when
   * the read ran inline, otherwise a promise. Fails with TrellisError.
   */
  call(name: string, body: Uint8Array, options?: CallOptions): Uint8Array | Promise<Uint8Array>;
  /**
   * Runs a short read on this thread, with arguments that need no JSON text. Returns undefined, without side
   * effects, if the query or its arguments need `call`.
   */
  readDirectly?(name: string, args: object): Uint8Array | undefined;
  /**
   * Returns the error with which a call of this query with a body of this length would be refused for lack of
   * capacity, before the body has arrived. Returns undefined when the call would be accepted, or when that is
   * not known yet.
   */
  refusal(name: string, bytes: number, caller?: CallOptions['caller']): ErrorData | undefined;
  /** Runs a plan of a session. */
  run(
    plan: Plan,
    args: readonly Argument[],
    items: ItemList | undefined,
    options?: CallOptions,
  ): ExecutionResult | Promise<ExecutionResult>;
  /**
   * Returns the embeddings of texts. `model` undefined means the model of the vector type, or the default
   * model of the database. `purpose` undefined means that the vectors are searched for.
   */
  embed(
    model: string | undefined,
    vectorType: string | undefined,
    texts: readonly string[],
    budgetMs: number,
    purpose?: Purpose,
  ): Promise<Float64Array[]>;
  /**
   * Embeds the texts of a call for the node that will run it. Returns undefined when the call has no texts.
   * Fails as the call would fail before it runs.
   */
  embedAhead(call: AheadCall, budgetMs: number): Promise<Uint8Array> | undefined;
  /**
   * Calls `read` synchronously with a view of the newest snapshot, on the calling thread (explorer,
   * statistics).
   */
  view<T>(read: (view: ReadView) => T): T;
  /**
   * Replaces the program. Additive schema changes are applied; others fail SCHEMA_INCOMPATIBLE. In a cluster,
   * all nodes switch, and `archive` has the sources. Fails NOT_LEADER on a follower.
   */
  reload(program: Program, archive?: SourceArchive): Promise<void>;
  /**
   * Returns what `reload` would change in the data, or why it would fail. It executes the change and undoes
   * it. Writes wait as long as the change itself would take.
   */
  preview(program: Program): Promise<SchemaPreview>;
  /**
   * Starts a bulk load, or resumes the interrupted load of that name. A name belongs to one load. After the
   * load has finished, other rows are refused under the name, and `again` loads the same rows once more.
   *
   *
   */
  load(name?: string, options?: Omit<LoadName, 'name'>): BulkLoad;
  /**
   * Copies the newest commit to the new folder `to`, as a backup. All other work continues. Returns the size
   * in bytes.
   */
  backUp(to: string): Promise<{ bytes: number }>;
  /** Writes vector snapshots now. Resolves when they are complete. */
  snapshot(): Promise<void>;
  /** Records the port of this process in the lock file, for people who find the database locked. */
  notePort(port: number): void;
  /**
   * Returns what another thread of this process needs for `attach`. It is for one thread; post it with its
   * `port` in the transfer list.
   */
  attachment(): Attachment;
  /** Jobs that make the vectors of a type again with another model. */
  readonly reembeds: ReembedJobs;
  /** Returns the state of every vector index. */
  indexes(): IndexInfo[];
  /**
   * Measures the recall of one vector type's index, or of all, against exact scans. It takes long and uses
   * little of this thread at a time. Fails UNKNOWN_TYPE.
   */
  recall(type: string | undefined, request: RecallRequest): Promise<Recall[]>;
  status(): DatabaseStatus;
  /**
   * Returns true if the data are no longer usable, as `status()` reports. Called for every request, so it
   * must not build a status.
   */
  isLost?(): boolean;
  /** Samples for /metrics, by name. */
  metrics(): DatabaseSample[];
  /** Finishes queued writes, writes snapshots unless `snapshot` is false, and closes. */
  close(options?: { snapshot?: boolean }): Promise<void>;
}

export type OpenDatabase = (options: DatabaseOptions) => Promise<Database>;
export type { ErrorData };
