// Whether this thread may change the data directory, asked before and after every commit. Before:
// nobody who may not write overwrites what another process has committed meanwhile. After: what
// could have gone under is not acknowledged: neither to whoever took the directory over, nor with a
// data file that is not at its path any more, which takes writes without complaint (operations.md
// L18). Invariant: once it is denied, it stays denied.
import { TrellisError } from '../../base/errors.js';
import { shortageOf } from '../../base/os/shortage.js';
import { type LockToken, isHeld } from './lock-file.js';

export const takenReason = 'another process has taken the data directory';
export const lostReason = 'the data file is gone';

/** Whether the data are out of reach, for reads as well. */
export const isLoss = (reason: string | undefined): boolean =>
  reason === takenReason || reason === lostReason;

export class WriteFence {
  #closedBecause: string | undefined;

  /**
   * `onDenied` hears, once, why and of which error. `denied`: why nothing may be written from the
   * start, of which it does not hear. `isSameFile`: whether the data file is where it was.
   */
  constructor(
    private readonly lock?: LockToken,
    private readonly onDenied?: (reason: string, cause?: unknown) => void,
    denied?: string,
    private readonly isSameFile?: () => boolean,
  ) {
    this.#closedBecause = denied;
  }

  /** Why nothing may be written, as far as it is known. */
  get closedBecause(): string | undefined {
    return this.#closedBecause;
  }

  /** What requests get once it is denied: READ_ONLY, or STORAGE_LOST. */
  get refusal(): TrellisError {
    const reason = this.#closedBecause ?? '';
    if (isLoss(reason)) return new TrellisError({ code: 'STORAGE_LOST', args: { what: reason } });
    return new TrellisError({ code: 'READ_ONLY', args: { reason } });
  }

  #deny(reason: string, cause?: unknown): void {
    if (this.#closedBecause !== undefined) return;
    this.#closedBecause = reason;
    this.onDenied?.(reason, cause);
  }

  /** A commit failed: a later one would claim what the disk has lost. */
  failed(cause: unknown): void {
    this.#deny(`storage failed: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }

  /** The same of what failed before its commit point: a refusal, and what the system lacked just then, pass. */
  failedBefore(cause: unknown): void {
    if (cause instanceof TrellisError || shortageOf(cause) !== undefined) return;
    this.failed(cause);
  }

  /** Fails READ_ONLY, STORAGE_LOST. */
  check(): void {
    if (this.#closedBecause === undefined) {
      if (this.lock && !isHeld(this.lock)) this.#deny(takenReason);
      if (this.isSameFile?.() === false) this.#deny(lostReason);
    }
    if (this.#closedBecause !== undefined) throw this.refusal;
  }
}
