// Limits concurrent provider calls in the whole process. Further calls wait in order of arrival until their
// deadline.
import { type ErrorData, TrellisError } from '../base/errors.js';

/** Maximum number of concurrent provider calls. */
const callsMax = 64;
/** Maximum number of waiting calls. */
const waitingMax = 4_096;

const isFull: ErrorData = { code: 'OVERLOADED', args: { queue: 'The queue of embedding calls' } };

export class CallSlots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(
    calls = callsMax,
    private readonly maxWaiting = waitingMax,
  ) {
    this.#free = calls;
  }

  /**
   * Runs `work` when a slot is free. `deadline` is in milliseconds of performance.now(). Fails OVERLOADED.
   */
  async run<T>(work: () => Promise<T>, deadline: number): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(deadline);
    try {
      return await work();
    } finally {
      this.#pass();
    }
  }

  #turn(deadline: number): Promise<void> {
    if (this.#waiting.size >= this.maxWaiting) throw new TrellisError(isFull);
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => {
          this.#waiting.delete(begin);
          reject(new TrellisError(isFull));
        },
        Math.max(0, deadline - performance.now()),
      );
      const begin = (): void => {
        clearTimeout(late);
        resolve();
      };
      this.#waiting.add(begin);
    });
  }

  /** Gives the slot to the call that has waited longest. */
  #pass(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
