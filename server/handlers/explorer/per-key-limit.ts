// Limits the explorer's reads of one key: two run, up to 32 wait, further ones are refused. Two tabs of one
// user are no overload. Invariant: at most `runningMax` reads of one key run.
import { fail } from '../../../engine/internal.js';

const runningMax = 2;
const waitingMax = 32;

interface Line {
  running: number;
  waiting: (() => void)[];
}

export class KeyedSemaphore {
  readonly #lines = new Map<string, Line>();

  /** Runs `work` when a slot of the key is free. Fails OVERLOADED if too many are waiting. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] };
    if (line.running < runningMax) {
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

  /** Frees the slot, or gives it to the next waiting read. */
  #leave(key: string, line: Line): void {
    const next = line.waiting.shift();
    if (next !== undefined) next();
    else if (--line.running === 0) this.#lines.delete(key);
  }
}
