// Forwards requests from an HTTP thread to the main thread: each header when it arrives, each body when it
// is complete. Sends the responses of the main thread to the clients. Runs on the HTTP thread.
// Invariant: only the main thread answers a request that was forwarded.
import { type ErrorData, sharedOriginMs } from '../../engine/internal.js';
import { type AnswerStream, type Exchange, RequestContext } from '../http/exchange.js';
import { jsonHeaders, noHeaders } from '../http/header-list.js';
import { writeHead } from './head-codec.js';
import type { AnswerHead, Batch, ThreadItem, MainItem, Outbox } from './messages.js';

/** Context of a request that was forwarded to the main thread. */
class ForwardedRequest extends RequestContext {
  stream: AnswerStream | undefined;
  /** Only the main thread knows the key. */
  readonly keyId = undefined;

  constructor(
    readonly id: number,
    readonly exchange: Exchange,
    /** Name of the query, if it could be a short read. */
    readonly query: string | undefined,
  ) {
    super();
  }
}

export class Forwarder {
  readonly #forwarded = new Map<number, ForwardedRequest>();
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
    const request = new ForwardedRequest(++this.#lastId, exchange, query);
    this.#forwarded.set(request.id, request);
    this.waiting++;
    // The main thread adds its header fields.
    exchange.headers = noHeaders;
    exchange.context = request;
    return request.id;
  }

  complete(exchange: Exchange, body: Uint8Array): void {
    const { id } = contextOf(exchange)!;
    const span = this.outbox.keep(body);
    this.outbox.add(['body', id, ...span]);
    exchange.keepAlive();
  }

  /** Forwards a refusal of the transport. An earlier error of the main thread takes precedence. */
  refuse(exchange: Exchange, error: ErrorData): void {
    const { id } = contextOf(exchange)!;
    this.outbox.add(['refuse', id, error, exchange.bytesIn]);
  }

  disconnect(exchange: Exchange): void {
    const context = contextOf(exchange);
    if (context !== undefined) this.#lose(context);
  }

  #lose({ id, stream }: ForwardedRequest): void {
    if (!this.#forwarded.delete(id)) return;
    if (stream === undefined) this.waiting--;
    this.outbox.add(['gone', id]);
  }

  receive({ items, bytes }: Batch<MainItem>): void {
    for (const item of items) {
      const request = this.#forwarded.get(item[1]);
      if (request === undefined) continue;
      switch (item[0]) {
        case 'answer':
          this.#answer(request, item, bytes);
          break;
        case 'stream':
          this.#begin(request, item[2]);
          break;
        case 'write':
          request.stream?.write(item[2]);
          break;
        case 'end':
          this.#forwarded.delete(request.id);
          request.stream?.end();
          break;
        case 'allowDisconnect':
          request.exchange.allowDisconnect();
      }
    }
  }

  #answer(
    { id, exchange, query }: ForwardedRequest,
    [, , head, close, micros, start, end]: Extract<MainItem, ['answer', ...unknown[]]>,
    bytes: ArrayBuffer,
  ): void {
    this.#forwarded.delete(id);
    this.waiting--;
    if (query !== undefined && micros > 0) this.onCost(query, micros);
    const [status, headers] = takeHead(exchange, head);
    exchange.send(status, headers, new Uint8Array(bytes, start, end - start), close);
  }

  #begin(request: ForwardedRequest, head: AnswerHead): void {
    const { exchange } = request;
    this.waiting--;
    const [status, headers] = takeHead(exchange, head);
    if (exchange.settled) return;
    request.stream = exchange.stream(status, headers);
    request.stream.onDisconnect = () => this.#lose(request);
  }
}

/** Returns undefined for a request that was not forwarded. */
function contextOf({ context }: Exchange): ForwardedRequest | undefined {
  return context instanceof ForwardedRequest ? context : undefined;
}

function takeHead(exchange: Exchange, [requestId, status, headers, more]: AnswerHead) {
  exchange.requestId = requestId;
  exchange.headers = more === 0 ? noHeaders : more;
  return [status, headers === 0 ? jsonHeaders : headers] as const;
}
