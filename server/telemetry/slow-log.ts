// Stores the last slow requests for GET /slowlog. An entry has names, sizes and times, and values only if
// `log.parameters` is set.

export interface SlowRequest {
  ts: string;
  request_id: string;
  route: string;
  query?: string | undefined;
  status: string;
  code?: string;
  ms: number;
  /** Milliseconds of `ms` during which no lane worked on the request. */
  queue_ms?: number | undefined;
  /** Items printed and elements visited. */
  rows?: number | undefined;
  visits?: number | undefined;
  bytes_in: number;
  bytes_out: number;
  /** The beginning of the request body. */
  values?: string | undefined;
}

const entriesMax = 128;
/**
 * Maximum number of log lines per second. Under overload every response is late, and a log line costs as much
 * as the refusal of a request.
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
   * Decides whether a request that ended at `ms` of performance.now() gets a log line. Returns the number of
   * suppressed lines before it, or undefined for no line.
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

  /** Returns the entries, newest first. */
  list(): SlowRequest[] {
    return this.#entries.toReversed();
  }
}
