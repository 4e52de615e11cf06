// Queues reads of moderate length that do not fit in the current turn of the event loop. The calling thread
// runs a few of them in each later turn, one of each caller in rotation. Cheap reads and messages run between
// them, so they wait for these few reads only, not for the whole queue.
import type { Whose } from './call.js';
import { WaitingReads } from './waiting-reads.js';

/** Microseconds per turn. The last read may exceed them. */
const turnMicros = 400;
/** Maximum number of waiting reads. Further ones go to a lane, whose queue has its own limits. */
const waitingMax = 256;

export class DeferredReads {
  readonly #waiting = new WaitingReads();

  /** `later` arranges a call of `runSome` at the next turn. */
  constructor(private readonly later: () => void) {}

  /** Number of waiting reads. */
  get count(): number {
    return this.#waiting.count;
  }

  get isFull(): boolean {
    return this.count >= waitingMax;
  }

  /** Runs the read of this caller in a later turn. Settles as the read does. */
  add<T>(whose: Whose | undefined, read: () => T | Promise<T>): Promise<T> {
    const result = this.#waiting.add(whose, read);
    this.later();
    return result;
  }

  /** Runs waiting reads until the time of a turn is spent. */
  runSome(): void {
    if (this.count === 0) return;
    const end = performance.now() + turnMicros / 1000;
    do this.#waiting.runFirst(this.#waiting.firstCaller!);
    while (this.count > 0 && performance.now() < end);
    if (this.count > 0) this.later();
  }
}
