// Whether this thread may change the data directory, asked before and after every commit. Before:
// nobody who may not write overwrites what another process has committed meanwhile. After: what
// could have gone under is not acknowledged. Invariant: once it is denied, it stays denied.
import { fail } from '../base/errors.js';
import { type LockToken, isHeld } from './lock-file.js';

export const takenReason = 'another process has taken the data directory';

export class WritePermit {
  #denied: string | undefined;

  /**
   * `onDenied` hears, once, why and of which error. `denied`: why nothing may be written from the
   * start, of which it does not hear.
   */
  constructor(
    private readonly lock?: LockToken,
    private readonly onDenied?: (reason: string, cause?: unknown) => void,
    denied?: string,
  ) {
    this.#denied = denied;
  }

  /** Why nothing may be written, as far as it is known. */
  get denied(): string | undefined {
    return this.#denied;
  }

  #deny(reason: string, cause?: unknown): void {
    if (this.#denied !== undefined) return;
    this.#denied = reason;
    this.onDenied?.(reason, cause);
  }

  /** A commit failed: a later one would claim what the disk has lost. */
  failed(cause: unknown): void {
    this.#deny(`storage failed: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }

  /** Fails READ_ONLY. */
  check(): void {
    if (this.#denied === undefined && this.lock && !isHeld(this.lock)) this.#deny(takenReason);
    if (this.#denied !== undefined) fail('READ_ONLY', { reason: this.#denied });
  }
}
