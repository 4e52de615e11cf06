// The last slow requests, for GET /slowlog (operations.md 9.3). Holds names, sizes and times, and
// values only where `log.parameters` says so.

export interface SlowRequest {
  ts: string;
  request_id: string;
  route: string;
  query?: string | undefined;
  status: string;
  code?: string;
  ms: number;
  /** Of them, all that was not work of a lane. */
  queue_ms?: number | undefined;
  /** Items printed and elements visited. */
  rows?: number | undefined;
  visits?: number | undefined;
  bytes_in: number;
  bytes_out: number;
  /** The beginning of what was sent. */
  values?: string | undefined;
}

const entriesMax = 128;
/**
 * Lines of the log a second. Where more is asked than can be done every answer is late, and a line
 * costs as much as to turn a request away.
 */
const linesMax = 20;

export class SlowLog {
  readonly #entries: SlowRequest[] = [];
  #second = 0;
  #lines = 0;
  #suppressed = 0;

  add(entry: SlowRequest): void {
    this.#entries.push(entry);
    if (this.#entries.length > entriesMax) this.#entries.shift();
  }

  /**
   * Whether a request that ended at `ms` of performance.now() gets a line of the log: how many before
   * it got none, or undefined.
   */
  takeLine(ms: number): number | undefined {
    const second = Math.floor(ms / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#lines = 0;
    }
    if (this.#lines++ >= linesMax) {
      this.#suppressed++;
      return undefined;
    }
    const before = this.#suppressed;
    this.#suppressed = 0;
    return before;
  }

  /** Newest first. */
  list(): SlowRequest[] {
    return this.#entries.toReversed();
  }
}
