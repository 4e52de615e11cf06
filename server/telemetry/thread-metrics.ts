// Metrics of an HTTP thread in shared memory: for each query of one program its responses by status, their
// times and bytes, and all refusals by code. Invariant: only one thread writes them, so that a sum over all
// threads includes every response that was sent.
import {
  type ErrorCode,
  Histogram,
  countCells,
  errorCodes,
  secondBounds,
} from '../../engine/internal.js';
import { queryStatuses } from '../http/http-error.js';
import { Tally, tallyCells } from './route-histogram.js';

const secondCells = countCells(secondBounds);
/** The histogram, bytes in and out, responses by status; then the smaller cells of the tally. */
const numbers = secondCells + 2 + queryStatuses.length;
const bytesPerQuery = Math.ceil((numbers * 8 + tallyCells * 4) / 8) * 8;

/** Figures of one route on one thread. */
export class RouteFigures {
  readonly seconds: Histogram;
  /** Counts for live pages. */
  readonly tally: Tally;
  readonly #bytes: Float64Array;
  readonly #statuses: Float64Array;

  constructor(
    readonly label: string,
    buffer: SharedArrayBuffer,
    index: number,
  ) {
    const at = index * bytesPerQuery;
    this.seconds = new Histogram(secondBounds, new Float64Array(buffer, at, secondCells));
    this.#bytes = new Float64Array(buffer, at + secondCells * 8, 2);
    const statusesAt = at + (secondCells + 2) * 8;
    this.#statuses = new Float64Array(buffer, statusesAt, queryStatuses.length);
    this.tally = new Tally(new Uint32Array(buffer, at + numbers * 8, tallyCells));
  }

  record(status: string, seconds: number, bytesIn: number, bytesOut: number): void {
    const kind = queryStatuses.indexOf(status);
    this.#statuses[kind]!++;
    this.seconds.observe(seconds);
    this.tally.add(seconds, kind > 0);
    this.#bytes[0]! += bytesIn;
    this.#bytes[1]! += bytesOut;
  }

  get bytesIn(): number {
    return this.#bytes[0]!;
  }

  get bytesOut(): number {
    return this.#bytes[1]!;
  }

  /** Yields the number of responses of each status that occurred. */
  *statuses(): Iterable<[status: string, count: number]> {
    for (const [i, count] of this.#statuses.entries()) {
      if (count > 0) yield [queryStatuses[i]!, count];
    }
  }
}

export class ThreadMetrics {
  readonly #routes: RouteFigures[];
  readonly #byName: ReadonlyMap<string, RouteFigures>;
  readonly #rejected: Float64Array;

  /** `names` are the program's queries, in its order. */
  constructor(
    readonly names: readonly string[],
    readonly buffer = new SharedArrayBuffer(names.length * bytesPerQuery + errorCodes.length * 8),
  ) {
    this.#routes = names.map((name, index) => new RouteFigures(name, buffer, index));
    this.#byName = new Map(names.map((name, index) => [name, this.at(index)]));
    this.#rejected = new Float64Array(buffer, names.length * bytesPerQuery, errorCodes.length);
  }

  /** Returns the figures of the query at this position in the program. */
  at(index: number): RouteFigures {
    return this.#routes[index]!;
  }

  /** Returns undefined for a query without responses. */
  of(name: string): RouteFigures | undefined {
    const figures = this.#byName.get(name);
    return figures?.seconds.isEmpty === false ? figures : undefined;
  }

  /** Yields the routes that have responses. */
  *answered(): Iterable<[name: string, RouteFigures]> {
    for (const name of this.names) {
      const figures = this.of(name);
      if (figures !== undefined) yield [name, figures];
    }
  }

  reject(code: ErrorCode): void {
    this.#rejected[errorCodes.indexOf(code)]!++;
  }

  /** Yields the number of refusals of each code that occurred. */
  *rejected(): Iterable<[code: ErrorCode, count: number]> {
    for (const [i, count] of this.#rejected.entries()) {
      if (count > 0) yield [errorCodes[i]!, count];
    }
  }
}
