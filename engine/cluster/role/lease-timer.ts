// Measures how long the log has been silent; this is the lease of the leader. It counts only while the log
// itself shows signs of life, so that an outage of the log does not change the leader. It stops while this
// process is stopped.
// Invariant: it uses only the monotonic clock.

export class LeaseTimer {
  #silence = 0;
  #lastTick: number;
  #contactAt = Number.NEGATIVE_INFINITY;

  /**
   * The log counts as alive for `windowMs` after each sign of life. `tickMs` is the interval between calls of
   * `tick`.
   */
  constructor(
    private readonly windowMs: number,
    private readonly tickMs: number,
    now: number,
  ) {
    this.#lastTick = now;
  }

  get contactAt(): number {
    return this.#contactAt;
  }

  /** Milliseconds of silence while the log was alive. */
  get silence(): number {
    return this.#silence;
  }

  /** Records a sign of life, with or without an entry. */
  contact(now: number): void {
    this.#contactAt = now;
  }

  /** Resets the silence: an entry arrived, so a leader exists or is being elected. */
  reset(): void {
    this.#silence = 0;
  }

  isAlive(now: number): boolean {
    return now - this.#contactAt <= this.windowMs;
  }

  tick(now: number): void {
    // If the process was stopped, count one tick.
    const step = Math.min(now - this.#lastTick, 2 * this.tickMs);
    this.#lastTick = now;
    if (this.isAlive(now)) this.#silence += step;
  }
}
