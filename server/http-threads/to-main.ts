// Forwards requests from an HTTP thread to the main thread: each header when it arrives, each body when it
// is complete. Sends the responses of the main thread to the clients. Runs on the HTTP thread.
// Invariant: only the main thread answers a request that was forwarded.
import { type ErrorData, sharedOriginMs } from '../../engine/internal.js';
import type { AnswerStream, Exchange } from '../http/exchange.js';
import { jsonHeaders, noHeaders } from '../http/header-list.js';
import { writeHead } from './head-codec.js';
import type { AnswerHead, Batch, ThreadItem, MainItem, Outbox } from './messages.js';

/** State of a forwarded request. */
class Passed {
  stream: AnswerStream | undefined;

  constructor(
    readonly id: number,
    readonly exchange: Exchange,
    /** Name of the query, if it could be a short read. */
    readonly query: string | undefined,
  ) {}
}

export class Forwarder {
  readonly #passed = new Map<number, Passed>();
  #lastId = 0;
  /** Number of forwarded requests without a response. */
  waiting = 0;

  /** `onCost` is called with the duration of a forwarded query that could be a short read. */
  constructor(
    private readonly outbox: Outbox<ThreadItem>,
    private readonly onCost: (query: string, micros: number) => void,
  ) {}

  /** Forwards a request header. `query`: name of the query, if it could be a short read. */
  open(exchange: Exchange, query?: string): void {
    const id = this.#take(exchange, query);
    const startedAt = exchange.startedAt + sharedOriginMs;
    this.outbox.add(['head', id, writeHead(exchange), startedAt, exchange.rated]);
  }

  /** Forwards a request header with invalid framing. */
  openUnsound(exchange: Exchange, error: ErrorData): void {
    const id = this.#take(exchange);
    const startedAt = exchange.startedAt + sharedOriginMs;
    this.outbox.add(['unsound', id, writeHead(exchange), startedAt, error]);
  }

  #take(exchange: Exchange, query?: string): number {
    const passed = new Passed(++this.#lastId, exchange, query);
    this.#passed.set(passed.id, passed);
    this.waiting++;
    // The main thread adds its header fields.
    exchange.headers = noHeaders;
    exchange.context = passed;
    return passed.id;
  }

  complete(exchange: Exchange, body: Uint8Array): void {
    const { id } = exchange.context as Passed;
    const span = this.outbox.keep(body);
    this.outbox.add(['body', id, ...span]);
    exchange.keepAlive();
  }

  /** Forwards a refusal of the transport. An earlier error of the main thread takes precedence. */
  refuse(exchange: Exchange, error: ErrorData): void {
    const { id } = exchange.context as Passed;
    this.outbox.add(['refuse', id, error, exchange.bytesIn]);
  }

  gone(exchange: Exchange): void {
    if (isPassed(exchange)) this.#lose(exchange.context as Passed);
  }

  #lose({ id, stream }: Passed): void {
    if (!this.#passed.delete(id)) return;
    if (stream === undefined) this.waiting--;
    this.outbox.add(['gone', id]);
  }

  receive({ items, bytes }: Batch<MainItem>): void {
    for (const item of items) {
      const passed = this.#passed.get(item[1]);
      if (passed === undefined) continue;
      switch (item[0]) {
        case 'answer':
          this.#answer(passed, item, bytes);
          break;
        case 'stream':
          this.#begin(passed, item[2]);
          break;
        case 'write':
          passed.stream?.write(item[2]);
          break;
        case 'end':
          this.#passed.delete(passed.id);
          passed.stream?.end();
          break;
        case 'letGo':
          passed.exchange.allowDisconnect();
      }
    }
  }

  #answer(
    { id, exchange, query }: Passed,
    [, , head, close, micros, start, end]: Extract<MainItem, ['answer', ...unknown[]]>,
    bytes: ArrayBuffer,
  ): void {
    this.#passed.delete(id);
    this.waiting--;
    if (query !== undefined && micros > 0) this.onCost(query, micros);
    const [status, headers] = adopt(exchange, head);
    exchange.send(status, headers, new Uint8Array(bytes, start, end - start), close);
  }

  #begin(passed: Passed, head: AnswerHead): void {
    const { exchange } = passed;
    this.waiting--;
    const [status, headers] = adopt(exchange, head);
    if (exchange.settled) return;
    passed.stream = exchange.stream(status, headers);
    passed.stream.onGone = () => this.#lose(passed);
  }
}

const isPassed = (exchange: Exchange): boolean => exchange.context instanceof Passed;

function adopt(exchange: Exchange, [requestId, status, headers, more]: AnswerHead) {
  exchange.requestId = requestId;
  exchange.headers = more === 0 ? noHeaders : more;
  return [status, headers === 0 ? jsonHeaders : headers] as const;
}
