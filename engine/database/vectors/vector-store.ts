// Owns all vector indexes of a database, on the writer thread: recovery from snapshots and the vector log,
// publication after a commit, snapshots, memory limits. There is one index per vector label. LMDB is
// authoritative; everything here can be rebuilt from it.
import { join } from 'node:path';
import { sleepSync } from '../../base/clock.js';
import { fail } from '../../base/errors.js';
import { failpoint } from '../../base/failpoint.js';
import type { Storage } from '../../storage/open-storage.js';
import type { Label, ReadView, VectorChange } from '../../storage/table/view-types.js';
import type { VectorWidth } from '../../storage/record/vector-record.js';
import type { VectorTypeOptions } from '../../storage/view/write-context.js';
import type { IndexHandle, IndexOptions, VectorIndex } from '../../vector/index.js';
import { bulkFrom } from '../../vector/bulk.js';
import {
  type IndexHooks,
  type SharedIndex,
  createVectorIndex,
  fitsIn,
  renamedIndex,
} from '../../vector/shared-index.js';
import { readSnapshot } from '../../vector/snapshot.js';
import type { RebuildReason } from '../metrics/writer-metrics.js';
import { readModelRecord } from './model-record.js';
import { ShadowIndexes } from './shadow-indexes.js';
import { readPosition } from './snapshot-position.js';
import { helperThreads } from './snapshot-thread.js';
import { type BuildEvents, idsOf, progressLog, runOfPuts } from './vector-build.js';
import { type SnapshotEvents, VectorSnapshots } from './vector-snapshot.js';

export interface VectorStoreOptions {
  /** Folder of snapshot files. */
  folder: string;
  dbUuid: string;
  default: IndexOptions;
  types: Record<string, Partial<IndexOptions> & VectorTypeOptions>;
  snapshot: { intervalMs: number; afterWrites: number; keep: number };
  /** True on a cluster node: vectors that fit on another node must be accepted. */
  isFollowing?: boolean;
  /** Cluster only: types that this node does not search. */
  skipped?: readonly string[] | undefined;
  /** Maximum bytes of a segment's memory. Default: the maximum of a WebAssembly memory. */
  segmentBytes?: number;
  failpoint?: string | undefined;
}

export interface VectorStoreEvents extends BuildEvents, SnapshotEvents {
  onIndex: (label: number, handle: IndexHandle) => void;
  /** Called when a build has begun that reading threads may help with. */
  onBuild: (label: number, handle: IndexHandle) => void;
  onRebuilt: (reason: RebuildReason) => void;
  onReplayed: (changes: number) => void;
}

export interface VectorStore {
  readonly indexes: Map<number, VectorIndex>;
  readonly snapshots: VectorSnapshots;
  handles(): { label: number; handle: IndexHandle }[];
  /** Starts a transaction: no capacity is reserved. */
  beginReserving(): void;
  /**
   * Reserves capacity for the changes of a request, in addition to the earlier requests of the transaction.
   * Called before the commit. Fails VECTOR_CAPACITY.
   */
  reserve(changes: readonly VectorChange[]): void;
  /** Applies committed changes in sequence order. */
  publish(changes: readonly VectorChange[]): void;
  /** Repairs and reclaims for about `budgetMs`. Returns true if more is to do. */
  maintain(budgetMs: number): boolean;
  /** Runs maintenance to its end, while nothing waits. Stops after a minute. */
  finishMaintenance(): void;
  /** Changes the indexes to a changed schema, and applies what the change has logged. */
  follow(): void;
  widthOf(label: Label): VectorWidth;
  /** Indexes of new vectors that no search uses yet. */
  readonly shadows: ShadowIndexes;
  /** Searches use the new vectors of a type from now on. `changes`: entries of the log with this change. */
  useShadow(label: Label, changes: number): void;
}

/**
 * Opens every index: newest valid snapshot plus replay of the log after it, otherwise a rebuild from LMDB.
 */
export function openVectorStore(
  storage: Storage,
  options: VectorStoreOptions,
  events: VectorStoreEvents,
): VectorStore {
  const store = new Store(storage, options, events);
  store.recover();
  return store;
}

const settleMs = 60_000;
const settleStepMs = 100;

/** Number of changes that a replay passes on at a time. */
const replayBatch = 1024;

class Store implements VectorStore {
  /** Vectors of each label that the requests of the open transaction add. */
  readonly #reserved = new Map<number, number>();
  readonly indexes = new Map<number, SharedIndex>();
  readonly snapshots: VectorSnapshots;
  readonly shadows: ShadowIndexes;
  /** Sequence of the last change that the indexes hold. */
  #applied = 0;
  /** Labels changed since the last maintenance of their index, or never maintained by this process. */
  readonly #needsMaintenance = new Set<number>();

  constructor(
    private readonly storage: Storage,
    private readonly options: VectorStoreOptions,
    private readonly events: VectorStoreEvents,
  ) {
    const { folder, dbUuid, failpoint: armed } = options;
    const { keep, afterWrites } = options.snapshot;
    // Types that change get a new file after this many writes in total, so that the kept files are close
    // together.
    const logMax = 2 * keep * afterWrites;
    const rules = { folder, dbUuid, keep, logMax, failpoint: armed };
    const labels = () =>
      this.#labels().map((label) => ({ label, index: this.indexes.get(label.id)! }));
    this.snapshots = new VectorSnapshots(storage, rules, labels, events);
    this.shadows = new ShadowIndexes({
      optionsOf: (label) => this.#optionsOf(label),
      dimensionOf: (label) => options.types[label.name]?.dimensions,
      segmentBytes: options.segmentBytes,
      onIndex: events.onIndex,
      onBuild: events.onBuild,
    });
  }

  #labels(): Label[] {
    return this.storage.catalog.labels().filter((label) => label.kind === 'vector');
  }

  #optionsOf(label: Label): IndexOptions {
    const options = { ...this.options.default, ...this.options.types[label.name] };
    const { resident, layout, exact } = options;
    if (resident === false && (exact || layout === 'fast' || layout === 'flat')) {
      const what = `vectors.${label.name}: resident = false goes with the layouts auto and compact.`;
      fail('CONFIG_INVALID', { what });
    }
    return this.options.skipped?.includes(label.name) ? { ...options, skipped: true } : options;
  }

  handles(): { label: number; handle: IndexHandle }[] {
    return [...this.indexes].map(([label, index]) => ({ label, handle: index.handle() }));
  }

  recover(): void {
    if (this.storage.permit.closedBecause === undefined) this.snapshots.prepareFolder();
    const labels = this.#labels();
    const from = new Map<number, number>();
    const missing = new Map<number, RebuildReason>();
    for (const label of labels) {
      const hasSnapshot = this.snapshots.files(label).length > 0;
      missing.set(label.id, hasSnapshot ? 'snapshot_refused' : 'no_snapshot');
      const loaded = this.#hasRoomFor(label) ? this.#load(label) : undefined;
      this.indexes.set(label.id, loaded?.index ?? this.#create(label));
      if (loaded) from.set(label.id, loaded.seq);
      this.#needsMaintenance.add(label.id);
    }
    const oldest = this.storage.oldestLoggedSeq();
    for (const label of labels) {
      const seq = from.get(label.id);
      if (seq === undefined || seq + 1 < oldest) {
        this.#rebuild(label, seq === undefined ? missing.get(label.id)! : 'log_too_short');
        from.set(label.id, this.storage.committedSeq());
      }
    }
    this.snapshots.sweep();
    this.#replay(from);
  }

  #create(label: Label): SharedIndex {
    return createVectorIndex(label.name, this.#optionsOf(label), this.#hooksOf(label));
  }

  #hooksOf(label: Label): IndexHooks {
    const { segmentBytes } = this.options;
    return {
      onSegment: (handle) => this.events.onIndex(label.id, handle),
      onBuild: (handle) => this.events.onBuild(label.id, handle),
      ...(segmentBytes === undefined ? {} : { segmentBytes }),
    };
  }

  #load(label: Label): { index: SharedIndex; seq: number } | undefined {
    // The dimension of a type without vectors is open again; its next vector may have another one.
    if (this.storage.reader().count(label.id) === 0) return undefined;
    const since = readModelRecord(this.storage.reader(), label.id)?.since ?? 0;
    for (const { seq, file } of this.snapshots.files(label)) {
      // It contains vectors of the former model.
      if (seq < since) continue;
      const path = join(this.options.folder, file);
      if (seq <= this.storage.committedSeq()) {
        const started = performance.now();
        const read = readSnapshot(path, label.name, this.#optionsOf(label), {
          dbUuid: this.options.dbUuid,
          typeId: label.id,
          dimension: this.storage.reader().dimension(label.id),
          seq,
          hooks: this.#hooksOf(label),
          shareOut: helperThreads,
        });
        if (read.index) {
          const position = Math.max(seq, readPosition(this.storage, label, file));
          this.snapshots.setSnapshot(label, file, position);
          const { bytes } = read.index;
          const ms = Math.round(performance.now() - started);
          this.events.log('info', 'vector snapshot loaded', { type: label.name, seq, bytes, ms });
          return { index: read.index, seq: position };
        }
        this.events.log('warn', 'vector snapshot refused', { file, reason: read.reason });
      }
      if (this.storage.permit.closedBecause === undefined) this.snapshots.remove(file);
    }
    return undefined;
  }

  #rebuild(label: Label, reason: RebuildReason): void {
    this.snapshots.removeLabel(label.id);
    if (!this.#hasRoomFor(label)) return this.#disable(label.id);
    const view = this.storage.reader();
    const total = view.count(label.id);
    if (total === 0) return;
    const fields = { type: label.name, vectors: total, reason };
    this.events.log('info', 'rebuilding vector index', fields);
    this.events.onRebuilt(reason);
    const index = this.#create(label);
    this.indexes.set(label.id, index);
    const ids = idsOf(view, label);
    const report = progressLog(this.events, label, ids.length);
    index.insertBatch(ids, (i) => {
      report(i);
      if (i === ids.length >> 1) failpoint('midRebuild');
      return this.#vectorOf(view, label, ids[i]!);
    });
    index.finishGraph();
    this.#needsMaintenance.add(label.id);
    this.snapshots.note(label.id, total);
  }

  /** Leaves out a vector with a wrong checksum. A request that reads it fails. */
  #vectorOf(view: ReadView, label: Label, id: number): Float64Array | undefined {
    try {
      return view.vector(id);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.events.log('warn', 'a vector is not indexed', { type: label.name, id, reason });
      return undefined;
    }
  }

  #replay(from: ReadonlyMap<number, number>): void {
    const last = this.storage.committedSeq();
    const after = Math.min(last, ...from.values());
    let done = 0;
    let changes: VectorChange[] = [];
    for (const { seq, change } of this.storage.replay(after)) {
      if (seq <= (from.get(change.label) ?? last)) continue;
      done++;
      if (changes.push(change) < replayBatch) continue;
      this.publish(changes);
      changes = [];
      const share = (seq - after) / Math.max(1, last - after);
      this.events.progress('replaying vectors', share * 100);
    }
    this.publish(changes);
    this.#applied = last;
    this.events.onReplayed(done);
    if (done > 0) this.events.log('info', 'replayed vector log', { changes: done });
  }

  #hasRoomFor(label: Label): boolean {
    if (this.options.isFollowing !== true) return true;
    const options = this.#optionsOf(label);
    if (options.skipped) return false;
    const view = this.storage.reader();
    return fitsIn(options, view.count(label.id), view.dimension(label.id));
  }

  /**
   * Drops an index that fits on other nodes but not on this one. Searches then scan, until a start with more
   * memory. The memory is freed as soon as every thread has received the change.
   */
  #disable(id: number): void {
    const label = this.#labels().find((each) => each.id === id);
    const before = this.indexes.get(id);
    if (label === undefined || before?.isDisabled) return;
    this.#reportDisabled(label);
    before?.disable();
    before?.close();
    const index = this.#create(label);
    index.disable();
    this.indexes.set(id, index);
    this.snapshots.removeLabel(id);
    this.#needsMaintenance.delete(id);
    this.events.onIndex(id, index.handle());
  }

  #reportDisabled(label: Label): void {
    const { memoryBytes, skipped } = this.#optionsOf(label);
    const vectors = this.storage.reader().count(label.id);
    const fields = { type: label.name, vectors, memory_bytes: memoryBytes };
    if (skipped) return this.events.log('info', 'vectors of a type are not searched here', fields);
    const message = 'no room for the vectors of a type: they are searched one by one';
    this.events.log('warn', message, fields);
  }

  #apply(change: VectorChange): void {
    const index = this.indexes.get(change.label);
    if (!index || index.isDisabled) return;
    if (change.kind === 'put') index.put(change.id, change.vector);
    else index.delete(change.id);
    this.#note(change.label, 1);
  }

  #note(label: number, changes: number): void {
    this.#needsMaintenance.add(label);
    this.snapshots.note(label, changes);
  }

  beginReserving(): void {
    this.#reserved.clear();
  }

  reserve(changes: readonly VectorChange[]): void {
    const more = new Map<number, { count: number; dimension: number }>();
    for (const change of changes) {
      if (change.kind !== 'put') continue;
      const entry = more.get(change.label);
      if (entry) entry.count++;
      else more.set(change.label, { count: 1, dimension: change.vector.length });
    }
    for (const [label, { count, dimension }] of more) {
      const index = this.indexes.get(label);
      const all = (this.#reserved.get(label) ?? 0) + count;
      if (index && (index.isDisabled || !index.hasRoom(all, dimension)))
        fail('VECTOR_CAPACITY', { type: index.name });
      this.#reserved.set(label, all);
    }
  }

  publish(changes: readonly VectorChange[]): void {
    if (changes.length === 0) return;
    this.snapshots.change(() => this.#publish(changes));
    this.#applied += changes.length;
    if (this.options.isFollowing !== true) return;
    for (const id of new Set(changes.map(({ label }) => label))) {
      const index = this.indexes.get(id);
      if (index !== undefined && !index.hasRoom(0, index.dimension)) this.#disable(id);
    }
  }

  /**
   * Replaces the index of a type that had no vectors, or whose vectors another node has replaced, if its next
   * vector has another dimension.
   */
  #fit(change: VectorChange): void {
    const index = this.indexes.get(change.label);
    if (change.kind !== 'put' || index === undefined || index.isDisabled) return;
    if (index.dimension === 0 || index.dimension === change.vector.length) return;
    const label = this.#labels().find(({ id }) => id === change.label);
    if (label !== undefined) this.#replace(label, this.#create(label));
  }

  #publish(changes: readonly VectorChange[]): void {
    for (let at = 0; at < changes.length; ) {
      const run = runOfPuts(changes, at);
      this.#fit(changes[at]!);
      const index = this.indexes.get(changes[at]!.label);
      if (run.length >= bulkFrom && index && !index.isDisabled) {
        const ids = Uint32Array.from(run, ({ id }) => id);
        index.insertBatch(ids, (i) => run[i]!.vector);
        this.#note(changes[at]!.label, run.length);
        at += run.length;
        continue;
      }
      // At least one, because a deletion does not form a run.
      const end = at + Math.max(1, run.length);
      while (at < end) this.#apply(changes[at++]!);
    }
  }

  widthOf(label: Label): VectorWidth {
    return this.options.types[label.name]?.store ?? 'f64';
  }

  useShadow(label: Label, changes: number): void {
    const index = this.shadows.take(label);
    this.#applied += changes;
    this.#replace(label, index);
    for (const { file } of this.snapshots.files(label)) this.snapshots.remove(file);
    this.snapshots.note(label.id, index.count);
  }

  /** From now on searches scan the vectors, until they have received the index. */
  #replace(label: Label, index: SharedIndex): void {
    const former = this.indexes.get(label.id);
    former?.disable();
    former?.close();
    this.indexes.set(label.id, index);
    this.snapshots.removeLabel(label.id);
    this.#needsMaintenance.add(label.id);
    this.events.onIndex(label.id, index.handle());
  }

  maintain(budgetMs: number): boolean {
    let isMore = false;
    const ran = this.snapshots.changeIfUnlatched(() => {
      for (const label of this.#needsMaintenance) {
        if (this.indexes.get(label)!.maintain(budgetMs)) isMore = true;
        else this.#needsMaintenance.delete(label);
      }
    });
    return isMore || !ran;
  }

  finishMaintenance(): void {
    const until = performance.now() + settleMs;
    while (this.maintain(settleStepMs) && performance.now() < until) {
      // Lets a snapshot run.
      sleepSync(1);
    }
  }

  follow(): void {
    const seq = this.#applied;
    const labels = this.#labels();
    const declared = new Set(labels.map(({ id }) => id));
    for (const id of this.indexes.keys()) if (!declared.has(id)) this.#drop(id);
    const from = new Map<number, number>();
    for (const label of labels) {
      const isRetained = this.#retain(label);
      from.set(label.id, isRetained ? seq : this.storage.committedSeq());
      if (isRetained) continue;
      this.indexes.get(label.id)?.close();
      this.indexes.set(label.id, this.#create(label));
      // A type that returns finds its vectors unchanged.
      this.#rebuild(label, 'type_returned');
    }
    this.snapshots.sweep();
    this.#replay(from);
  }

  #drop(id: number): void {
    this.indexes.get(id)!.close();
    this.indexes.delete(id);
    this.#needsMaintenance.delete(id);
    this.snapshots.removeLabel(id);
  }

  /** Returns true if an index matches the options of its type's current name. Otherwise it is rebuilt. */
  #retain(label: Label): boolean {
    const index = this.indexes.get(label.id);
    if (index === undefined) return false;
    const { dimension } = index;
    const stored = this.storage.reader().dimension(label.id);
    if (dimension !== 0 && dimension !== stored) return false;
    if (index.name === label.name) return true;
    const options = this.#optionsOf(label);
    if (!isSameBuild(index.options, options)) return false;
    this.snapshots.removeLabel(label.id);
    const renamed = renamedIndex(index, label.name, options, this.#hooksOf(label));
    this.indexes.set(label.id, renamed);
    return true;
  }
}

/** Returns true if both options build the same index. */
function isSameBuild(a: IndexOptions, b: IndexOptions): boolean {
  const keys = ['metric', 'm', 'efConstruction', 'layout', 'exact'] as const;
  const isResident = ({ resident = true }: IndexOptions): boolean => resident;
  return isResident(a) === isResident(b) && keys.every((key) => a[key] === b[key]);
}
