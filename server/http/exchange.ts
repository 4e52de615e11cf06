// One request and the only way to answer it. The transports create exchanges; all other code sees only this
// class. An exchange keeps only the header fields that the server uses, and drops the others. Invariant:
// after `settled` nothing is sent, and `send` or `stream` is called at most once.
import type { ClusterPosition, ShardReading } from '../../engine/internal.js';
import { sourceOf } from './address.js';
import { type HeaderList, noHeaders } from './header-list.js';
import { RequestHeaders } from './request-headers.js';

/** An answer that is sent in pieces, without a known end. */
export interface AnswerStream {
  /**
   * Sends a piece. Closes the connection if the client has not read the pieces before it. Late pieces are
   * useless, so the server does not buffer them for a slow client.
   */
  write(text: string): void;
  end(): void;
  /** Called once when the client has disconnected; never called after `end`. */
  onDisconnect: (() => void) | undefined;
}

/**
 * What a receiver knows about a request between its head and its answer. Each receiver has a subclass with
 * further fields.
 */
export abstract class RequestContext {
  /** Name of the query that the request runs; undefined if no query is known yet. */
  abstract readonly query: string | undefined;
  /** Id of the caller's API key; undefined without a key. */
  abstract readonly keyId: string | undefined;
}

/** One request: its header fields (request-headers.ts), what is known about its call, and its answer. */
export abstract class Exchange extends RequestHeaders {
  method = '';
  /** Path as the client sent it: not decoded, without the query string. */
  path = '';
  query = '';
  /** Embeddings that another node computed for this call. */
  embeddings: Uint8Array | undefined;
  /** Position of the node that answered instead of this one. */
  answeredAt: ClusterPosition | undefined;
  /** Required freshness of the shards of a scattered type, and the positions of the shards that answered. */
  shards: ShardReading | undefined;
  shardsAt: Map<string, ClusterPosition> | undefined;

  requestId = '';
  /** Which rate limits have counted this request: 1 for its address, 2 for its key as well. */
  rated = 0;
  /** Result of the authentication; undefined before it ran (auth/authenticator.ts). */
  authentication: unknown;
  /** Whether the endpoint requires the role admin. */
  asksAdmin = false;
  /** Id of the caller's API key; empty if no keys are configured. */
  keyId = '';
  /** Returns the source under which the caller is counted. Absent: the source of the peer address. */
  sourceOf: ((exchange: Exchange) => string) | undefined;
  #holder: string | undefined;
  /** Start time in milliseconds of performance.now(). */
  startedAt = 0;
  /** Time at which a read fails with a timeout, whatever the engine does; 0 means never. */
  deadline = 0;
  /** Whether the exchange is answered or the client has disconnected. */
  settled = false;
  /** Stops the running call; set by the code that started the call. */
  cancel: (() => void) | undefined;
  /** Costs of the call as the engine reports them. */
  work: { micros: number; rows: number; visits: number } | undefined;
  /** The query that the request calls, where the path does not name it. */
  called: { query: string; writes: boolean } | undefined;
  bytesIn = 0;
  /** The head is valid and announces a body, whose end has not arrived. */
  bodyDue = false;
  /** Set by the receiver when it knows what the request is for. */
  context: RequestContext | undefined;
  /** Header fields of the answer, in addition to those passed to `send`. */
  headers: HeaderList = noHeaders;

  /**
   * Caller whose share the bytes count to: the id of the key, else the source. Must be read once before the
   * answer.
   */
  get holder(): string {
    this.#holder ??= this.keyId || (this.sourceOf?.(this) ?? sourceOf(this.peer()));
    return this.#holder;
  }

  /** The client's address as text; IPv4 inside IPv6 is printed as IPv4. Only valid before the answer. */
  abstract peer(): string;

  /**
   * Keeps the connection while a call runs. A client that has ended its stream may still wait for the answer.
   */
  abstract keepAlive(): void;

  /** From now on, a client that ends its stream counts as disconnected. */
  abstract allowDisconnect(): void;

  /** Adds header fields to the answer, also if the answer is an error. */
  addHeaders(list: HeaderList): void {
    this.headers = [...this.headers, ...list];
  }

  /**
   * Sends the answer with the request id, the added header fields and the length. A HEAD request gets the
   * head only. `close` ends the connection after the answer.
   */
  abstract send(
    status: string,
    headers: HeaderList,
    body: Uint8Array | string,
    close: boolean,
  ): void;

  /** Starts an answer without a length; called instead of `send`. */
  abstract stream(status: string, headers: HeaderList): AnswerStream;
}

/** Whether the head announces a body. */
export function hasBody(exchange: Exchange): boolean {
  return (
    exchange.transferEncodingCount > 0 ||
    (exchange.contentLengthCount > 0 && exchange.contentLength !== '0')
  );
}
