// One request and the only way to answer it. The transports create exchanges; all other code sees only this
// class. An exchange keeps only the header fields that the server uses, and drops the others. Invariant:
// after `settled` nothing is sent, and `send` or `stream` is called at most once.
import type { ClusterPosition, ShardReading } from '../../engine/internal.js';
import { sourceOf } from './address.js';
import { type HeaderList, noHeaders } from './header-list.js';

/** An answer that is sent in pieces, without a known end. */
export interface AnswerStream {
  /**
   * Sends a piece. Closes the connection if the client has not read the pieces before it. Late pieces are
   * useless, so the server does not buffer them for a slow client.
   */
  write(text: string): void;
  end(): void;
  /** Called once when the client has disconnected; never called after `end`. */
  onGone: (() => void) | undefined;
}

/** What the server keeps of a request's head. An absent header is the empty text. */
export abstract class Exchange {
  method = '';
  /** Path as the client sent it: not decoded, without the query string. */
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
  /** Undefined if the header is absent, which differs from an empty header. */
  idempotencyKey: string | undefined;
  traceparent = '';
  forwardedFor = '';
  /** MCP headers: an MCP client repeats parts of its request here. */
  mcpVersion = '';
  mcpMethod = '';
  mcpName = '';
  /** Entity tags of the documents that the client has cached. */
  ifNoneMatch = '';
  /** With `read` a caller gives up the right to write, for this request. */
  accessHeader = '';
  /**
   * How fresh the answer must be, and the position that the node must have reached
   * (cluster/forward/consistency.ts).
   */
  consistency = '';
  after = '';
  /** Name of the database, on a server with several databases. */
  tenant = '';
  /** With `allow` the client accepts an answer in which some shards are missing. */
  partial = '';
  /** Set if another node of the cluster forwarded this request. */
  passedOn = '';
  /** Bytes of embeddings at the end of the body, and the proof of the node that computed them. */
  embeddedBy = '';
  /** Embeddings that another node computed for this call. */
  embeddings: Uint8Array | undefined;
  /** Position of the node that answered instead of this one. */
  answeredAt: ClusterPosition | undefined;
  /** Required freshness of the shards of a scattered type, and the positions of the shards that answered. */
  shards: ShardReading | undefined;
  shardsAt: Map<string, ClusterPosition> | undefined;
  /** Proof that the sender is a node of the cluster (cluster/node-auth.ts). */
  nodeProof = '';
  /** Whether a header other than an address shows that a proxy forwarded this request. */
  forwarded = false;

  requestId = '';
  /** Which rate limits have counted this request: 1 for its address, 2 for its key as well. */
  rated = 0;
  /** Result of the authentication; undefined before it ran (auth/authenticator.ts). */
  judged: unknown;
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
  /** State of the receiver between head and answer. */
  context: unknown;
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

/**
 * Stores one header field; `name` is in lower case. The first value of a repeated field wins. Framing fields
 * are also counted, because a repeat is an error.
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

/** Further fields by which a proxy shows that it forwards a request, or for whom. */
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
 * Joins repeated lines into one list, in their order (RFC 9110, 5.3). A client that sends its own line must
 * not hide the line that its proxy adds.
 */
function keepForwardedFor(exchange: Exchange, value: string): void {
  const { forwardedFor } = exchange;
  exchange.forwardedFor = forwardedFor === '' ? value : `${forwardedFor}, ${value}`;
  // An empty value names no client, but a proxy forwarded the request.
  if (value === '') exchange.forwarded = true;
}

/** Whether the head announces a body. */
export function hasBody(exchange: Exchange): boolean {
  return (
    exchange.transferEncodingCount > 0 ||
    (exchange.contentLengthCount > 0 && exchange.contentLength !== '0')
  );
}
