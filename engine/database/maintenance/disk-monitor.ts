// Watches what LMDB cannot: free space on the data disk (it must never reach ENOSPC, where lmdb-js
// may crash) and the data file's inode (an unlinked file accepts writes that are gone at restart).
// Polls once a second.
import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type ErrorData, TrellisError, fail } from '../../base/errors.js';
import { onlyDeletes } from '../../plan/deletes.js';
import type { Plan } from '../../plan/plan.js';
import type { Usage } from '../../storage/table/env.js';
import { fileIdentity } from '../../storage/lock/file-identity.js';
import { isLoss, lostReason } from '../../storage/lock/write-fence.js';
import { keepBallast } from './ballast.js';
import { keepWorkingDirectory } from '../../system/working-directory.js';
import type { DatabaseOptions } from '../call/options.js';
import type { DatabaseSample } from '../metrics/definitions.js';
import type { QueryMetrics } from '../metrics/query-metrics.js';

const pollMs = 1000;

/** Counting free pages costs more than a write should pay at the cap each time. */
const usageMs = 100;

/** See DatabaseOptions. */
export interface DiskBounds {
  dataDir: string;
  minFreeBytes: number;
  maxBytes?: number;
  ballastBytes?: number;
  readOnly: boolean;
  log: DatabaseOptions['log'];
}

export class DiskMonitor {
  /** Why the data cannot be used any more, or undefined. */
  lost: string | undefined;
  #freeBytes = Number.POSITIVE_INFINITY;
  #isSame = (): boolean => true;
  #used = { bytes: 0, at: Number.NEGATIVE_INFINITY };
  #timer: NodeJS.Timeout | undefined;
  readonly #file: string;

  #ballast: { stop(): void } | undefined;
  /** What the writer has met. */
  #full: ErrorData | undefined;

  constructor(
    private readonly bounds: DiskBounds,
    private readonly onLost: (reason: string) => void,
    private readonly usage: () => Usage,
  ) {
    this.#file = join(bounds.dataDir, 'graph', 'data.mdb');
  }

  /** Resolves when free space is known: the first write is judged by it already. */
  async start(): Promise<void> {
    this.#isSame = fileIdentity(this.#file);
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
    this.onLost(reason);
  }

  /** Nothing is written any more: no reserve either. Whether the data are out of reach. */
  noteStop(reason: string, errno: string, tally: QueryMetrics): boolean {
    this.#ballast?.stop();
    if (isLoss(reason)) this.lose(reason);
    else tally.failedCommit(errno);
    return isLoss(reason);
  }

  async #look(): Promise<void> {
    // The writer and the readers start threads as well, and cannot see to it themselves.
    keepWorkingDirectory();
    if (this.#isGone()) this.lose(lostReason);
    const space = await statfs(this.bounds.dataDir).catch(() => undefined);
    if (space) this.#freeBytes = space.bavail * space.bsize;
  }

  /** A look that fails for another reason says nothing: the writer looks for itself before each commit. */
  #isGone(): boolean {
    try {
      return !this.#isSame();
    } catch {
      return false;
    }
  }

  /** The writer has found the disk full, by a commit of this errno if there is one, or has found room again. */
  noteRoom(full: ErrorData | undefined, errno: string | undefined, tally: QueryMetrics): void {
    const { log } = this.bounds;
    this.#full = full;
    void this.#look();
    if (errno !== undefined) tally.failedCommit(errno);
    if (full === undefined) return log('info', 'the disk has room again: writes go on');
    log('warn', 'the disk is full: what adds data is refused until it has room', { ...full.args });
  }

  /** Why writes are refused for want of space, or undefined. */
  get shortage(): string | undefined {
    if (this.#full !== undefined) return 'the disk is full';
    if (this.#freeBytes < this.bounds.minFreeBytes) return 'the disk is nearly full';
    return this.#isAtCap ? 'the data file is at its cap' : undefined;
  }

  /** The file never shrinks while it is open; what deletes have freed in it counts as room. */
  get #isAtCap(): boolean {
    const { maxBytes = 0 } = this.bounds;
    return maxBytes > 0 && this.#size() >= maxBytes && this.#usedBytes() >= maxBytes;
  }

  #size(): number {
    return statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
  }

  #usedBytes(): number {
    const now = performance.now();
    if (now - this.#used.at < usageMs) return this.#used.bytes;
    const { fileBytes, freePages, pageBytes } = this.usage();
    this.#used = { bytes: fileBytes - freePages * pageBytes, at: now };
    return this.#used.bytes;
  }

  /** Judges a write, of a plan or of rows; one that only deletes goes on: see GroupCommit. */
  checkRoom(plan?: Plan): void {
    const reason = this.shortage;
    if (reason === undefined || (plan !== undefined && onlyDeletes(plan))) return;
    if (this.#full !== undefined) throw new TrellisError(this.#full);
    const { minFreeBytes, maxBytes = 0 } = this.bounds;
    if (this.#freeBytes < minFreeBytes) {
      const hint = 'Free disk space; queries that only DROP still run.';
      fail('INSUFFICIENT_STORAGE', { free: this.#freeBytes, needed: minFreeBytes }, { hint });
    }
    const hint = 'Raise `storage.max_bytes`, or delete data: queries that only DROP still run.';
    const free = Math.max(0, maxBytes - this.#usedBytes());
    fail('INSUFFICIENT_STORAGE', { free, needed: 1 }, { hint });
  }

  metrics(): DatabaseSample[] {
    return [
      { name: 'disk_free_bytes', value: Number.isFinite(this.#freeBytes) ? this.#freeBytes : 0 },
      { name: 'file_bytes', value: this.#size() },
      { name: 'inode_ok', value: this.lost === undefined ? 1 : 0 },
    ];
  }
}
