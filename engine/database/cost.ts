// Judges which reads may run inline on the calling thread: cheap ones by their plan's class,
// corrected by what was measured, within a budget of work per event-loop turn. Everything else goes
// to a lane.
import type { CostClass } from '../plan/plan.js';

/** Inline work allowed per event-loop turn, in microseconds. */
const turnBudgetMicros = 1000;
/** A query that takes longer than this on average does not belong on the calling thread. */
const inlineMicrosMax = 100;
/** Bodies above this are decoded in a lane. */
const inlineBytesMax = 4096;

export class CostBook {
  #averages: number[] = [];
  #spent = 0;
  #armed = false;

  mayInline(query: number, cost: CostClass, bytes: number): boolean {
    return (
      cost === 'A' &&
      bytes <= inlineBytesMax &&
      this.#spent < turnBudgetMicros &&
      (this.#averages[query] ?? 0) <= inlineMicrosMax
    );
  }

  /** Notes inline work. */
  spend(query: number, micros: number): void {
    this.#spent += micros;
    this.learn(query, micros);
    if (this.#armed) return;
    this.#armed = true;
    setImmediate(() => {
      this.#armed = false;
      this.#spent = 0;
    });
  }

  /** Exponential average, so that a query that has become cheap again returns. */
  learn(query: number, micros: number): void {
    if (query < 0) return;
    const average = this.#averages[query];
    this.#averages[query] = average === undefined ? micros / 4 : average + (micros - average) / 16;
  }

  reset(): void {
    this.#averages = [];
  }
}
