// Holds the reads that wait for a later turn of the event loop, by caller. The two queues of the calling
// thread use it; each decides how many reads of which caller run in a turn.
//
// Invariant: the reads of one caller run in the order of arrival.
import { type Whose, nameOf } from './call.js';

export class WaitingReads {
  readonly #byCaller = new Map<string, (() => void)[]>();
  #count = 0;

  /** Number of waiting reads. */
  get count(): number {
    return this.#count;
  }

  /** Callers with waiting reads. */
  get callers(): string[] {
    return [...this.#byCaller.keys()];
  }

  /** Caller whose turn it is: none has waited longer since its last read. Undefined if no read waits. */
  get firstCaller(): string | undefined {
    return this.#byCaller.keys().next().value;
  }

  has(caller: string): boolean {
    return this.#byCaller.has(caller);
  }

  /** Adds a read of this caller. The promise settles as the read does. */
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
      const reads = this.#byCaller.get(caller);
      if (reads === undefined) this.#byCaller.set(caller, [run]);
      else reads.push(run);
      this.#count++;
    });
  }

  /** Runs the first read of this caller, which has one. The caller moves behind the other callers. */
  runFirst(caller: string): void {
    const reads = this.#byCaller.get(caller)!;
    this.#byCaller.delete(caller);
    const run = reads.shift()!;
    if (reads.length > 0) this.#byCaller.set(caller, reads);
    this.#count--;
    run();
  }
}
