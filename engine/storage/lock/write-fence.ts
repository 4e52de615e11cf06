// Decides before and after every commit whether this thread may change the data directory. The check before a
// commit prevents overwriting what another process has committed since. The check after it prevents
// acknowledging a lost commit. A commit is lost if another process may have overwritten it, or if the data
// file is no longer at its path (operations.md L18).
// Invariant: a closed fence stays closed.
import { TrellisError } from '../../base/errors.js';
import { findShortage } from '../../base/os/shortage.js';
import { type LockToken, isHeld } from './lock-file.js';

export const takenReason = 'another process has taken the data directory';
export const lostReason = 'the data file is gone';

/** Whether the data are unreachable, for reads too. */
export const isLoss = (reason: string | undefined): boolean =>
  reason === takenReason || reason === lostReason;

export class WriteFence {
  #closedBecause: string | undefined;

  /**
   * `onDenied` is called once, with the reason and the error that closed the fence. `denied`: a reason to
   * start closed, without that call. `isSameFile`: whether the data file is still at its path.
   */
  constructor(
    private readonly lock?: LockToken,
    private readonly onDenied?: (reason: string, cause?: unknown) => void,
    denied?: string,
    private readonly isSameFile?: () => boolean,
  ) {
    this.#closedBecause = denied;
  }

  /** Why this thread may not write, or undefined while it may. */
  get closedBecause(): string | undefined {
    return this.#closedBecause;
  }

  /** The error for requests after the fence has closed: READ_ONLY or STORAGE_LOST. */
  get refusal(): TrellisError {
    const reason = this.#closedBecause ?? '';
    if (isLoss(reason)) return new TrellisError({ code: 'STORAGE_LOST', args: { what: reason } });
    return new TrellisError({ code: 'READ_ONLY', args: { reason } });
  }

  #close(reason: string, cause?: unknown): void {
    if (this.#closedBecause !== undefined) return;
    this.#closedBecause = reason;
    this.onDenied?.(reason, cause);
  }

  /** Closes the fence after a failed commit: a later commit would claim data that the disk has lost. */
  failed(cause: unknown): void {
    this.#close(`storage failed: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }

  /**
   * Closes the fence after a failure before the commit point, unless it was a refusal or a passing shortage
   * of the system.
   */
  failedBefore(cause: unknown): void {
    if (cause instanceof TrellisError || findShortage(cause) !== undefined) return;
    this.failed(cause);
  }

  /** Fails READ_ONLY or STORAGE_LOST if this thread may not write. */
  check(): void {
    if (this.#closedBecause === undefined) {
      if (this.lock && !isHeld(this.lock)) this.#close(takenReason);
      if (this.isSameFile?.() === false) this.#close(lostReason);
    }
    if (this.#closedBecause !== undefined) throw this.refusal;
  }
}
