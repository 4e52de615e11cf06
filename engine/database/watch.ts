// Watches what LMDB cannot: free space on the data disk (it must never reach ENOSPC, where lmdb-js
// may crash) and the data file's inode (an unlinked file accepts writes that are gone at restart).
// Polls once a second.
import { statSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { fail } from '../base/errors.js';

const pollMs = 1000;

export class DiskWatch {
  isLost = false;
  #freeBytes = Number.POSITIVE_INFINITY;
  #inode = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #file: string;

  constructor(
    private readonly folder: string,
    private readonly minFreeBytes: number,
    private readonly events: { onLost: () => void },
  ) {
    this.#file = join(folder, 'data.mdb');
  }

  /** Resolves when free space is known: the first write is judged by it already. */
  async start(): Promise<void> {
    this.#inode = statSync(this.#file).ino;
    await this.#look();
    this.#timer = setInterval(() => void this.#look(), pollMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const found = await stat(this.#file).catch(() => undefined);
    if (!this.isLost && found?.ino !== this.#inode) {
      this.isLost = true;
      this.events.onLost();
    }
    const space = await statfs(this.folder).catch(() => undefined);
    if (space) this.#freeBytes = space.bavail * space.bsize;
  }

  /** Why writes are refused for want of space, or undefined. */
  get shortage(): string | undefined {
    return this.#freeBytes < this.minFreeBytes ? 'the disk is nearly full' : undefined;
  }

  checkRoom(): void {
    if (this.shortage === undefined) return;
    fail('INSUFFICIENT_STORAGE', { free: this.#freeBytes, needed: this.minFreeBytes });
  }

  metrics(): { name: string; value: number }[] {
    return [
      { name: 'disk_free_bytes', value: Number.isFinite(this.#freeBytes) ? this.#freeBytes : 0 },
      { name: 'inode_ok', value: this.isLost ? 0 : 1 },
    ];
  }
}
