// Decides which reads run inline on the calling thread: cheap ones by the cost class of their plan, corrected
// by measured times, within a budget per event-loop turn. All other reads go to a lane, unless no other
// caller is waiting. A lane answers a single client about 100 us later, the time to wake two threads.
import type { CostClass } from '../../plan/plan.js';

/**
 * Inline work per event-loop turn, in microseconds. A query that takes no longer than the two messages of a
 * lane (6 to 11 us of processor time, 64 clients) gains nothing there. A longer query runs inline only while
 * few calls wait, so that the lanes share the work and the main thread keeps up with the sockets.
 */
const tickBudgetMicros = 150;
const cheapTickBudgetMicros = 1000;
const cheapMicrosMax = 20;
/**
 * With this few lanes, no processor is available to them that this thread could not use as well. Then every
 * read of class A that a single client could run here counts as cheap. Measured on two processors: hops of 20
 * rows with 64 clients take a tenth less processor time per request on an idle machine, a third less on a
 * busy one. Hops of 400 rows (25 KB) with 16 clients take 200 us instead of 305. Bounded reads (keyword
 * search) get slower, so they are excluded.
 */
const fewLanes = 2;
/**
 * With few lanes, a read of at least this length that does not fit in the turn waits for a later one. A shorter
 * read gains nothing: its connection is paused while it waits, which takes as long as the messages of a lane.
 */
const deferredMicrosMin = 60;
/** A query that takes longer on average does not run on the calling thread. */
const inlineMicrosMax = 100;
/** Larger bodies are decoded in a lane. */
const inlineBytesMax = 4096;
/** Limits for a single client. Bounded reads are then allowed too, once they are measured. */
const singleMicrosMax = 400;
const singleBytesMax = 32_768;
/**
 * Number of first runs of a query, whose code is not compiled yet: time above the expected one is not
 * attributed to the query. A run that was dropped for its length counts as several.
 */
const youngRuns = 64;
const runsOfDropped = 16;
/** For this many milliseconds after a lane was last seen busy, no caller counts as the only one. */
const busyMs = 10;

/** State of the lanes. */
export interface LaneState {
  /** Returns true if no call is in a lane. */
  isIdle(): boolean;
  /** Returns true if a lane can take calls now. */
  hasLane(): boolean;
}

export class InlinePolicy {
  #averages: number[] = [];
  /**
   * Like the averages, but quick to fall: the time for a single client. On a busy machine most calls are
   * interrupted; in a lane they would be interrupted as often.
   */
  #lows: number[] = [];
  #runs: number[] = [];
  #spent = 0;
  #busyAt = Number.NEGATIVE_INFINITY;
  #armed = false;
  /** Called at the end of a turn. */
  onTurn: (() => void) | undefined;

  /** `max` is the maximum number of lanes. */
  constructor(
    private readonly lanes: LaneState,
    private readonly max: number,
  ) {}

  mayInline(query: number, cost: CostClass, bytes: number): boolean {
    if (bytes > singleBytesMax || (cost === 'C' && this.lanes.hasLane())) return false;
    const average = this.#averages[query];
    return this.#isCheap(cost, average ?? 0, bytes) || this.#isSingle(query);
  }

  /**
   * Returns true if a read that does not fit in this turn gains nothing in a lane either, so that it may run
   * in a later turn. Cheap reads never wait behind such reads.
   */
  mayDefer(query: number, cost: CostClass, bytes: number): boolean {
    if (this.max === 0 || this.max > fewLanes) return false;
    if (cost !== 'A' || bytes > inlineBytesMax) return false;
    const low = this.#lows[query];
    const average = this.#averages[query];
    if (low === undefined || average === undefined) return false;
    // Interruptions raise the average of a short read, but hardly its low.
    return low >= deferredMicrosMin && average <= singleMicrosMax;
  }

  #isSingle(query: number): boolean {
    const now = performance.now();
    if (!this.lanes.isIdle()) this.#busyAt = now;
    // A query that was never measured is tried here first, before a thread is started or woken for it.
    if ((this.#lows[query] ?? 0) > singleMicrosMax || this.#spent > 0) return false;
    return now - this.#busyAt > busyMs;
  }

  #isCheap(cost: CostClass, average: number, bytes: number): boolean {
    if (cost !== 'A' || bytes > inlineBytesMax) return false;
    const hasFew = this.max <= fewLanes;
    const isCheap = hasFew || average <= cheapMicrosMax;
    const budget = isCheap ? cheapTickBudgetMicros : tickBudgetMicros;
    return this.#spent < budget && average <= (hasFew ? singleMicrosMax : inlineMicrosMax);
  }

  /** Records inline work. `isDropped` means that the read was too long and starts again in a lane. */
  spend(query: number, micros: number, isDropped = false): void {
    this.#spent += micros;
    if (query >= 0) {
      const runs = this.#runs[query] ?? 0;
      this.#runs[query] = runs + (isDropped ? runsOfDropped : 1);
      const expected = runs < youngRuns ? this.#lows[query] : undefined;
      this.learn(query, Math.min(micros, expected ?? micros));
    }
    this.arm();
  }

  /** Arranges the end of this turn. */
  arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    setImmediate(() => {
      this.#armed = false;
      this.#spent = 0;
      this.onTurn?.();
    });
  }

  /**
   * Exponential average, so that a query that has become cheap runs inline again. An interrupted thread
   * measures the interruption too, and the first calls run uncompiled code. Therefore no single call counts
   * for much more than double the average.
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
