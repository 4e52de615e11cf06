// Implements the transport on node:http, with the exchanges, limits and answers of uws-transport.ts. It is
// slower. It serves machines where uWebSockets.js does not load, and clients that pipeline slow calls.
import { readFileSync } from 'node:fs';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { Server as TlsServer, createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TrellisError } from '../../engine/internal.js';
import { plainAddress, socketPeer } from './address.js';
import { ByteShares, type Holding, longBytes } from './byte-shares.js';
import { CountedConnections } from './connection-share.js';
import { type AnswerStream, Exchange, hasBody } from './exchange.js';
import { declaredLength, framingError } from './framing.js';
import type { HeaderList } from './header-list.js';
import { framingRefusal, headersTooLargeRefusal } from './http-error.js';
import { LingeringClose } from './lingering-close.js';
import { clearSocket, failListening, openSocketTo, socketPathOf } from './listen-socket.js';
import { SlowClientPolicy, type SlowClients } from './share-room.js';
import { suites } from './tls-suites.js';
import {
  type Transport,
  type TransportCounts,
  type TransportOptions,
  freshCounts,
  guarded,
} from './transport.js';

/** Heads with more header lines than this are refused, as by uWebSockets.js. */
const headerLinesMax = 98;
const headTimeMs = 11_000;
const tlsRules = { minVersion: 'TLSv1.2', ciphers: suites, honorCipherOrder: true } as const;
const sweepMs = 500;
/** After bytes that are not a request, the socket is destroyed after this many milliseconds. */
const refusedMs = 1000;

class NodeExchange extends Exchange {
  #chunks: Buffer[] = [];
  #buffered = 0;
  #unsentBytes = 0;
  /** Bytes of the body and of the answer that count to the share of the caller. */
  heldBody: Holding | undefined;
  heldAnswer: Holding | undefined;
  #onEnd: (() => void) | undefined;
  #stream: AnswerStream | undefined;
  /** Set while the answer waits for the end of the body. */
  #linger: LingeringClose | undefined;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly transport: NodeTransport,
  ) {
    super();
    this.startedAt = performance.now();
    this.method = request.method ?? '';
    const url = request.url ?? '';
    const mark = url.indexOf('?');
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? '' : url.slice(mark + 1);
    const { rawHeaders } = request;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      this.keepHeader(rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!);
    }
  }

  peer(): string {
    if (this.transport.onSocket) return socketPeer;
    return plainAddress(this.request.socket.remoteAddress ?? '');
  }

  send(status: string, headers: HeaderList, body: Uint8Array | string, close: boolean): void {
    if (this.settled) return;
    this.settled = true;
    this.#releaseBody();
    const send = (): void => this.#send(status, headers, body, close);
    if (close && this.bodyDue && !this.request.complete) this.#part(send);
    else send();
  }

  #part(send: () => void): void {
    const { request } = this;
    this.transport.closing.add(request.socket);
    const linger = new LingeringClose(send);
    this.#linger = linger;
    request.on('data', () => linger.received(false));
    request.once('end', () => linger.received(true));
  }

  #send(status: string, headers: HeaderList, body: Uint8Array | string, close: boolean): void {
    const { response } = this;
    response.setHeader('Content-Length', Buffer.byteLength(body));
    this.#writeHead(status, headers, close);
    if (this.method === 'HEAD') response.end();
    else {
      this.#keepUnsent(body.length);
      response.end(body);
    }
  }

  #writeHead(status: string, headers: HeaderList, close: boolean): void {
    const { response } = this;
    for (const [name, value] of headers) response.setHeader(name, value);
    response.setHeader('X-Request-Id', this.requestId);
    for (const [name, value] of this.headers) response.setHeader(name, value);
    if (close || this.#ends) {
      response.setHeader('Connection', 'close');
      this.transport.closing.add(this.request.socket);
    }
    response.writeHead(Number(status.slice(0, 3)), status.slice(4));
  }

  stream(status: string, headers: HeaderList): AnswerStream {
    const { response, transport } = this;
    let isFull = false;
    const stream: AnswerStream = {
      write: (text) => {
        if (isFull) {
          transport.counts.nonReadersClosed++;
          this.drop();
        } else isFull = !response.write(text);
      },
      end: () => {
        this.#stream = undefined;
        response.end();
      },
      onDisconnect: undefined,
    };
    this.settled = true;
    this.#releaseBody();
    this.#stream = stream;
    this.allowDisconnect();
    response.on('drain', () => {
      isFull = false;
    });
    this.#writeHead(status, headers, false);
    response.flushHeaders();
    return stream;
  }

  #keepUnsent(bytes: number): void {
    const { transport } = this;
    this.#unsentBytes = bytes;
    if (bytes > longBytes) {
      this.heldAnswer = transport.shares.holding('answers', this);
      this.heldAnswer.hold(bytes);
    }
    transport.counts.bufferedResponseBytes += bytes;
    transport.unread.add(this);
    transport.slowClients.closeNonReaders();
  }

  releaseUnsent(): void {
    this.transport.counts.bufferedResponseBytes -= this.#unsentBytes;
    this.#unsentBytes = 0;
    this.heldAnswer?.release();
    this.transport.unread.delete(this);
  }

  /** Drops the connection of a client that does not read. */
  close(): void {
    this.transport.counts.nonReadersClosed++;
    this.drop();
    this.releaseUnsent();
  }

  /**
   * Whether the connection ends with this answer. Node's parser stops at an Upgrade header and loses the
   * bytes that follow.
   */
  get #ends(): boolean {
    return this.request.headers.upgrade !== undefined;
  }

  drop(): void {
    this.request.socket.destroy();
  }

  /** Does nothing: Node keeps a half-closed connection open. */
  keepAlive(): void {}

  allowDisconnect(): void {
    const { socket } = this.request;
    if (this.#onEnd !== undefined) return;
    this.#onEnd = () => this.drop();
    if (socket.readableEnded) this.#onEnd();
    else socket.once('end', this.#onEnd);
  }

  closed(): void {
    const { transport } = this;
    this.#linger?.stop();
    if (this.#onEnd !== undefined) this.request.socket.off('end', this.#onEnd);
    this.releaseUnsent();
    this.#releaseBody();
    this.#stream?.onDisconnect?.();
    this.#stream = undefined;
    if (this.settled) return;
    this.settled = true;
    transport.counts.aborted++;
    transport.options.receiver.disconnected(this);
  }

  #releaseBody(): void {
    this.transport.counts.bufferedBodyBytes -= this.#buffered;
    this.#buffered = 0;
    this.#chunks = [];
    this.heldBody?.release();
    this.transport.receiving.delete(this);
  }

  readBody(): void {
    const { receiver } = this.transport.options;
    const length = declaredLength(this);
    // A long body counts to its caller before any of it is read.
    if (length > longBytes && !this.transport.slowClients.holdBody(this, length)) return;
    this.request.on('data', (chunk: Buffer) => {
      if (!this.settled) guarded(receiver, this, () => this.#take(chunk));
    });
    this.request.on('end', () => {
      if (!this.settled) guarded(receiver, this, () => this.#complete());
    });
  }

  #complete(): void {
    const body = Buffer.concat(this.#chunks);
    this.#releaseBody();
    this.transport.options.receiver.complete(this, body);
  }

  #take(chunk: Buffer): void {
    const { counts, options } = this.transport;
    const { receiver, limits } = options;
    if (this.bytesIn + chunk.length > limits.body_bytes) {
      counts.bodiesTooLarge++;
      receiver.refuse(this, { code: 'BODY_TOO_LARGE', args: { max: limits.body_bytes } });
      return;
    }
    this.bytesIn += chunk.length;
    const length = declaredLength(this);
    // A body that arrives in one piece is not buffered, so it does not count.
    if (this.#buffered > 0 || this.bytesIn !== length) {
      const bytes = Math.max(this.bytesIn, length);
      if (!this.transport.slowClients.holdBody(this, bytes)) return;
      this.transport.receiving.add(this);
    }
    this.#buffered += chunk.length;
    counts.bufferedBodyBytes += chunk.length;
    this.#chunks.push(chunk);
    this.transport.slowClients.boundBodies(this);
  }
}

class NodeTransport implements Transport, SlowClients {
  readonly name = 'node';
  readonly counts = freshCounts();
  /** Exchanges whose answers are not yet in the kernel, the oldest first. */
  readonly unread = new Set<NodeExchange>();
  /** Exchanges whose bodies are not complete, the latest last. */
  readonly receiving = new Set<NodeExchange>();
  readonly shares: ByteShares;
  readonly slowClients = new SlowClientPolicy(this);
  /** Sockets whose last answer is being sent. */
  readonly closing = new WeakSet<Socket>();
  /** Whether clients connect through a Unix socket. Such clients have no address. */
  onSocket = false;
  readonly #servers: Server[] = [];
  readonly #counted: CountedConnections;

  constructor(readonly options: TransportOptions) {
    this.shares = new ByteShares(options);
    this.#counted = new CountedConnections(options.limits.connections_per_address);
  }

  #createServer(): Server {
    const { limits, idleMs, tls } = this.options;
    const headMs = Math.min(headTimeMs, limits.receive_time);
    const settings = {
      keepAliveTimeout: idleMs,
      headersTimeout: headMs,
      requestTimeout: limits.receive_time,
      connectionsCheckingInterval: sweepMs,
      maxHeaderSize: limits.header_bytes,
      noDelay: true,
      // framingFault checks Host with the rest of the head, so the refusal is an answer of this server.
      requireHostHeader: false,
    };
    const onRequest = (request: IncomingMessage, response: ServerResponse): void =>
      this.#onRequest(request, response);
    const server = tls
      ? createTlsServer(
          { ...settings, ...readTls(tls), ...tlsRules, handshakeTimeout: headMs },
          onRequest,
        )
      : createServer(settings, onRequest);
    server.maxHeadersCount = headerLinesMax + 2;
    // A client may end its stream and then wait for the answer. (The types lack this option.)
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      // After an unsent answer, Node would send "100 Continue" into the middle of the next answer.
      if (response.socket !== null && !this.closing.has(request.socket)) response.writeContinue();
      this.#onRequest(request, response);
    });
    server.on('checkExpectation', onRequest);
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      // The bytes after refused ones fail again. The first answer must still be sent.
      if (this.closing.has(socket)) return;
      this.closing.add(socket);
      refuseRaw(error, socket);
    });
    server.on('connection', (socket: Socket) => this.#onConnection(socket));
    return server;
  }

  #onConnection(socket: Socket): void {
    const address = this.onSocket ? socketPeer : plainAddress(socket.remoteAddress ?? '');
    const isShare = this.#counted.begin(address);
    if (++this.counts.connections > this.options.limits.connections) {
      this.counts.connectionsRefused++;
      socket.destroy();
    } else if (!isShare) {
      this.counts.sharesRefused++;
      socket.destroy();
    }
    socket.on('close', () => {
      this.counts.connections--;
      this.#counted.end(address);
    });
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    // After an answer that ends the connection, no request runs (RFC 9112, 9.6). After a framing error, these
    // bytes may be a request or the body of an earlier one.
    if (this.closing.has(request.socket)) {
      request.resume();
      return;
    }
    const exchange = new NodeExchange(request, response, this);
    const { receiver, limits } = this.options;
    response.on('close', () => exchange.closed());
    response.on('finish', () => exchange.releaseUnsent());
    guarded(receiver, exchange, () => {
      if (request.httpVersion === '1.0') nameHost(exchange, request.socket);
      const framing = headError(request) ?? framingError(exchange);
      if (framing !== undefined) {
        return receiver.refuse(exchange, { code: 'BAD_FRAMING', args: { what: framing } });
      }
      exchange.bodyDue = hasBody(exchange);
      if (!receiver.open(exchange) || exchange.settled) {
        request.resume();
        return;
      }
      if (declaredLength(exchange) > limits.body_bytes) {
        this.counts.bodiesTooLarge++;
        const error = { code: 'BODY_TOO_LARGE', args: { max: limits.body_bytes } } as const;
        return receiver.refuse(exchange, error);
      }
      const refusal = this.shares.refusalOfCall(exchange);
      if (refusal !== undefined) receiver.refuse(exchange, refusal);
      else if (exchange.bodyDue) exchange.readBody();
      else receiver.complete(exchange, new Uint8Array(0));
    });
  }

  total(name: keyof TransportCounts): number {
    return this.counts[name];
  }

  async listen(addresses: readonly string[], port: number): Promise<number> {
    for (let attempt = 0; ; attempt++) {
      try {
        let bound = port;
        for (const address of addresses) bound = await this.#bind(address, bound);
        return bound;
      } catch (error) {
        this.stopListening();
        const taken = error instanceof TrellisError && error.data.code === 'PORT_IN_USE';
        if (port !== 0 || attempt === 16 || !taken) throw error;
      }
    }
  }

  async #bind(address: string, port: number): Promise<number> {
    const path = socketPathOf(address);
    if (path !== undefined) await clearSocket(address);
    const server = this.#createServer();
    const errno = await new Promise<string | undefined>((resolve) => {
      server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'UNKNOWN'));
      const listener = path === undefined ? { host: address, port } : { path };
      server.listen({ ...listener, exclusive: true }, () => resolve(undefined));
    });
    if (errno !== undefined) failListening(address, port, errno);
    this.#servers.push(server);
    if (path === undefined) return (server.address() as AddressInfo).port;
    openSocketTo(address);
    this.onSocket = true;
    return 0;
  }

  stopListening(): void {
    for (const server of this.#servers) server.close();
  }

  close(): void {
    this.stopListening();
    for (const server of this.#servers) server.closeAllConnections();
  }

  renewTls(): boolean {
    const { tls } = this.options;
    if (tls === undefined) return false;
    for (const server of this.#servers) {
      // Options that are not repeated return to Node's defaults.
      const context = { ...readTls(tls), ...tlsRules };
      if (server instanceof TlsServer) server.setSecureContext(context);
    }
    return true;
  }
}

function readTls(tls: { cert: string; key: string }): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(tls.cert), key: readFileSync(tls.key) };
}

/**
 * HTTP/1.0 requires no Host, so the server uses the address that the client reached. No browser sends
 * HTTP/1.0.
 */
function nameHost(exchange: Exchange, { localAddress = 'localhost' }: Socket): void {
  if (exchange.hostCount > 0) return;
  exchange.hostCount = 1;
  exchange.host = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
}

function headError(request: IncomingMessage): string | undefined {
  const { httpVersion, headers } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'only HTTP/1 is spoken here';
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) {
    return 'HTTP/1.0 has no Transfer-Encoding';
  }
  if (request.rawHeaders.length / 2 > headerLinesMax) return 'there are too many headers';
  return undefined;
}

/** Answers bytes that node:http could not parse, and ends the connection. */
function refuseRaw(error: NodeJS.ErrnoException, socket: Socket): void {
  if (
    !socket.writable ||
    error.code === 'ECONNRESET' ||
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ||
    // Without a finished handshake there is no key to encrypt an answer with.
    error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT'
  ) {
    socket.destroy();
    return;
  }
  const large = error.code === 'HPE_HEADER_OVERFLOW';
  socket.end(large ? headersTooLargeRefusal : framingRefusal('it is not HTTP/1.1'));
  // A close with unread bytes would destroy the answer before the client reads it.
  setTimeout(() => socket.destroy(), refusedMs).unref();
}

export function openNodeTransport(options: TransportOptions): Transport {
  return new NodeTransport(options);
}
