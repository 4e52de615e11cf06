// Opens the store on any thread: for reads everywhere, for writes on the one thread that commits.
import { fail } from '../base/errors.js';
import { failpoint } from '../base/failpoint.js';
import type { ShardIndex } from '../base/id.js';
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
   * `create` for the first thread, before all others; `attach` for a further thread that writes; `read` for
   * threads that only read.
   */
  mode: 'create' | 'attach' | 'read';
  /** Writer only: how embeddings are stored, by vector type. */
  vectorTypes?: Readonly<Record<string, VectorTypeOptions>>;
  /** Writer only: selects the ids that it assigns, when vector types are sharded. */
  shard?: ShardIndex;
  /** Writer only: checked at every commit. */
  permit?: WriteFence;
  /** Writer only: called around every commit. */
  visibility?: CommitVisibility;
  /** Shared by all threads of a process that read or write the data. */
  notes?: Invalidations;
  /** Writer of a database in a cluster only. */
  replication?: Replication;
  /** Writer only, when it runs on a separate thread. */
  hold?: TransactionHold;
}

/** An open store, one per thread and folder. */
export interface Storage {
  /** The catalog at opening, or at the last `applySchema` or `reloadCatalog` on this thread. */
  readonly catalog: Catalog;
  reloadCatalog(): void;
  /** Whether the visible data still have the catalog that was read last. For reading threads. */
  isCurrent(): boolean;
  /** Returns a view of the newest commit with the present catalog. */
  reader(): RefreshableView;
  /**
   * Commits a group of requests in one durable transaction. May run `work` twice, and then undoes the first
   * run. Returns the committed vector changes by ascending sequence; the last one has the sequence
   * `committedSeq()`. An error that `commitGroup` throws, as opposed to the error of one request, means that
   * the storage failed: stop writing. `isSingle`: `work` makes one request only. Then no former values are
   * recorded for its undo, which makes large requests cheaper.
   */
  commitGroup(work: (group: WriteGroup) => void, isSingle?: boolean): VectorChange[];
  /**
   * Commits a part of a bulk load in one durable transaction, or nothing if `work` throws. Returns the result
   * of `work` and the committed vector changes. `isAlone`: no reader uses the data until `flushAdjacency`,
   * which any other write calls first. Adjacency lists are incomplete until then.
   */
  load<T>(nowMs: number, work: (view: LoadView) => T, isAlone?: boolean): Loaded<T>;
  /** Writes the adjacency lists that loads have deferred. */
  flushAdjacency(): void;
  /** Number of edges that were listed at opening, because a load had been interrupted. */
  readonly listedAtOpen: number;
  /**
   * Changes the data to match the declarations of a compiled program, completely or not at all. Fails
   * SCHEMA_INCOMPATIBLE. Other threads then call `reloadCatalog`.
   */
  applySchema(declarations: Declarations, options: SchemaOptions): void;
  /** Reports what `applySchema` would do or refuse; changes nothing. */
  previewSchema(declarations: Declarations, nowMs: number): SchemaPreview;
  /**
   * Stores a catalog from a dump in an empty store. Everything in it counts as declared until the store is
   * opened again.
   */
  useCatalog(stored: StoredCatalog): void;
  /**
   * Commits the changes of another node, which `work` applies key by key, with the log position of this node
   * after them. Returns the vector changes by ascending sequence.
   */
  follow(position: Uint8Array, work: (apply: VisitChange) => void): VectorChange[];
  /** Stores the log position of this node when no data have changed. */
  recordPosition(position: Uint8Array): void;
  /** Drops the cached state of the writer, because another process has written. */
  invalidateWriter(): void;
  /**
   * Returns the log position that was stored last, or undefined for a database that was never in a cluster.
   */
  position(): Uint8Array | undefined;
  /** Returns the changes of vector indexes after a sequence, ascending. */
  replay(afterSeq: number): Iterable<LoggedChange>;
  /** Returns the lowest sequence in the vector log, or the next one if the log is empty. */
  oldestLoggedSeq(): number;
  /** Returns the sequence of the newest committed vector change; 0 before the first. */
  committedSeq(): number;
  /** Deletes log entries up to and including a sequence. */
  trimLog(upToSeq: number): void;
  /**
   * Defragments for a few milliseconds, in a separate transaction. `isBusy`: others are writing, so only a
   * table that has grown much is worth it. Returns false when nothing is due.
   */
  repack(isBusy: boolean): boolean;
  /** Number of puts and removals since this thread opened the store. */
  readonly puts: number;
  /** Whether this process may write, including files next to the store. */
  readonly permit: WriteFence;
  /** Tables of the store, for `check` and statistics. */
  readonly env: Env;
  /** Returns the space usage of the data file as of the newest commit. */
  usage(): Usage;
  /** Opens the file again, read-only, after `close`. Earlier views are invalid. */
  reopen(): void;
  /** Resolves when this thread has closed the file. */
  close(): Promise<void>;
}

/**
 * Opens the folder `path`, which holds data.mdb and lock.mdb. Fails DATA_DIR_BAD if an interrupted load left
 * incomplete adjacency lists and this thread may not write them.
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
  /** The stored catalog as it was read last. */
  #catalogBytes: Uint8Array | undefined;
  /** Created by the first write, so reading threads have none. */
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

  /** The writer with complete adjacency lists, for all writes but exclusive loads. */
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

  commitGroup(work: (group: WriteGroup) => void, isSingle?: boolean): VectorChange[] {
    return this.#wholeWriting.commit(this.catalog, work, isSingle);
  }

  load<T>(nowMs: number, work: (view: LoadView) => T, isAlone = false): Loaded<T> {
    const writer = isAlone ? this.#writing : this.#wholeWriting;
    return writer.load(this.catalog, nowMs, work, isAlone);
  }

  flushAdjacency(): void {
    this.#writer?.deferredAdjacency.flush();
  }

  /** Completes the lists after an interrupted load. */
  completeLists(): void {
    if (this.permit.closedBecause !== undefined || this.options.replication !== undefined) {
      const what = 'an import into these data was cut off, and lists of edges are not whole';
      const hint = 'Open them once for writing: start the server as usual, or repeat the import.';
      fail('DATA_DIR_BAD', { what }, { hint });
    }
    this.listedAtOpen = this.#writing.deferredAdjacency.recover();
  }

  applySchema(declarations: Declarations, options: SchemaOptions): void {
    this.catalog = applySchema(this.#wholeWriting, declarations, options);
  }

  previewSchema(declarations: Declarations, nowMs: number): SchemaPreview {
    return previewSchema(this.#wholeWriting, declarations, nowMs);
  }

  useCatalog(stored: StoredCatalog): void {
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

  repack(isBusy: boolean): boolean {
    const repacker = (this.#repacker ??= new Repacker(this.env));
    const due = repacker.due(isBusy);
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
