// What the transports of all threads count, in shared memory: limits of connections and of buffered bytes
// are those of the server, not of a thread. Invariant: each row has one writer; what a thread held that
// has ended is held no more.
import { sharedOriginMs } from '../../engine/index.js';
import { type TransportCounts, freshCounts } from '../http/transport.js';

type CountName = keyof TransportCounts;

const names = Object.keys(freshCounts()) as CountName[];
/** Counts, and the time of the last request; no two rows share a line of a processor's cache. */
const width = 16;
/** What ends with the thread. */
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

  /** The counts of one thread. */
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

  /** All counts, as sums. */
  totals(): TransportCounts {
    const counts = freshCounts();
    for (const name of names) counts[name] = this.total(name);
    return counts;
  }

  /** The thread of this row has ended. */
  forget(row: number): void {
    const counts = this.of(row);
    for (const name of held) counts[name] = 0;
  }

  /** Notes that a thread was asked for something, at a time of its performance.now(). */
  hear(row: number, at: number): void {
    this.#cells[row * width + names.length] = at + sharedOriginMs;
  }

  /** When any thread was asked last, as performance.now() of this one. */
  get lastRequestAt(): number {
    let latest = 0;
    for (let row = 0; row < this.#rows; row++) {
      latest = Math.max(latest, this.#cells[row * width + names.length]!);
    }
    return latest - sharedOriginMs;
  }
}
