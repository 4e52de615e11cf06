// Manages the snapshots of a database's vector indexes: the files, their positions, and rounds of new
// snapshots. A round runs in the background, or synchronously at the close. It also trims the vector log.
// Invariant: the log still holds everything after the older of the kept files, so that a damaged newest file
// costs a longer replay, not a rebuild.
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { wallMs } from '../../base/clock.js';
import { failpoint } from '../../base/failpoint.js';
import { removedSuffix, removeLargeFile } from '../../fs/large-file.js';
import { readCatalog } from '../../storage/catalog/catalog-record.js';
import { asDiskError, isFullDisk } from '../../storage/lock/disk-error.js';
import type { Storage } from '../../storage/open-storage.js';
import type { Label } from '../../storage/table/view-types.js';
import type { SharedIndex } from '../../vector/shared-index.js';
import { type SnapshotWritten, writeSnapshot } from '../../vector/snapshot.js';
import { type SnapshotPosition, writePositions } from './snapshot-position.js';
import { type SnapshotReport, snapshotName, startSnapshot } from './snapshot-thread.js';
import { createLatchBuffer, WriterLatch } from './snapshot-latch.js';

export interface SnapshotRules {
  /** Folder of the files. */
  folder: string;
  dbUuid: string;
  /** Number of files kept per type. */
  keep: number;
  /** Maximum number of changes that the log keeps for an older file of an unchanged type. */
  logMax: number;
  failpoint?: string | undefined;
}

/** The newest snapshot of a type, for monitoring. */
export interface SnapshotInfo {
  label: number;
  file: string;
  /** It contains the changes up to this sequence. */
  seq: number;
  bytes: number;
  /** Unix time in milliseconds. */
  writtenAt: number;
  /** Total time, and time for which writes waited. Absent when the snapshot was found at the start. */
  took?: { ms: number; stillMs: number };
}

export interface SnapshotEvents {
  onSnapshot: (info: SnapshotInfo) => void;
  log: (level: 'info' | 'warn', message: string, fields: Record<string, unknown>) => void;
}

/** Log entries that one commit deletes: about ten milliseconds of writing. */
const trimBatch = 2_000;
/** Number of attempts. A snapshot starts again when its index got a segment meanwhile. */
const attemptsMax = 3;

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class VectorSnapshots {
  /** Changes since the last round began. */
  changes = 0;
  /** Sequence of the last change of each label. */
  readonly #changedAt = new Map<number, number>();
  readonly #newest = new Map<number, { file: string; seq: number }>();
  #round: Promise<void> | undefined;
  #latch: WriterLatch | undefined;
  #endWorker: (() => void) | undefined;
  #closed = false;

  constructor(
    private readonly storage: Storage,
    private readonly rules: SnapshotRules,
    private readonly labels: () => readonly { label: Label; index: SharedIndex }[],
    private readonly events: SnapshotEvents,
  ) {}

  get isRunning(): boolean {
    return this.#round !== undefined;
  }

  /** Files in the folder. Restored or copied data may not have the folder yet. */
  get #names(): string[] {
    return existsSync(this.rules.folder) ? readdirSync(this.rules.folder) : [];
  }

  /** Files of a label, newest first. */
  files(label: Label): { file: string; seq: number }[] {
    const prefix = `${label.name}.`;
    return this.#names
      .filter((file) => file.startsWith(prefix) && file.endsWith('.snap'))
      .map((file) => ({ file, seq: Number(file.slice(prefix.length, -5)) }))
      .sort((a, b) => b.seq - a.seq);
  }

  /** Records a snapshot that was loaded. It contains every change of its type up to `seq`. */
  setSnapshot(label: Label, file: string, seq: number): void {
    const { size, mtimeMs } = statSync(join(this.rules.folder, file));
    this.#newest.set(label.id, { file, seq });
    this.events.onSnapshot({ label: label.id, file, seq, bytes: size, writtenAt: mtimeMs });
  }

  /** Creates the folder. Deletes files of unfinished rounds, and files whose deletion was not complete. */
  prepareFolder(): void {
    try {
      this.#makeFolder();
    } catch (error) {
      // Every round creates it too. Until then, a full disk does not prevent reads.
      if (!isFullDisk(error)) throw error;
    }
    for (const file of this.#names)
      if (file.endsWith('.tmp') || file.endsWith(removedSuffix)) this.remove(file);
  }

  #makeFolder(): void {
    mkdirSync(this.rules.folder, { recursive: true, mode: 0o700 });
  }

  /** Deletes a file in the background. Its name is removed immediately. */
  remove(file: string): void {
    void removeLargeFile(join(this.rules.folder, file)).catch((error: unknown) => {
      const { message: reason } = error as Error;
      this.events.log('warn', 'a vector snapshot cannot be removed', { file, reason });
    });
  }

  note(label: number, changes: number): void {
    this.changes += changes;
    this.#changedAt.set(label, this.storage.committedSeq());
  }

  /** Drops what is known of a type's snapshots, because its index was renamed or rebuilt. */
  removeLabel(label: number): void {
    this.#newest.delete(label);
    this.#changedAt.set(label, this.storage.committedSeq());
  }

  /** Deletes files of vector types that no longer exist, including hidden types, if writing is allowed. */
  sweep(): void {
    if (this.storage.permit.closedBecause !== undefined) return;
    const { labels } = readCatalog(this.storage.env.meta);
    const names = labels.flatMap(({ kind, name }) => (kind === 'vector' ? [name] : []));
    for (const file of this.#names) {
      const isSnapshot = names.some((name) => file.startsWith(`${name}.`));
      if (file.endsWith('.snap') && !isSnapshot) this.remove(file);
    }
  }

  /** Runs a change of an index. Waits while a snapshot compares. */
  change(work: () => void): void {
    const latch = this.#latch;
    latch?.begin();
    try {
      work();
    } finally {
      latch?.end(this.storage.committedSeq());
    }
  }

  /** Runs `work` unless a snapshot compares now. Returns true if it ran. */
  changeIfUnlatched(work: () => void): boolean {
    const latch = this.#latch;
    if (latch !== undefined && !latch.tryBegin()) return false;
    try {
      work();
    } finally {
      latch?.end(this.storage.committedSeq());
    }
    return true;
  }

  /** Makes snapshots of every changed index while the writer continues. One round at a time. */
  round(): Promise<void> {
    const after = this.#round ?? Promise.resolve();
    const round: Promise<void> = after
      .catch(() => undefined)
      .then(() => this.#runRound())
      .finally(() => {
        if (this.#round === round) this.#round = undefined;
      });
    this.#round = round;
    return round;
  }

  async #runRound(): Promise<void> {
    this.storage.permit.check();
    this.changes = 0;
    for (const { label, index } of this.#due()) {
      if (this.#closed) return;
      await this.#inBackground(label, index);
      await nextTick();
    }
    if (this.#closed) return;
    const { needed, old } = this.#settle();
    for (const path of old) await removeLargeFile(path);
    while (!this.#closed && this.storage.oldestLoggedSeq() <= needed) {
      const last = Math.min(needed, this.storage.oldestLoggedSeq() - 1 + trimBatch);
      this.storage.trimLog(last);
      await nextTick();
    }
    failpoint('W16');
  }

  #indexOf(label: number): SharedIndex | undefined {
    return this.labels().find((each) => each.label.id === label)?.index;
  }

  #due(): { label: Label; index: SharedIndex }[] {
    return this.labels().filter(
      ({ label, index }) => index.count > 0 && (this.#isChanged(label) || !this.files(label)[0]),
    );
  }

  #isChanged(label: Label): boolean {
    return (this.#changedAt.get(label.id) ?? -1) > (this.#newest.get(label.id)?.seq ?? -1);
  }

  async #inBackground(label: Label, index: SharedIndex): Promise<void> {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const started = performance.now();
      const report = await this.#inThread(label, index);
      if (!report) continue;
      // A reload may have renamed the type or replaced its index meanwhile.
      if (this.#indexOf(label.id) === index) {
        return this.#finished(label, report.file, report, started);
      }
      return removeLargeFile(join(this.rules.folder, report.file));
    }
    this.events.log('warn', 'vector snapshot given up: the index grows too fast', {
      type: label.name,
    });
  }

  async #inThread(label: Label, index: SharedIndex): Promise<SnapshotReport> {
    failpoint('W13');
    this.#prepare(index);
    const latch = createLatchBuffer(this.storage.committedSeq());
    const { folder, dbUuid, failpoint: armed } = this.rules;
    index.openMarks();
    try {
      const { worker, report } = startSnapshot({
        handle: index.handle(),
        folder,
        dbUuid,
        typeId: label.id,
        latch,
        ...(armed === undefined ? {} : { failpoint: armed }),
      });
      this.#latch = new WriterLatch(latch);
      this.#endWorker = () => void worker.terminate();
      return await report;
    } catch (error) {
      throw this.#fileTrouble(error, index);
    } finally {
      index.closeMarks();
      this.#latch = undefined;
      this.#endWorker = undefined;
    }
  }

  #finished(label: Label, file: string, written: SnapshotWritten, started: number): void {
    const { seq, bytes, stillMs } = written;
    const ms = performance.now() - started;
    this.#newest.set(label.id, { file, seq });
    const writtenAt = wallMs();
    const took = { ms, stillMs };
    this.events.onSnapshot({ label: label.id, file, seq, bytes, writtenAt, took });
    this.events.log('info', 'vector snapshot', {
      type: label.name,
      seq,
      bytes,
      ms: Math.round(ms),
      write_pause_ms: Math.round(stillMs * 10) / 10,
    });
  }

  /** Makes the last round synchronously; nothing else is written meanwhile. */
  finish(): void {
    this.storage.permit.check();
    this.abandon();
    for (const { label, index } of this.#due()) {
      failpoint('W13');
      this.#prepare(index);
      const started = performance.now();
      const seq = this.storage.committedSeq();
      const file = snapshotName(label.name, seq);
      const { folder, dbUuid } = this.rules;
      const identity = { dbUuid, typeId: label.id, seq };
      try {
        const written = writeSnapshot(index, join(folder, file), identity);
        this.#finished(label, file, written, started);
      } catch (error) {
        throw this.#fileTrouble(error, index);
      }
    }
    const { needed, old } = this.#settle();
    for (const path of old) rmSync(path, { force: true });
    this.storage.trimLog(needed);
    failpoint('W16');
  }

  /** Runs before a file of an index is written. */
  #prepare(index: SharedIndex): void {
    try {
      this.#makeFolder();
    } catch (error) {
      throw this.#fileTrouble(error, index);
    }
  }

  /** Cancels a round in the background. The next start deletes its leftovers. */
  abandon(): void {
    this.#closed = true;
    this.#latch?.giveUp();
    this.#endWorker?.();
  }

  /**
   * Records the position of every newest file. Returns the sequence up to which the log is no longer needed
   * once the `old` files are deleted.
   */
  #settle(): { needed: number; old: string[] } {
    const seq = this.storage.committedSeq();
    const positions: SnapshotPosition[] = [];
    const old: string[] = [];
    let needed = seq;
    for (const { label, index } of this.labels()) {
      // An empty index has no snapshot, and its old files must not prevent the trimming of the log.
      if (index.count === 0) this.#takeAll(label, old);
      const newest = this.#newest.get(label.id);
      if (newest === undefined) continue;
      // Nothing has changed since, so its file is current.
      if (!this.#isChanged(label)) newest.seq = seq;
      else needed = Math.min(needed, newest.seq);
      positions.push({ label, ...newest });
      needed = Math.min(needed, this.#takeOld(label, old));
    }
    writePositions(this.storage, positions);
    failpoint('W15');
    failpoint('beforeVlogTrim');
    return { needed, old };
  }

  /** Marks all files of a type for deletion. */
  #takeAll(label: Label, old: string[]): void {
    this.#newest.delete(label.id);
    for (const { file } of this.files(label)) old.push(join(this.rules.folder, file));
  }

  #fileTrouble(error: unknown, { bytes }: SharedIndex): unknown {
    const { folder: path } = this.rules;
    return asDiskError(error, { path, name: 'the folder of vector snapshots', bytes });
  }

  /**
   * Marks the files beyond `keep`, and files of an unchanged type for which a rebuild is as fast as a replay.
   * Returns the sequence of the oldest file that stays and is not the newest.
   */
  #takeOld(label: Label, old: string[]): number {
    const { folder, keep, logMax } = this.rules;
    const seq = this.storage.committedSeq();
    let oldest = seq;
    for (const [age, older] of this.files(label).entries()) {
      if (age === 0) continue;
      if (age < keep && seq - older.seq <= logMax) oldest = Math.min(oldest, older.seq);
      else old.push(join(folder, older.file));
    }
    return oldest;
  }
}
