// Tells whether the disk of the data has free space. Asks the disk itself, before LMDB writes and when LMDB
// reports a failed write. LMDB should not meet a full disk: it formats a failed write into a buffer of 100
// bytes that can overflow, which can end the process (operations.md L14).
//
// LMDB writes data pages before the commit point. If one of them finds no space, the transaction is undone,
// and the next one begins where the last commit ended. Such a shortage is temporary: writing continues when
// there is space. A failed sync, whose losses are unknown, and an error of the disk are final.
//
// A few pages after the end of the data file are preallocated, so that a transaction that only deletes finds
// space on a full disk: LMDB writes new copies of pages before it frees the old ones.
//
// Invariant: while the disk is known to be full, LMDB gets no write that adds data before a file of the
// missing size could be written here.
import {
  closeSync,
  openSync,
  rmSync,
  statSync,
  statfsSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { TrellisError } from '../../base/errors.js';
import { errnoOf, isFullDisk } from './disk-error.js';

/** A commit of a few requests writes some dozens of pages. */
const minBytes = 1024 * 1024;
/** Below this, every group of requests checks the preallocated pages. */
const lowBytes = 64 * minBytes;
/** From this many free bytes on, a reading of the disk is reused for `freshMs` milliseconds. */
const plentyBytes = 16 * lowBytes;
const freshMs = 20;
/** Preallocated bytes after the last page. */
const preallocatedBytes = 256 * 1024;
const blockBytes = 64 * 1024;

/** The file that reserves space for operators and deletes (maintenance/ballast.ts). */
export const reserveName = 'ballast';
const reserveStep = 4 * minBytes;
const deniedMs = 1000;

/** LMDB reports EIO for a write that was cut short, and also for a failed sync. */
const inputOutput = 5;
/** LMDB reports this for a write that failed as a whole, and for nothing else. */
const ofWrite = /Attempting to write page/;

/** `errno` of the commit that failed. */
export type RoomListener = (shortage: TrellisError | undefined, errno?: string) => void;

export class DiskRoom {
  #neededBytes = 0;
  /** Free bytes at the last reading, at `#readAt`. 0 if they were few. */
  #plenty = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Time at which a transaction that only deletes found no space. */
  #deniedAt = Number.NEGATIVE_INFINITY;
  /** Called when the disk is found full, and when it has space again. */
  onChange: RoomListener | undefined;

  /** `folder`: folder of the data file; `end`: returns the bytes of it that LMDB uses. */
  constructor(
    private readonly folder: string,
    private readonly end: () => number,
  ) {}

  get isFull(): boolean {
    return this.#neededBytes > 0;
  }

  /** Free bytes. A large number may be up to 20 ms old: no writer fills that much in this time. */
  get #recentlyFree(): number {
    const now = performance.now();
    if (this.#plenty > 0 && now - this.#readAt < freshMs) return this.#plenty;
    const { free } = this;
    this.#readAt = now;
    this.#plenty = free >= plentyBytes ? free : 0;
    return free;
  }

  /** Free bytes now; infinite if the disk does not report them. */
  get free(): number {
    try {
      const { bavail, bsize } = statfsSync(this.folder);
      return bavail * bsize;
    } catch {
      return Number.POSITIVE_INFINITY;
    }
  }

  /** Fails INSUFFICIENT_STORAGE if this many more bytes would find no space. */
  need(bytes = 0): void {
    const shortage = this.shortage(bytes);
    if (shortage !== undefined) throw shortage;
  }

  /** Returns the error if this many more bytes would find no space, else undefined. */
  shortage(bytes = 0): TrellisError | undefined {
    const needed = minBytes + bytes;
    const free = this.#recentlyFree;
    if (free < lowBytes) this.preallocate();
    if (!this.isFull && free >= needed) return undefined;
    return this.#reportFull(Math.max(this.#neededBytes, needed));
  }

  /**
   * Interprets an error of a transaction that LMDB has undone. Returns INSUFFICIENT_STORAGE if the
   * transaction found no space before the commit point, else undefined.
   */
  shortageIn(error: unknown): TrellisError | undefined {
    const { code, message } = (error ?? {}) as { code?: unknown; message?: string };
    const isWrite = ofWrite.test(message ?? '');
    const isShort = code === inputOutput && !isWrite && !this.canGrow(minBytes);
    if (!isShort && !(isWrite && isFullDisk(error))) return undefined;
    return this.#reportFull(minBytes, isShort ? 'ENOSPC' : errnoOf(code));
  }

  /**
   * Returns the error if a transaction that only deletes would find no space, else undefined. It may use the
   * preallocated pages, and the reserve file, which is shortened piece by piece.
   */
  shortageOfDeletes(): TrellisError | undefined {
    if (this.free >= minBytes || this.#shrinkReserve()) return undefined;
    if (performance.now() - this.#deniedAt > deniedMs) return undefined;
    return this.#reportFull(minBytes);
  }

  /** Refuses deletes for a second, after one has met the end of the disk. */
  denyDeletes(): void {
    this.#deniedAt = performance.now();
  }

  /** Preallocates pages after the last one. Runs between transactions, on the writer thread. */
  preallocate(): void {
    const path = join(this.folder, 'data.mdb');
    let file: number | undefined;
    try {
      const last = this.end();
      const from = Math.max(last, statSync(path).size);
      const missing = last + preallocatedBytes - from;
      if (missing <= 0) return;
      file = openSync(path, 'r+');
      writeSync(file, new Uint8Array(missing), 0, missing, from);
    } catch {
      // The disk is full already, or does not report its space. Use the pages that are there.
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  #shrinkReserve(): boolean {
    const path = join(dirname(this.folder), reserveName);
    try {
      const left = statSync(path).size - reserveStep;
      if (left > 0) truncateSync(path, left);
      else rmSync(path);
      return true;
    } catch {
      return false;
    }
  }

  /** Tests again whether there is space. */
  recheck(): void {
    if (!this.isFull || this.free < this.#neededBytes || !this.canGrow(minBytes)) return;
    this.#neededBytes = 0;
    this.onChange?.(undefined);
  }

  #reportFull(bytes: number, errno?: string): TrellisError {
    const isNews = !this.isFull;
    this.#neededBytes = bytes;
    // If the disk has more free space, a quota or the like limits this process.
    const { free } = this;
    const args = { free: free < bytes ? free : 0, needed: bytes };
    const hint = 'Free disk space; queries that only DROP still run.';
    const error = new TrellisError({ code: 'INSUFFICIENT_STORAGE', args, hint });
    if (isNews) this.onChange?.(error, errno);
    return error;
  }

  /** Whether a file of this size can be written. An error other than a full disk counts as yes. */
  canGrow(bytes: number): boolean {
    if (this.free < bytes) return false;
    const path = join(dirname(this.folder), 'room.tmp');
    let file: number | undefined;
    try {
      file = openSync(path, 'w', 0o600);
      rmSync(path);
      const block = new Uint8Array(blockBytes).fill(0x5a);
      for (let at = 0; at < bytes; ) at += writeSync(file, block, 0, block.length, at);
      return true;
    } catch (error) {
      return !isFullDisk(error);
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
}
