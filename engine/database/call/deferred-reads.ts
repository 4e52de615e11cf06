// Queues reads of moderate length that do not fit in the current turn of the event loop. The calling thread
// runs a few of them in each later turn, one of each caller in rotation. Cheap reads and messages run between
// them, so they wait for these few reads only, not for the whole queue.
//
// Invariant: the waiting reads of one caller run in the order of arrival.
import { type Whose, nameOf } from './call.js';

/** Microseconds per turn. The last read may exceed them. */
const turnMicros = 400;
/** Maximum number of waiting reads. Further ones go to a lane, whose queue has its own limits. */
const waitingMax = 256;

export class DeferredReads {
  readonly #waiting = new Map<string, (() => void)[]>();
  #count = 0;

  /** `later` arranges a call of `runSome` at the next turn. */
  constructor(private readonly later: () => void) {}

  /** Number of waiting reads. */
  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count >= waitingMax;
  }

  /** Runs the read of this caller in a later turn. Settles as the read does. */
  add<T>(whose: Whose | undefined, read: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = (): void => {
        try {
          resolve(read());
        } catch (error) {
          reject(error as Error);
        }
      };
      const caller = nameOf(whose);
      const waiting = this.#waiting.get(caller);
      if (waiting === undefined) this.#waiting.set(caller, [run]);
      else waiting.push(run);
      this.#count++;
      this.later();
    });
  }

  /** Runs waiting reads until the time of a turn is spent. */
  runSome(): void {
    if (this.#count === 0) return;
    const end = performance.now() + turnMicros / 1000;
    do {
      const [caller, waiting] = this.#waiting.entries().next().value!;
      // The caller moves to the end of the rotation.
      this.#waiting.delete(caller);
      const run = waiting.shift()!;
      if (waiting.length > 0) this.#waiting.set(caller, waiting);
      this.#count--;
      run();
    } while (this.#count > 0 && performance.now() < end);
    if (this.#count > 0) this.later();
  }
}
