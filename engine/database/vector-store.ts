// All vector indexes of a database as the writer lane owns them: recovery from snapshots and the
// vector log, publication after a commit, snapshots, room. One index per vector label. LMDB is the
// truth; everything here can be rebuilt from it.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from '../base/errors.js';
import { failpoint } from '../base/failpoint.js';
import type { Storage } from '../storage/open.js';
import type { Label, ReadView, VectorChange } from '../storage/store.js';
import type { VectorTypeOptions } from '../storage/write-view.js';
import type { IndexHandle, IndexOptions, VectorIndex } from '../vector/index.js';
import { bulkFrom } from '../vector/bulk.js';
import { type IndexHooks, type SharedIndex, createVectorIndex } from '../vector/open.js';
import { type Reach, readReach, writeReach } from './snapshot-reach.js';
import { readSnapshot, writeSnapshot } from '../vector/snapshot.js';

export interface VectorStoreOptions {
  /** Folder of snapshot files. */
  folder: string;
  dbUuid: string;
  default: IndexOptions;
  types: Record<string, Partial<IndexOptions> & VectorTypeOptions>;
  snapshot: { intervalMs: number; afterWrites: number; keep: number };
  /** Most bytes of a segment's memory; absent: what a memory can hold. */
  segmentBytes?: number;
}

export interface VectorStoreEvents {
  progress: (phase: string, progress: number) => void;
  onIndex: (label: number, handle: IndexHandle) => void;
  /** A build has begun that reading threads may help with. */
  onBuild: (label: number, handle: IndexHandle) => void;
  log: (level: 'info' | 'warn', message: string, fields: Record<string, unknown>) => void;
}

export interface VectorStore {
  readonly indexes: Map<number, VectorIndex>;
  readonly changesSinceSnapshot: number;
  handles(): { label: number; handle: IndexHandle }[];
  /**
   * Fails VECTOR_CAPACITY when the changes of a request would not fit; asked before the commit
   * (W3).
   */
  reserve(changes: readonly VectorChange[]): void;
  /** Applies committed changes in sequence order (W11). */
  publish(changes: readonly VectorChange[]): void;
  /** Repairs and reclaims for about `budgetMs`; whether more is to do. */
  maintain(budgetMs: number): boolean;
  /** Makes indexes for vector types that a reload declared. */
  addTypes(): void;
  /**
   * Writes a snapshot of every changed index, keeps the newest `keep`, trims the log (W13 to W16).
   */
  snapshot(): void;
}

/**
 * Opens every index: newest valid snapshot plus replay of the log after it, else a rebuild from
 * LMDB.
 */
export function openVectorStore(
  storage: Storage,
  options: VectorStoreOptions,
  events: VectorStoreEvents,
): VectorStore {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  for (const file of readdirSync(options.folder)) {
    if (file.endsWith('.tmp')) rmSync(join(options.folder, file));
  }
  const store = new Store(storage, options, events);
  store.recover();
  return store;
}

/** Changes that a replay hands on at a time. */
const replayedAtOnce = 1024;

type Put = Extract<VectorChange, { kind: 'put' }>;

/** The puts of one label from `at` on, each of another id, up to the first change that is none. */
function runOfPuts(changes: readonly VectorChange[], at: number): Put[] {
  const run: Put[] = [];
  const ids = new Set<number>();
  for (; at < changes.length; at++) {
    const change = changes[at]!;
    if (change.kind !== 'put' || ids.has(change.id)) break;
    if (run.length > 0 && change.label !== run[0]!.label) break;
    ids.add(change.id);
    run.push(change);
  }
  return run;
}

/** Ids of a label, ascending. */
function idsOf(view: ReadView, label: Label): Uint32Array {
  const parts = [...view.scan(label.id)];
  const ids = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    ids.set(part, at);
    at += part.length;
  }
  return ids;
}

/** Tells of a rebuild: /readyz about every thousand vectors, the log about every tenth. */
function progressLog(
  { progress, log }: VectorStoreEvents,
  label: Label,
  total: number,
): (done: number) => void {
  const tenth = Math.max(1000, Math.ceil(total / 10));
  const started = performance.now();
  return (done) => {
    if (done % 1000 === 0) progress(`indexing ${label.name}`, (done / total) * 100);
    if (done === 0 || (done % tenth !== 0 && done !== total - 1)) return;
    const perSecond = Math.round((done * 1000) / (performance.now() - started));
    log('info', 'indexing vectors', { type: label.name, done, total, per_second: perSecond });
  };
}

const snapshotName = (label: Label, seq: number): string => `${label.name}.${seq}.snap`;

class Store implements VectorStore {
  readonly indexes = new Map<number, SharedIndex>();
  changesSinceSnapshot = 0;
  readonly #changed = new Set<number>();
  /** Labels changed since their index was last kept. */
  readonly #unkempt = new Set<number>();

  constructor(
    private readonly storage: Storage,
    private readonly options: VectorStoreOptions,
    private readonly events: VectorStoreEvents,
  ) {}

  #labels(): Label[] {
    return this.storage.catalog.labels().filter((label) => label.kind === 'vector');
  }

  #optionsOf(label: Label): IndexOptions {
    return { ...this.options.default, ...this.options.types[label.name] };
  }

  handles(): { label: number; handle: IndexHandle }[] {
    return [...this.indexes].map(([label, index]) => ({ label, handle: index.handle() }));
  }

  recover(): void {
    const labels = this.#labels();
    const from = new Map<number, number>();
    for (const label of labels) {
      const loaded = this.#load(label);
      this.indexes.set(label.id, loaded?.index ?? this.#create(label));
      if (loaded) from.set(label.id, loaded.seq);
    }
    const oldest = this.storage.oldestLoggedSeq();
    for (const label of labels) {
      const seq = from.get(label.id);
      if (seq === undefined || seq + 1 < oldest) {
        this.#rebuild(label);
        from.set(label.id, this.storage.committedSeq());
      }
    }
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
    for (const { seq, file } of this.#files(label)) {
      const path = join(this.options.folder, file);
      if (seq <= this.storage.committedSeq()) {
        const read = readSnapshot(path, label.name, this.#optionsOf(label), {
          dbUuid: this.options.dbUuid,
          typeId: label.id,
          dimension: this.storage.reader().dimension(label.id),
          seq,
          hooks: this.#hooksOf(label),
        });
        if (read.index)
          return { index: read.index, seq: Math.max(seq, readReach(this.storage, label, file)) };
        this.events.log('warn', 'vector snapshot refused', { file, reason: read.reason });
      }
      rmSync(path);
    }
    return undefined;
  }

  /** Snapshot files of a label, newest first. */
  #files(label: Label): { file: string; seq: number }[] {
    const prefix = `${label.name}.`;
    return readdirSync(this.options.folder)
      .filter((file) => file.startsWith(prefix) && file.endsWith('.snap'))
      .map((file) => ({ file, seq: Number(file.slice(prefix.length, -5)) }))
      .sort((a, b) => b.seq - a.seq);
  }

  #rebuild(label: Label): void {
    const view = this.storage.reader();
    const total = view.count(label.id);
    if (total === 0) return;
    this.events.log('info', 'rebuilding vector index', { type: label.name, vectors: total });
    const index = this.#create(label);
    this.indexes.set(label.id, index);
    const ids = idsOf(view, label);
    const report = progressLog(this.events, label, ids.length);
    index.insertBatch(ids, (i) => {
      report(i);
      if (i === ids.length >> 1) failpoint('midRebuild');
      return this.#vectorOf(view, label, ids[i]!);
    });
    this.#changed.add(label.id);
    this.changesSinceSnapshot += total;
  }

  /** A vector that fails its checksum is left out: whoever reads it hears of it (section 4, 6). */
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
    const after = Math.min(...from.values());
    const last = this.storage.committedSeq();
    let done = 0;
    let changes: VectorChange[] = [];
    for (const { seq, change } of this.storage.replay(after)) {
      if (seq <= (from.get(change.label) ?? last)) continue;
      done++;
      if (changes.push(change) < replayedAtOnce) continue;
      this.publish(changes);
      changes = [];
      const share = (seq - after) / Math.max(1, last - after);
      this.events.progress('replaying vectors', share * 100);
    }
    this.publish(changes);
    if (done > 0) this.events.log('info', 'replayed vector log', { changes: done });
  }

  #apply(change: VectorChange): void {
    const index = this.indexes.get(change.label);
    if (!index) return;
    if (change.kind === 'put') index.put(change.id, change.vector);
    else index.delete(change.id);
    this.#note(change.label, 1);
  }

  #note(label: number, changes: number): void {
    this.#changed.add(label);
    this.#unkempt.add(label);
    this.changesSinceSnapshot += changes;
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
      if (index && !index.hasRoom(count, dimension)) fail('VECTOR_CAPACITY', { type: index.name });
    }
  }

  publish(changes: readonly VectorChange[]): void {
    for (let at = 0; at < changes.length; ) {
      const run = runOfPuts(changes, at);
      const index = this.indexes.get(changes[at]!.label);
      if (run.length >= bulkFrom && index) {
        const ids = Uint32Array.from(run, ({ id }) => id);
        index.insertBatch(ids, (i) => run[i]!.vector);
        this.#note(changes[at]!.label, run.length);
        at += run.length;
        continue;
      }
      // At least one: a deletion is no run.
      const end = at + Math.max(1, run.length);
      while (at < end) this.#apply(changes[at++]!);
    }
  }

  maintain(budgetMs: number): boolean {
    let isMore = false;
    for (const label of this.#unkempt) {
      if (this.indexes.get(label)!.maintain(budgetMs)) isMore = true;
      else this.#unkempt.delete(label);
    }
    return isMore;
  }

  addTypes(): void {
    for (const label of this.#labels()) {
      if (this.indexes.has(label.id)) continue;
      this.indexes.set(label.id, this.#create(label));
      // A type that comes back finds its vectors where it left them.
      this.#rebuild(label);
    }
  }

  snapshot(): void {
    const seq = this.storage.committedSeq();
    const newest: Reach[] = [];
    let needed = seq;
    for (const label of this.#labels()) {
      const index = this.indexes.get(label.id)!;
      if (index.count > 0 && (this.#changed.has(label.id) || this.#files(label).length === 0)) {
        failpoint('W13');
        writeSnapshot(index, join(this.options.folder, snapshotName(label, seq)), {
          dbUuid: this.options.dbUuid,
          typeId: label.id,
          seq,
        });
      }
      const files = this.#files(label);
      if (files[0]) newest.push({ label, file: files[0].file, seq });
      // An older snapshot that is kept may still need the log; of an unchanged type only the newest
      // counts.
      if (this.#changed.has(label.id)) needed = Math.min(needed, this.#dropOld(files) ?? seq);
    }
    writeReach(this.storage, newest);
    failpoint('W15');
    this.#changed.clear();
    this.changesSinceSnapshot = 0;
    failpoint('beforeVlogTrim');
    this.storage.trimLog(needed);
    failpoint('W16');
  }

  /** Deletes snapshots beyond `keep`; returns the sequence of the oldest that stays. */
  #dropOld(files: readonly { file: string; seq: number }[]): number | undefined {
    const { keep } = this.options.snapshot;
    for (const { file } of files.slice(keep)) rmSync(join(this.options.folder, file));
    return files[Math.min(files.length, keep) - 1]?.seq;
  }
}
