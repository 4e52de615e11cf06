// Looks of one key stand in a line: two run, some wait for them, more are refused. Two tabs of one person
// are no overload. Invariant: of one key never more than `looksAtOnce` run.
import { fail } from '../../../engine/internal.js';

const looksAtOnce = 2;
const waitingMax = 32;

interface Line {
  running: number;
  waiting: (() => void)[];
}

export class KeyedSemaphore {
  readonly #lines = new Map<string, Line>();

  /** Runs `work` when it is its turn. Fails with OVERLOADED when too many wait already. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] };
    if (line.running < looksAtOnce) {
      this.#lines.set(key, line);
      line.running++;
    } else {
      if (line.waiting.length >= waitingMax)
        fail('OVERLOADED', { queue: 'The queue of explorer requests' });
      await new Promise<void>((resolve) => line.waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      this.#leave(key, line);
    }
  }

  /** Whoever waits takes the place over. */
  #leave(key: string, line: Line): void {
    const next = line.waiting.shift();
    if (next !== undefined) next();
    else if (--line.running === 0) this.#lines.delete(key);
  }
}
