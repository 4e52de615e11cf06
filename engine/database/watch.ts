// Watches what LMDB cannot: free space on the data disk (it must never reach ENOSPC, where lmdb-js
// may crash) and the data file's inode (an unlinked file accepts writes that are gone at restart).
// Polls once a second.
import { statSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { fail } from '../base/errors.js';
import { keepBallast } from './ballast.js';

const pollMs = 1000;

/** See DatabaseOptions. */
export interface DiskBounds {
  dataDir: string;
  minFreeBytes: number;
  maxBytes?: number;
  ballastBytes?: number;
  readOnly: boolean;
}

export class DiskWatch {
  /** Why the data cannot be used any more, or undefined. */
  lost: string | undefined;
  #freeBytes = Number.POSITIVE_INFINITY;
  #inode = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #file: string;

  #ballast: { stop(): void } | undefined;

  constructor(
    private readonly bounds: DiskBounds,
    private readonly events: { onLost: (reason: string) => void },
  ) {
    this.#file = join(bounds.dataDir, 'graph', 'data.mdb');
  }

  /** Resolves when free space is known: the first write is judged by it already. */
  async start(): Promise<void> {
    this.#inode = statSync(this.#file).ino;
    await this.#look();
    this.#timer = setInterval(() => void this.#look(), pollMs);
    this.#timer.unref();
    const { dataDir, ballastBytes = 0, minFreeBytes, readOnly } = this.bounds;
    if (!readOnly) this.#ballast = keepBallast(dataDir, ballastBytes, minFreeBytes);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#ballast?.stop();
  }

  lose(reason: string): void {
    if (this.lost !== undefined) return;
    this.lost = reason;
    this.#ballast?.stop();
    this.events.onLost(reason);
  }

  /** Nothing is written any more: no reserve either. */
  stopReserve(): void {
    this.#ballast?.stop();
  }

  async #look(): Promise<void> {
    const found = await stat(this.#file).catch(() => undefined);
    if (found?.ino !== this.#inode) this.lose('the data file is gone');
    const space = await statfs(this.bounds.dataDir).catch(() => undefined);
    if (space) this.#freeBytes = space.bavail * space.bsize;
  }

  /** Why writes are refused for want of space, or undefined. */
  get shortage(): string | undefined {
    const { minFreeBytes, maxBytes = 0 } = this.bounds;
    if (this.#freeBytes < minFreeBytes) return 'the disk is nearly full';
    return maxBytes > 0 && this.#size() >= maxBytes ? 'the data file is at its cap' : undefined;
  }

  #size(): number {
    return statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
  }

  checkRoom(): void {
    if (this.shortage === undefined) return;
    const { minFreeBytes, maxBytes = 0 } = this.bounds;
    if (this.#freeBytes < minFreeBytes) {
      fail('INSUFFICIENT_STORAGE', { free: this.#freeBytes, needed: minFreeBytes });
    }
    const hint = 'Raise `storage.max_bytes`, or delete data and run `trellis compact`.';
    const free = Math.max(0, maxBytes - this.#size());
    fail('INSUFFICIENT_STORAGE', { free, needed: 1 }, { hint });
  }

  metrics(): { name: string; value: number }[] {
    return [
      { name: 'disk_free_bytes', value: Number.isFinite(this.#freeBytes) ? this.#freeBytes : 0 },
      { name: 'file_bytes', value: this.#size() },
      { name: 'inode_ok', value: this.lost === undefined ? 1 : 0 },
    ];
  }
}
