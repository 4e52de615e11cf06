// One request on its way through the server, and the only way to answer it. Transports make
// exchanges, everyone else sees only this class. Owns the header fields that mean something here
// (http.md 3.8); other headers are never kept. Invariant: after `settled` nothing is sent, and
// `send` or `stream` is called at most once.
import type { ClusterPosition, ShardReading } from '../../engine/internal.js';
import { sourceOf } from './address.js';
import { type HeaderList, noHeaders } from './header-list.js';

/** An answer that is sent piece by piece, for as long as both sides like. */
export interface AnswerStream {
  /**
   * A client that has not read what was written before loses its connection: what is told here is
   * worth nothing late, and nothing is kept for who does not listen.
   */
  write(text: string): void;
  end(): void;
  /** Called once when the client has gone; never after `end`. */
  onGone: (() => void) | undefined;
}

/** What the server keeps of a request's head; an absent header is the empty text. */
export abstract class Exchange {
  method = '';
  /** As it came: not decoded, without the query string. */
  path = '';
  query = '';
  host = '';
  hostCount = 0;
  origin = '';
  fetchSite = '';
  preflightMethod = '';
  apiKey = '';
  authorization = '';
  contentType = '';
  contentEncoding = '';
  contentLength = '';
  contentLengthCount = 0;
  transferEncoding = '';
  transferEncodingCount = 0;
  requestIdHeader = '';
  accept = '';
  acceptEncoding = '';
  timeoutHeader = '';
  /** An empty one is not the same as none. */
  idempotencyKey: string | undefined;
  traceparent = '';
  forwardedFor = '';
  /** What a client of the Model Context Protocol mirrors of its request. */
  mcpVersion = '';
  mcpMethod = '';
  mcpName = '';
  /** The tags of documents that the client has. */
  ifNoneMatch = '';
  /** With `read` a caller gives up the right to write, for this request. */
  accessHeader = '';
  /** How fresh an answer must be, and behind which position (forward/consistency.ts). */
  consistency = '';
  after = '';
  /** Of the database that it is about, where a server has several. */
  tenant = '';
  /** `allow`: an answer without some of the shards is welcome. */
  partial = '';
  /** Another node of the cluster has passed this on. */
  passedOn = '';
  /** By what that node vouches for what it has embedded, and how many bytes of the body those are. */
  embeddedBy = '';
  /** What another node has embedded for this call. */
  embeddings: Uint8Array | undefined;
  /** How far the node was that has answered in the place of this one. */
  answeredAt: ClusterPosition | undefined;
  /** How fresh the shards of a scattered type must be, and how far those were that have answered. */
  shards: ShardReading | undefined;
  shardsAt: Map<string, ClusterPosition> | undefined;
  /** By what another node of the cluster proves that it is one (cluster/node-auth.ts). */
  nodeProof = '';
  /** Something else than an address says that a proxy passed this on. */
  forwarded = false;

  requestId = '';
  /** How far the rates have counted it: 1 for its address, 2 for its key. */
  rated = 0;
  /** What its credential was found to be, once that was looked at (auth/authenticator.ts). */
  judged: unknown;
  /** It asks for what only administrators may. */
  asksAdmin = false;
  /** Of whoever calls; empty where there are no keys. */
  keyId = '';
  /** What tells where a request comes from, as callers are counted. */
  sourceOf: ((exchange: Exchange) => string) | undefined;
  #holder: string | undefined;
  /** Milliseconds of performance.now(). */
  startedAt = 0;
  /** When a reader is answered for, whatever the engine does; 0 = never. */
  deadline = 0;
  /** Answered, or the client has gone. */
  settled = false;
  /** Stops the running call; set by whoever started one. */
  cancel: (() => void) | undefined;
  /** What the engine says the call took. */
  work: { micros: number; rows: number; visits: number } | undefined;
  /** The query that a request turned out to call, where its path does not say. */
  called: { query: string; writes: boolean } | undefined;
  bytesIn = 0;
  /** The head is sound and promises a body, whose end has not come. */
  bodyDue = false;
  /** What the receiver remembers between the head and the answer. */
  context: unknown;
  /** Of the answer, besides those that it is sent with. */
  headers: HeaderList = noHeaders;

  /** Whose share it counts to: the key's, else the address's. First asked for before the answer. */
  get holder(): string {
    this.#holder ??= this.keyId || (this.sourceOf?.(this) ?? sourceOf(this.peer()));
    return this.#holder;
  }

  /** The client's address as text; IPv4 in IPv6 is printed as IPv4. Only before the answer. */
  abstract peer(): string;

  /**
   * A call is under way: a client that has sent all it had is not taken for gone, because it may
   * well wait for the answer.
   */
  abstract keepAlive(): void;

  /** From now on a client that has stopped sending has gone. */
  abstract allowDisconnect(): void;

  /** More fields for the answer, whatever it will be. */
  addHeaders(list: HeaderList): void {
    this.headers = [...this.headers, ...list];
  }

  /**
   * Sends the answer; the request id, the fields added before and the length go with it. A HEAD
   * request gets the head only.
   */
  abstract send(
    status: string,
    headers: HeaderList,
    body: Uint8Array | string,
    close: boolean,
  ): void;

  /** Begins an answer without a length; stands for `send`. */
  abstract stream(status: string, headers: HeaderList): AnswerStream;
}

/**
 * Keeps one header; `name` in lower case. Of a repeated header the first counts, repeats of framing
 * headers are counted.
 */
export function keepHeader(exchange: Exchange, name: string, value: string): void {
  switch (name) {
    case 'host':
      exchange.hostCount++;
      exchange.host ||= value;
      return;
    case 'content-type':
      exchange.contentType ||= value;
      return;
    case 'content-length':
      exchange.contentLengthCount++;
      exchange.contentLength ||= value;
      return;
    case 'transfer-encoding':
      exchange.transferEncodingCount++;
      exchange.transferEncoding ||= value;
      return;
    case 'x-api-key':
      exchange.apiKey ||= value;
      return;
    case 'authorization':
      exchange.authorization ||= value;
      return;
    case 'origin':
      exchange.origin ||= value;
      return;
    case 'sec-fetch-site':
      exchange.fetchSite ||= value;
      return;
    case 'x-request-id':
      exchange.requestIdHeader ||= value;
      return;
    case 'x-request-timeout-ms':
      exchange.timeoutHeader ||= value;
      return;
    default:
      keepRareHeader(exchange, name, value);
  }
}

function keepRareHeader(exchange: Exchange, name: string, value: string): void {
  switch (name) {
    case 'accept':
      exchange.accept ||= value;
      return;
    case 'accept-encoding':
      exchange.acceptEncoding ||= value;
      return;
    case 'content-encoding':
      exchange.contentEncoding ||= value;
      return;
    case 'idempotency-key':
      exchange.idempotencyKey ??= value;
      return;
    case 'traceparent':
      exchange.traceparent ||= value;
      return;
    case 'mcp-protocol-version':
      exchange.mcpVersion ||= value;
      return;
    case 'mcp-method':
      exchange.mcpMethod ||= value;
      return;
    case 'mcp-name':
      exchange.mcpName ||= value;
      return;
    case 'if-none-match':
      exchange.ifNoneMatch ||= value;
      return;
    case 'x-trellis-access':
      exchange.accessHeader ||= value;
      return;
    case 'trellis-consistency':
      exchange.consistency ||= value;
      return;
    case 'trellis-after':
      exchange.after ||= value;
      return;
    case 'trellis-partial':
      exchange.partial ||= value;
      return;
    case 'trellis-tenant':
      exchange.tenant ||= value;
      return;
    case 'trellis-node':
      exchange.nodeProof ||= value;
      return;
    case 'trellis-passed-on':
      exchange.passedOn ||= value;
      return;
    case 'trellis-embeddings':
      exchange.embeddedBy ||= value;
      return;
    case 'x-forwarded-for':
      keepForwardedFor(exchange, value);
      return;
    case 'access-control-request-method':
      exchange.preflightMethod ||= value;
      return;
    default:
      if (name.startsWith('x-forwarded-') || fromProxies.has(name)) exchange.forwarded = true;
  }
}

/** Further fields by which proxies tell that they pass something on, or for whom. */
const fromProxies: ReadonlySet<string> = new Set([
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
  'x-envoy-external-address',
]);

/**
 * Lines of that name are one list (RFC 9110, 5.3), in their order: a client that sends a line of its own
 * must not hide the one that its proxy adds, before it or behind it.
 */
function keepForwardedFor(exchange: Exchange, value: string): void {
  const { forwardedFor } = exchange;
  exchange.forwardedFor = forwardedFor === '' ? value : `${forwardedFor}, ${value}`;
  // Who is named by nobody was passed on all the same.
  if (value === '') exchange.forwarded = true;
}

/** Whether the head promises a body. */
export function hasBody(exchange: Exchange): boolean {
  return (
    exchange.transferEncodingCount > 0 ||
    (exchange.contentLengthCount > 0 && exchange.contentLength !== '0')
  );
}
