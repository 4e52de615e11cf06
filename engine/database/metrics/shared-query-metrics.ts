// Counts the costs of one thread's reads, for the queries of one program, in shared memory that the opening
// thread can read at any time.
// Invariant: only one thread writes, so that a sum over all threads includes every read that returned.
import { Histogram, countCells, secondBounds } from '../../base/metric.js';
import type { Cost } from '../call/call.js';

const secondCells = countCells(secondBounds);
/** After the histogram: rows and visits. */
const cellsPerQuery = secondCells + 2;

/** Costs of the reads of one query. */
export interface ReadTotals {
  readonly seconds: Histogram;
  readonly rows: number;
  readonly visits: number;
}

class QueryCells implements ReadTotals {
  readonly seconds: Histogram;
  readonly #sums: Float64Array;

  constructor(buffer: SharedArrayBuffer, index: number) {
    const at = index * cellsPerQuery * 8;
    this.seconds = new Histogram(secondBounds, new Float64Array(buffer, at, secondCells));
    this.#sums = new Float64Array(buffer, at + secondCells * 8, 2);
  }

  get rows(): number {
    return this.#sums[0]!;
  }

  get visits(): number {
    return this.#sums[1]!;
  }

  add({ micros, rows, visits }: Cost): void {
    this.seconds.observe(micros / 1e6);
    this.#sums[0]! += rows;
    this.#sums[1]! += visits;
  }
}

export class SharedQueryMetrics {
  readonly #queries: QueryCells[];

  /** `names` are the queries of the program, in order. */
  constructor(
    readonly names: readonly string[],
    readonly buffer = new SharedArrayBuffer(names.length * cellsPerQuery * 8),
  ) {
    this.#queries = names.map((_, index) => new QueryCells(buffer, index));
  }

  recordCall(index: number, cost: Cost): void {
    this.#queries[index]!.add(cost);
  }

  /** Number of reads. */
  get reads(): number {
    return this.#queries.reduce((sum, { seconds }) => sum + seconds.count, 0);
  }

  /** Only for queries that were called. */
  *totals(): Iterable<[name: string, ReadTotals]> {
    for (const [index, cells] of this.#queries.entries()) {
      if (!cells.seconds.isEmpty) yield [this.names[index]!, cells];
    }
  }
}
