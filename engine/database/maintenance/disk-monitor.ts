// Monitors what LMDB cannot. Free space on the data disk must never reach ENOSPC, where lmdb-js may crash.
// The inode of the data file must not change, because writes to an unlinked file are lost at the restart.
// Polls once per second.
import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type ErrorData, TrellisError, fail } from '../../base/errors.js';
import { onlyDeletes } from '../../plan/deletes.js';
import type { Plan } from '../../plan/plan.js';
import type { Usage } from '../../storage/table/env.js';
import { fileIdentity } from '../../storage/lock/file-identity.js';
import { isLoss, lostReason } from '../../storage/lock/write-fence.js';
import { maintainBallast } from './ballast.js';
import { keepWorkingDirectory } from '../../system/working-directory.js';
import type { DatabaseOptions } from '../call/options.js';
import type { DatabaseSample } from '../metrics/definitions.js';
import type { QueryMetrics } from '../metrics/query-metrics.js';

const pollMs = 1000;

/**
 * Milliseconds for which the number of free pages is cached. Counting them costs more than a write at the
 * size limit should pay.
 */
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

/** The part of lifecycle.ts that records why the data file can no longer be reached. */
interface LossRecord {
  readonly lostReason: string | undefined;
  /** Returns false if the file was lost already. */
  lose(loss: { reason: string }): boolean;
}

export class DiskMonitor {
  #freeBytes = Number.POSITIVE_INFINITY;
  #isSame = (): boolean => true;
  #used = { bytes: 0, at: Number.NEGATIVE_INFINITY };
  #timer: NodeJS.Timeout | undefined;
  readonly #file: string;

  #ballast: { stop(): void } | undefined;
  /** Error of the writer for a full disk. */
  #full: ErrorData | undefined;

  constructor(
    private readonly bounds: DiskBounds,
    private readonly lifecycle: LossRecord,
    private readonly onLost: (reason: string) => void,
    private readonly usage: () => Usage,
  ) {
    this.#file = join(bounds.dataDir, 'graph', 'data.mdb');
  }

  /** Resolves when the free space is known, because the first write is already checked. */
  async start(): Promise<void> {
    this.#isSame = fileIdentity(this.#file);
    await this.#check();
    this.#timer = setInterval(() => void this.#check(), pollMs);
    this.#timer.unref();
    const { dataDir, ballastBytes = 0, minFreeBytes, readOnly } = this.bounds;
    if (!readOnly) this.#ballast = maintainBallast(dataDir, ballastBytes, minFreeBytes);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#ballast?.stop();
  }

  /** Records that the data file can no longer be reached. */
  lose(reason: string): void {
    if (!this.lifecycle.lose({ reason })) return;
    this.#ballast?.stop();
    this.onLost(reason);
  }

  /**
   * Records that writing has stopped, so that no reserve file is written either. Returns true if the data are
   * unreachable.
   */
  noteStop(reason: string, errno: string, queryMetrics: QueryMetrics): boolean {
    this.#ballast?.stop();
    if (isLoss(reason)) this.lose(reason);
    else queryMetrics.failedCommit(errno);
    return isLoss(reason);
  }

  async #check(): Promise<void> {
    // The writer and the readers also start threads, and cannot restore the working directory themselves.
    keepWorkingDirectory();
    if (this.#isReplaced()) this.lose(lostReason);
    const space = await statfs(this.bounds.dataDir).catch(() => undefined);
    if (space) this.#freeBytes = space.bavail * space.bsize;
  }

  /**
   * A check that fails for another reason decides nothing. The writer checks the file itself before each
   * commit.
   */
  #isReplaced(): boolean {
    try {
      return !this.#isSame();
    } catch {
      return false;
    }
  }

  /**
   * Records that the writer has found the disk full, with the errno of a commit if there was one, or that
   * there is space again.
   */
  noteRoom(
    full: ErrorData | undefined,
    errno: string | undefined,
    queryMetrics: QueryMetrics,
  ): void {
    const { log } = this.bounds;
    this.#full = full;
    void this.#check();
    if (errno !== undefined) queryMetrics.failedCommit(errno);
    if (full === undefined) return log('info', 'the disk has room again: writes go on');
    log('warn', 'the disk is full: what adds data is refused until it has room', { ...full.args });
  }

  /** Why writes are refused for lack of space, or undefined. */
  get shortage(): string | undefined {
    if (this.#full !== undefined) return 'the disk is full';
    if (this.#freeBytes < this.bounds.minFreeBytes) return 'the disk is nearly full';
    return this.#isAtCap ? 'the data file is at its cap' : undefined;
  }

  /** The file never shrinks while it is open. Pages freed by deletes count as free space. */
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

  /**
   * Checks the free space for a write of a plan or of rows. A write that only deletes continues: see
   * GroupCommit.
   */
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
      { name: 'data_file_ok', value: this.lifecycle.lostReason === undefined ? 1 : 0 },
    ];
  }
}
