// Opens the store on any thread: reads everywhere, writes on the one thread that commits.
import { fail } from '../base/errors.js';
import { failpoint } from '../base/failpoint.js';
import type { ShardPlace } from '../base/id.js';
import type { Limits } from '../base/limits.js';
import { type FullCatalog, catalogOf } from './catalog/catalog.js';
import {
  type StoredCatalog,
  readCatalog,
  unhidden,
  writeCatalog,
} from './catalog/catalog-record.js';
import { type Env, type Usage, openEnv } from './table/env.js';
import type { LoadView } from './view/load-view.js';
import { metaKey, readState } from './table/meta.js';
import { readTrimmed } from './table/vector-log-trim.js';
import { oldestDeferredEdge } from './view/deferred-adjacency.js';
import { LmdbView, type RefreshableView } from './view/read-view.js';
import { Repacker } from './folder/defragment.js';
import {
  type Declarations,
  type SchemaOptions,
  type SchemaPreview,
  applySchema,
  previewSchema,
} from './schema/apply-schema.js';
import type { Catalog, VectorChange } from './table/view-types.js';
import { WriteFence } from './lock/write-fence.js';
import { changesInto } from './table/apply-changes.js';
import type {
  Invalidations,
  CommitVisibility,
  Replication,
  TransactionHold,
} from './table/env-options.js';
import type { VisitChange } from './table/write-set.js';
import { type LoggedChange, replayLog } from './record/vector-log.js';
import type { VectorTypeOptions } from './view/write-context.js';
import { type Loaded, type WriteGroup, Writer } from './view/writer.js';

export type { RefreshableView, SchemaPreview };

export interface StorageOptions {
  limits: Limits;
  /**
   * `create` on the first thread, before all others; `attach` on one more that writes; `read` on
   * threads that only read.
   */
  mode: 'create' | 'attach' | 'read';
  /** Of the writer: how embeddings are kept, per vector type. */
  vectorTypes?: Readonly<Record<string, VectorTypeOptions>>;
  /** Of the writer: which ids it makes. */
  shard?: ShardPlace;
  /** Of the writer: asked at every commit. */
  permit?: WriteFence;
  /** Of the writer: hears of every commit. */
  visibility?: CommitVisibility;
  /** Of all threads of a process that read and write the data. */
  notes?: Invalidations;
  /** Of the writer of a database in a cluster. */
  replication?: Replication;
  /** Of a writer on a thread of its own. */
  hold?: TransactionHold;
}

/** One per thread and folder. */
export interface Storage {
  /** As of opening, the last `applySchema` on this thread, or `reloadCatalog`. */
  readonly catalog: Catalog;
  reloadCatalog(): void;
  /** Whether the data that are seen have the catalog that was read last; on reading threads. */
  isCurrent(): boolean;
  /** A view of the newest commit, with the present catalog. */
  reader(): RefreshableView;
  /**
   * One durable transaction for a group of requests; `work` may be run twice, the first time in vain.
   * Returns the vector changes committed, in
   * sequence order; the last one has the sequence `committedSeq()`. An error that comes out of it,
   * rather than out of a request, means that the storage failed: stop writing.
   */
  commitGroup(work: (group: WriteGroup) => void): VectorChange[];
  /**
   * One durable transaction of a bulk load: all of it or, when `work` throws, nothing. Returns what
   * `work` does and the vector changes committed, in sequence order. `isAlone`: nobody looks at the data
   * until `flushAdjacency`, which any other write does first; lists of edges are not whole before.
   */
  load<T>(nowMs: number, work: (view: LoadView) => T, isAlone?: boolean): Loaded<T>;
  /** Writes the lists of edges that loads have left to later. */
  flushAdjacency(): void;
  /** Edges that were listed when it was opened, because a load had been cut off. */
  readonly listedAtOpen: number;
  /**
   * Brings the data to the declarations of a compiled program: all or nothing. Fails
   * SCHEMA_INCOMPATIBLE. Other threads call `reloadCatalog` afterwards.
   */
  applySchema(declarations: Declarations, options: SchemaOptions): void;
  /** What `applySchema` would do or refuse; changes nothing. */
  previewSchema(declarations: Declarations, nowMs: number): SchemaPreview;
  /**
   * Makes a catalog that a dump brought the one of an empty store. Until it is opened again,
   * everything in it counts as declared.
   */
  adoptCatalog(stored: StoredCatalog): void;
  /**
   * One durable transaction of what another node has changed, which `work` tells key by key, and of how
   * far this node is then. Returns the vector changes in it, in sequence order.
   */
  follow(position: Uint8Array, work: (apply: VisitChange) => void): VectorChange[];
  /** Notes how far this node is where nothing has changed. */
  recordPosition(position: Uint8Array): void;
  /** Forgets what was known for further writes: somebody else has written since. */
  invalidateWriter(): void;
  /** As `follow` noted it last; undefined for a database that was never in a cluster. */
  position(): Uint8Array | undefined;
  /** Changes of vector indexes after a sequence, ascending. */
  replay(afterSeq: number): Iterable<LoggedChange>;
  /** Lowest sequence that the log still holds, or the next one. */
  oldestLoggedSeq(): number;
  /** Sequence of the newest committed vector change, 0 before the first. */
  committedSeq(): number;
  /** Forgets log entries up to and including a sequence. */
  trimLog(upToSeq: number): void;
  /** Some milliseconds of filling loose pages again, in a transaction of its own; false: none due. */
  repack(): boolean;
  /** Puts and removals since this thread opened the store. */
  readonly puts: number;
  /** Whether anything may be written, files beside the store included. */
  readonly permit: WriteFence;
  /** Raw tables, for `check` and statistics. */
  readonly env: Env;
  /** What the file holds, as of the newest commit. */
  usage(): Usage;
  /** Opens the file again, only to read, after `close`. Views of before are of no use any more. */
  reopen(): void;
  /** Resolves when this thread has let go of the file. */
  close(): Promise<void>;
}

/**
 * Opens the folder `path`, which holds data.mdb and lock.mdb. Fails DATA_DIR_BAD where a load was cut off
 * before it had listed its edges, and this thread may not do it.
 */
export function openStorage(path: string, options: StorageOptions): Storage {
  const { mode, permit = new WriteFence(), visibility, notes, replication, hold } = options;
  const readOnly = mode === 'read';
  const env = openEnv(path, { readOnly, permit, visibility, notes, replication, hold });
  const storage = new OpenStorage(path, env, permit, options);
  if (mode === 'attach' && oldestDeferredEdge(env) > 0) storage.completeLists();
  return storage;
}

const nothing = new Uint8Array(0);

class OpenStorage implements Storage {
  catalog: FullCatalog;
  listedAtOpen = 0;
  /** As the data had it when it was read last. */
  #catalogBytes: Uint8Array | undefined;
  /** Made at the first write: reading threads have none. */
  #writer: Writer | undefined;
  #repacker: Repacker | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    private readonly path: string,
    public env: Env,
    readonly permit: WriteFence,
    private readonly options: StorageOptions,
  ) {
    this.catalog = catalogOf(readCatalog(env.meta));
    this.#catalogBytes = env.meta.get(metaKey.catalog);
  }

  get #writing(): Writer {
    return (this.#writer ??= new Writer(
      this.env,
      this.options.limits,
      this.options.vectorTypes ?? {},
      this.options.shard,
    ));
  }

  /** Of everything but loads that are alone: with whole lists. */
  get #wholeWriting(): Writer {
    this.flushAdjacency();
    return this.#writing;
  }

  get puts(): number {
    return this.#writer?.context.log.total ?? 0;
  }

  reloadCatalog(): void {
    this.env.refresh();
    this.catalog = catalogOf(readCatalog(this.env.meta));
    this.#catalogBytes = this.env.meta.get(metaKey.catalog);
  }

  isCurrent(): boolean {
    const now = this.env.meta.peek(metaKey.catalog, true) ?? nothing;
    return Buffer.compare(now, this.#catalogBytes ?? nothing) === 0;
  }

  reader(): RefreshableView {
    this.env.refresh();
    return new LmdbView(this.env, this.catalog);
  }

  commitGroup(work: (group: WriteGroup) => void): VectorChange[] {
    return this.#wholeWriting.commit(this.catalog, work);
  }

  load<T>(nowMs: number, work: (view: LoadView) => T, isAlone = false): Loaded<T> {
    const writer = isAlone ? this.#writing : this.#wholeWriting;
    return writer.load(this.catalog, nowMs, work, isAlone);
  }

  flushAdjacency(): void {
    this.#writer?.unlisted.list();
  }

  /** After a load that was cut off. */
  completeLists(): void {
    if (this.permit.closedBecause !== undefined || this.options.replication !== undefined) {
      const what = 'an import into these data was cut off, and lists of edges are not whole';
      const hint = 'Open them once for writing: start the server as usual, or repeat the import.';
      fail('DATA_DIR_BAD', { what }, { hint });
    }
    this.listedAtOpen = this.#writing.unlisted.listFound();
  }

  applySchema(declarations: Declarations, options: SchemaOptions): void {
    this.catalog = applySchema(this.#wholeWriting, declarations, options);
  }

  previewSchema(declarations: Declarations, nowMs: number): SchemaPreview {
    return previewSchema(this.#wholeWriting, declarations, nowMs);
  }

  adoptCatalog(stored: StoredCatalog): void {
    this.#wholeWriting.transact(() => writeCatalog(this.env.meta, stored));
    this.catalog = catalogOf(unhidden(stored));
  }

  follow(position: Uint8Array, work: (apply: VisitChange) => void): VectorChange[] {
    this.invalidateWriter();
    const before = this.committedSeq();
    this.env.transactLocally(() => {
      work(changesInto(this.env));
      this.env.meta.put(metaKey.position, position);
      failpoint('follow');
      return true;
    });
    return Array.from(this.replay(before), ({ change }) => change);
  }

  recordPosition(position: Uint8Array): void {
    this.env.transactLocally(() => {
      this.env.meta.put(metaKey.position, position);
      return true;
    });
  }

  invalidateWriter(): void {
    this.#writer = undefined;
  }

  position(): Uint8Array | undefined {
    this.env.refresh();
    return this.env.meta.get(metaKey.position);
  }

  replay(afterSeq: number): Iterable<LoggedChange> {
    this.env.refresh();
    return replayLog(this.env, afterSeq);
  }

  oldestLoggedSeq(): number {
    if (this.#writer) return this.#writer.trimmedSeq + 1;
    this.env.refresh();
    return readTrimmed(this.env.meta) + 1;
  }

  committedSeq(): number {
    if (this.#writer) return this.#writer.context.totals.state.nextSeq - 1;
    this.env.refresh();
    return readState(this.env.meta).nextSeq - 1;
  }

  trimLog(upToSeq: number): void {
    this.#writing.trimLog(upToSeq);
  }

  repack(): boolean {
    const repacker = (this.#repacker ??= new Repacker(this.env));
    const { due } = repacker;
    if (due === 'read') repacker.step();
    if (due === 'write') this.env.transactLocally(() => repacker.step());
    return due !== undefined;
  }

  usage(): Usage {
    this.env.refresh();
    return this.env.usage();
  }

  reopen(): void {
    this.env = openEnv(this.path, { readOnly: true });
    this.#closed = undefined;
  }

  close(): Promise<void> {
    return (this.#closed ??= this.env.close());
  }
}
