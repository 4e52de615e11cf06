// The last slow requests, for GET /slowlog (operations.md 9.3). Holds names, sizes and times, never
// values.

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
}

const entriesMax = 128;

export class SlowLog {
  readonly #entries: SlowRequest[] = [];

  add(entry: SlowRequest): void {
    this.#entries.push(entry);
    if (this.#entries.length > entriesMax) this.#entries.shift();
  }

  /** Newest first. */
  list(): SlowRequest[] {
    return this.#entries.toReversed();
  }
}
