// Counts the costs of one thread's reads, for the queries of one program, in shared memory that the opening
// thread can read at any time.
// Invariant: only one thread writes, so that a sum over all threads includes every read that returned.
import { Histogram, countCells, secondBounds } from '../../base/metric.js';
import type { Cost } from '../call/call.js';

const secondCells = countCells(secondBounds);
/** After the histogram: rows and visits. */
const cellsPerQuery = secondCells + 2;

/** Costs of the reads of one query. */
export interface ReadFigures {
  readonly seconds: Histogram;
  readonly rows: number;
  readonly visits: number;
}

class QueryCells implements ReadFigures {
  readonly seconds: Histogram;
  readonly #sums: Float64Array;

  constructor(buffer: SharedArrayBuffer, place: number) {
    const at = place * cellsPerQuery * 8;
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
    this.#queries = names.map((_, place) => new QueryCells(buffer, place));
  }

  recordCall(place: number, cost: Cost): void {
    this.#queries[place]!.add(cost);
  }

  /** Number of reads. */
  get reads(): number {
    return this.#queries.reduce((sum, { seconds }) => sum + seconds.count, 0);
  }

  /** Only for queries that were called. */
  *figures(): Iterable<[name: string, ReadFigures]> {
    for (const [place, cells] of this.#queries.entries()) {
      if (!cells.seconds.isEmpty) yield [this.names[place]!, cells];
    }
  }
}
