// How long the log has been silent: the lease of whoever leads. It runs only while the log itself is heard,
// so that an outage of the log is no reason to change the leader, and stands still while this process
// does. Invariant: no clock but the one that nobody sets.

export class LeaseTimer {
  #silence = 0;
  #lastTick: number;
  #heardAt = Number.NEGATIVE_INFINITY;

  /** The log counts as heard for `windowMs` after each sign of life; `tickMs`: how often `tick` is called. */
  constructor(
    private readonly windowMs: number,
    private readonly tickMs: number,
    now: number,
  ) {
    this.#lastTick = now;
  }

  get heardAt(): number {
    return this.#heardAt;
  }

  /** Milliseconds of silence while the log was heard. */
  get silence(): number {
    return this.#silence;
  }

  /** A sign of life, with or without an entry. */
  hear(now: number): void {
    this.#heardAt = now;
  }

  /** An entry: somebody leads, or begins to. */
  reset(): void {
    this.#silence = 0;
  }

  isHeard(now: number): boolean {
    return now - this.#heardAt <= this.windowMs;
  }

  tick(now: number): void {
    // Of a process that was stopped, one tick counts.
    const step = Math.min(now - this.#lastTick, 2 * this.tickMs);
    this.#lastTick = now;
    if (this.isHeard(now)) this.#silence += step;
  }
}
