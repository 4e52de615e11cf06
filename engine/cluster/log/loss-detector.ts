// How long a log may seem to be lost before it is. Servers that come back, or that another one has
// left behind, may deny for a while what a majority has acknowledged: the longest failover that was measured
// took 12.4 s. Invariant: one answer never makes a log lost; only answers that stay the same do.
import { fail } from '../../base/errors.js';

const patienceMs = 15_000;

/** Judges one reason for which a log would be lost, look by look. */
export class LossDetector {
  #since: number | undefined;
  #what = '';

  /** What a look found; undefined: nothing is wrong. Fails LOG_LOST when that has not changed for long. */
  heard(what: string | undefined): void {
    const now = performance.now();
    if (what === undefined || what !== this.#what) this.#since = undefined;
    if (what === undefined) return;
    this.#what = what;
    this.#since ??= now;
    if (now - this.#since >= patienceMs) fail('LOG_LOST', { what });
  }
}
