// Whether the disk of the data has room, asked of the disk itself: before LMDB writes, and when LMDB says that a write
// failed. LMDB must not meet a full disk where that can be helped: of a failed write it prints a text into 100 bytes
// that may be longer, which can end the process (operations.md L14).
//
// A write of data pages that finds no room comes before the commit point: the transaction is undone, and the next one
// begins where the last commit ended. So it is a shortage, which passes, and not the end of writing. What is final is a
// failed sync, of which nobody knows what it has lost, and an error of the disk.
//
// And some pages lie ready behind the last one of the data file, so that what only deletes finds room on a full disk:
// LMDB writes pages anew before it frees the old ones.
//
// Invariant: while the disk is known to be full, nothing that adds data is given to LMDB before a file of the size that
// was lacking could be written here.
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
const leastBytes = 1024 * 1024;
/** Below this the pages that lie ready are looked after with every group of requests. */
const lowBytes = 64 * leastBytes;
/** From here on an answer of the disk holds for some milliseconds. */
const plentyBytes = 16 * lowBytes;
const freshMs = 20;
/** Behind the last page. */
const readyBytes = 256 * 1024;
const blockBytes = 64 * 1024;

/** The file that keeps room for operators and deletes (maintenance/ballast.ts). */
export const reserveName = 'ballast';
const reservePiece = 4 * leastBytes;
const deniedMs = 1000;

/** Of a write that was cut short LMDB says EIO, and of a sync that failed as well. */
const inputOutput = 5;
/** LMDB says this of a write that failed as a whole, and of nothing else. */
const ofWrite = /Attempting to write page/;

/** `errno`: of a commit that met it. */
export type RoomListener = (shortage: TrellisError | undefined, errno?: string) => void;

export class DiskRoom {
  #lacking = 0;
  /** What was free when the disk was last asked, if that was plenty; and when that was. */
  #plenty = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** When what only deletes has found no room, either. */
  #deniedAt = Number.NEGATIVE_INFINITY;
  /** Hears when the disk is found full, and when it has room again. */
  onChange: RoomListener | undefined;

  /** `folder`: where the data file is; `end`: the size of what LMDB has used of it. */
  constructor(
    private readonly folder: string,
    private readonly end: () => number,
  ) {}

  get isFull(): boolean {
    return this.#lacking > 0;
  }

  /** Free bytes, as of a moment ago where there is plenty: nobody fills that much within it. */
  get #recentlyFree(): number {
    const now = performance.now();
    if (this.#plenty > 0 && now - this.#askedAt < freshMs) return this.#plenty;
    const { free } = this;
    this.#askedAt = now;
    this.#plenty = free >= plentyBytes ? free : 0;
    return free;
  }

  /** Free bytes now; infinite where the disk does not tell. */
  get free(): number {
    try {
      const { bavail, bsize } = statfsSync(this.folder);
      return bavail * bsize;
    } catch {
      return Number.POSITIVE_INFINITY;
    }
  }

  /** Fails INSUFFICIENT_STORAGE where so many bytes more would find no room. */
  need(bytes = 0): void {
    const shortage = this.shortage(bytes);
    if (shortage !== undefined) throw shortage;
  }

  /** Why so many bytes more would find no room, or undefined. */
  shortage(bytes = 0): TrellisError | undefined {
    const needed = leastBytes + bytes;
    const free = this.#recentlyFree;
    if (free < lowBytes) this.layReady();
    if (!this.isFull && free >= needed) return undefined;
    return this.#lack(Math.max(this.#lacking, needed));
  }

  /**
   * What an error of a transaction means that LMDB has undone: INSUFFICIENT_STORAGE where it found no room before the
   * commit point, else undefined.
   */
  shortageIn(error: unknown): TrellisError | undefined {
    const { code, message } = (error ?? {}) as { code?: unknown; message?: string };
    const isWrite = ofWrite.test(message ?? '');
    const isShort = code === inputOutput && !isWrite && !this.canGrow(leastBytes);
    if (!isShort && !(isWrite && isFullDisk(error))) return undefined;
    return this.#lack(leastBytes, isShort ? 'ENOSPC' : errnoOf(code));
  }

  /**
   * The same for what only deletes: there are the pages that lie ready, and the reserve file, which gives way a piece
   * at a time.
   */
  shortageOfDeletes(): TrellisError | undefined {
    if (this.free >= leastBytes || this.#takeReserve()) return undefined;
    if (performance.now() - this.#deniedAt > deniedMs) return undefined;
    return this.#lack(leastBytes);
  }

  /** What only deletes has met the end of the disk: for a moment nothing does. */
  denyDeletes(): void {
    this.#deniedAt = performance.now();
  }

  /** Lays pages ready behind the last one. Between transactions, on the thread that writes. */
  layReady(): void {
    const path = join(this.folder, 'data.mdb');
    let file: number | undefined;
    try {
      const last = this.end();
      const from = Math.max(last, statSync(path).size);
      const missing = last + readyBytes - from;
      if (missing <= 0) return;
      file = openSync(path, 'r+');
      writeSync(file, new Uint8Array(missing), 0, missing, from);
    } catch {
      // The disk is full already, or does not say: what is there has to do.
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  #takeReserve(): boolean {
    const path = join(dirname(this.folder), reserveName);
    try {
      const left = statSync(path).size - reservePiece;
      if (left > 0) truncateSync(path, left);
      else rmSync(path);
      return true;
    } catch {
      return false;
    }
  }

  /** Looks again whether there is room. */
  look(): void {
    if (!this.isFull || this.free < this.#lacking || !this.canGrow(leastBytes)) return;
    this.#lacking = 0;
    this.onChange?.(undefined);
  }

  #lack(bytes: number, errno?: string): TrellisError {
    const isNews = !this.isFull;
    this.#lacking = bytes;
    // Where the disk has more, a quota or the like keeps it from this process.
    const { free } = this;
    const args = { free: free < bytes ? free : 0, needed: bytes };
    const hint = 'Free disk space; queries that only DROP still run.';
    const error = new TrellisError({ code: 'INSUFFICIENT_STORAGE', args, hint });
    if (isNews) this.onChange?.(error, errno);
    return error;
  }

  /** Whether a file can be so large; what keeps it from being made at all says nothing of room. */
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
