// Places for calls of providers: so many at once in the whole process, whoever makes them. Others wait in the order
// in which they came, until their time is up.
import { type ErrorData, TrellisError } from '../base/errors.js';

/** Calls that are under way to providers. */
const callsMax = 64;
/** Calls that wait for one to end. */
const waitingMax = 4_096;

const isFull: ErrorData = { code: 'OVERLOADED', args: { queue: 'The queue of embedding calls' } };

export class CallSlots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(
    calls = callsMax,
    private readonly most = waitingMax,
  ) {
    this.#free = calls;
  }

  /** Does `work` when it is its turn. `deadline` in milliseconds of performance.now(). Fails OVERLOADED. */
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
    if (this.#waiting.size >= this.most) throw new TrellisError(isFull);
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

  /** The place goes to whoever has waited longest. */
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
