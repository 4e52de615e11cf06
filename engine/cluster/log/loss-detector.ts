// Decides when a log that seems lost counts as lost. Servers that restart, or that lag behind another server,
// may for a while deny what a majority has acknowledged. The longest measured failover took 12.4 s.
// Invariant: one response never makes a log lost; only equal responses over a longer time do.
import { fail } from '../../base/errors.js';

const lossMs = 15_000;

/** Checks one symptom of a lost log, observation by observation. */
export class LossDetector {
  #since: number | undefined;
  #what = '';

  /**
   * Takes what an observation found; undefined means that nothing is wrong. Fails LOG_LOST when the finding
   * has not changed for longer than a failover takes.
   */
  observe(what: string | undefined): void {
    const now = performance.now();
    if (what === undefined || what !== this.#what) this.#since = undefined;
    if (what === undefined) return;
    this.#what = what;
    this.#since ??= now;
    if (now - this.#since >= lossMs) fail('LOG_LOST', { what });
  }
}
