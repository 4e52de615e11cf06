// A front's side of the requests that it passes on to the main thread: heads as they come, bodies when
// they are whole, answers as they come back. Invariant: a request that was passed on is answered as the
// main thread says, and by nobody else.
import { type ErrorData, sharedOriginMs } from '../../engine/index.js';
import type { AnswerStream, Exchange } from '../http/exchange.js';
import { jsonHeaders, noHeaders } from '../http/header-list.js';
import { writeHead } from './head-codec.js';
import type { AnswerHead, Batch, FrontItem, MainItem, Outbox } from './messages.js';

/** What is remembered of an exchange that was passed on. */
class Passed {
  stream: AnswerStream | undefined;

  constructor(
    readonly id: number,
    readonly exchange: Exchange,
    /** The short read that it might have been. */
    readonly query: string | undefined,
  ) {}
}

export class Forwarder {
  readonly #passed = new Map<number, Passed>();
  #lastId = 0;
  /** Passed on, not answered, and no stream. */
  waiting = 0;

  /** `onCost` hears what a query took that was passed on though it might have been short. */
  constructor(
    private readonly outbox: Outbox<FrontItem>,
    private readonly onCost: (query: string, micros: number) => void,
  ) {}

  /** Passes a head on. `query`: the short read that it might have been. */
  open(exchange: Exchange, query?: string): void {
    const id = this.#take(exchange, query);
    const startedAt = exchange.startedAt + sharedOriginMs;
    this.outbox.add(['head', id, writeHead(exchange), startedAt, exchange.rated]);
  }

  /** Passes on a head that is not sound. */
  openUnsound(exchange: Exchange, error: ErrorData): void {
    const id = this.#take(exchange);
    const startedAt = exchange.startedAt + sharedOriginMs;
    this.outbox.add(['unsound', id, writeHead(exchange), startedAt, error]);
  }

  #take(exchange: Exchange, query?: string): number {
    const passed = new Passed(++this.#lastId, exchange, query);
    this.#passed.set(passed.id, passed);
    this.waiting++;
    // The main thread adds its own.
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

  /** The transport refuses: with the error that the main thread finds, if it finds one before. */
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
