// Judges which reads may run inline on the calling thread: cheap ones by their plan's class,
// corrected by what was measured, within a budget of work per event-loop turn. Everything else goes
// to a lane, unless nobody else is waiting: a lane answers a single client some 100 us later, which
// is what waking two threads takes.
import type { CostClass } from '../../plan/plan.js';

/**
 * Inline work allowed per event-loop turn, in microseconds. A query that takes no longer than the
 * two messages of a lane (6 to 11 us of processor time, 64 clients) gains nothing there; a longer
 * one runs here only while few wait, so that the lanes share the work and main keeps up with the
 * sockets.
 */
const turnBudgetMicros = 150;
const cheapTurnBudgetMicros = 1000;
const cheapMicrosMax = 20;
/**
 * Lanes this few have no processor that this thread could not use as well: every read of class A
 * that a client on its own would have here counts as cheap. Measured on two processors: hops of 20
 * rows, 64 clients, a tenth less processor time a request when nothing else runs, a third less beside
 * other work; hops of 400 rows (25 KB), 16 clients, 200 us against 305. Bounded reads (keyword search)
 * lose by it.
 */
const fewLanes = 2;
/** A query that takes longer than this on average does not belong on the calling thread. */
const inlineMicrosMax = 100;
/** Bodies above this are decoded in a lane. */
const inlineBytesMax = 4096;
/** The same for a client on its own; bounded reads are then welcome too, once measured. */
const aloneMicrosMax = 400;
const aloneBytesMax = 32_768;
/**
 * The first runs of a query here are those of code that is not compiled yet: what they take more than
 * expected is not its cost. One that was dropped for its length counts as several.
 */
const youngRuns = 64;
const runsOfDropped = 16;
/** Nobody is on his own this long after a call that found another one in a lane. */
const crowdMs = 10;

/** What the lanes are doing. */
export interface LaneState {
  /** Whether no call is in a lane. */
  isIdle(): boolean;
  /** Whether a lane can take calls at once. */
  hasLane(): boolean;
}

export class InlinePolicy {
  #averages: number[] = [];
  /**
   * As the averages, but quick to fall: what a client on its own waits for. Beside other work most calls
   * are interrupted, and would leave for a lane, where they are interrupted as often.
   */
  #lows: number[] = [];
  #runs: number[] = [];
  #spent = 0;
  #crowdedAt = Number.NEGATIVE_INFINITY;
  #armed = false;

  /** `most`: how many lanes there may be. */
  constructor(
    private readonly lanes: LaneState,
    private readonly most: number,
  ) {}

  mayInline(query: number, cost: CostClass, bytes: number): boolean {
    if (bytes > aloneBytesMax || (cost === 'C' && this.lanes.hasLane())) return false;
    const average = this.#averages[query];
    return this.#isCheap(cost, average ?? 0, bytes) || this.#isAlone(query);
  }

  #isAlone(query: number): boolean {
    const now = performance.now();
    if (!this.lanes.isIdle()) this.#crowdedAt = now;
    // What nobody knows yet is tried here: before a thread is started for it, and where one would be woken.
    if ((this.#lows[query] ?? 0) > aloneMicrosMax || this.#spent > 0) return false;
    return now - this.#crowdedAt > crowdMs;
  }

  #isCheap(cost: CostClass, average: number, bytes: number): boolean {
    if (cost !== 'A' || bytes > inlineBytesMax) return false;
    const hasFew = this.most <= fewLanes;
    const isCheap = hasFew || average <= cheapMicrosMax;
    const budget = isCheap ? cheapTurnBudgetMicros : turnBudgetMicros;
    return this.#spent < budget && average <= (hasFew ? aloneMicrosMax : inlineMicrosMax);
  }

  /** Notes inline work; `isDropped`: it was too long, and begins again elsewhere. */
  spend(query: number, micros: number, isDropped = false): void {
    this.#spent += micros;
    if (query >= 0) {
      const runs = this.#runs[query] ?? 0;
      this.#runs[query] = runs + (isDropped ? runsOfDropped : 1);
      const expected = runs < youngRuns ? this.#lows[query] : undefined;
      this.learn(query, Math.min(micros, expected ?? micros));
    }
    if (this.#armed) return;
    this.#armed = true;
    setImmediate(() => {
      this.#armed = false;
      this.#spent = 0;
    });
  }

  /**
   * Exponential average, so that a query that has become cheap again returns. A thread that was
   * interrupted measures the interruption, and the first calls are those of code that is not
   * compiled yet: no call counts for much more than double the average.
   */
  learn(query: number, micros: number): void {
    if (query < 0) return;
    const average = this.#averages[query];
    const low = this.#lows[query];
    if (average === undefined || low === undefined) {
      this.#averages[query] = this.#lows[query] = Math.min(micros / 4, inlineMicrosMax);
      return;
    }
    const counted = Math.min(micros, 2 * average + cheapMicrosMax);
    this.#averages[query] = average + (counted - average) / 16;
    const rise = Math.min(micros, 2 * low + cheapMicrosMax) - low;
    this.#lows[query] = low + rise / (rise < 0 ? 2 : 16);
  }

  reset(): void {
    this.#averages = [];
    this.#lows = [];
    this.#runs = [];
  }
}
