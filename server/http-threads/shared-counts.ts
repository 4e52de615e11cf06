// Counts of the transports of all threads, in shared memory. Limits of connections and of buffered bytes
// hold for the whole server, not for each thread.
// Invariant: each row has one writer. When a thread ends, its connections and buffered bytes are no longer
// counted.
import { sharedOriginMs } from '../../engine/internal.js';
import { type TransportCounts, freshCounts } from '../http/transport.js';

type CountName = keyof TransportCounts;

const names = Object.keys(freshCounts()) as CountName[];
/**
 * Cells of a row: the counts, and the time of the last request. Rows do not share a cache line of the CPU.
 */
const width = 16;
/** Counts that become 0 when the thread ends. */
const held: readonly CountName[] = ['connections', 'bufferedBodyBytes', 'bufferedResponseBytes'];

export class SharedCounts {
  readonly #cells: Float64Array;
  readonly #rows: number;

  constructor(
    rows: number,
    readonly buffer = new SharedArrayBuffer(rows * width * 8),
  ) {
    this.#cells = new Float64Array(buffer);
    this.#rows = rows;
  }

  /** Returns the counts of one thread. */
  of(row: number): TransportCounts {
    const cells = this.#cells;
    const counts = freshCounts();
    for (const [i, name] of names.entries()) {
      const at = row * width + i;
      Object.defineProperty(counts, name, {
        get: () => cells[at],
        set: (value: number) => {
          cells[at] = value;
        },
      });
    }
    return counts;
  }

  total(name: CountName): number {
    let sum = 0;
    for (let at = names.indexOf(name); at < this.#cells.length; at += width)
      sum += this.#cells[at]!;
    return sum;
  }

  /** Returns the sums over all threads. */
  totals(): TransportCounts {
    const counts = freshCounts();
    for (const name of names) counts[name] = this.total(name);
    return counts;
  }

  /** Called when the thread of this row has ended. */
  forget(row: number): void {
    const counts = this.of(row);
    for (const name of held) counts[name] = 0;
  }

  /** Records a request. `at` is performance.now() of its thread. */
  markActive(row: number, at: number): void {
    this.#cells[row * width + names.length] = at + sharedOriginMs;
  }

  /** Time of the last request of any thread, as performance.now() of the calling thread. */
  get lastRequestAt(): number {
    let latest = 0;
    for (let row = 0; row < this.#rows; row++) {
      latest = Math.max(latest, this.#cells[row * width + names.length]!);
    }
    return latest - sharedOriginMs;
  }
}
