// The transport on uWebSockets.js; no other file imports it. Facts it obeys are U01 to U14 of
// operations.md 11.3: the abort handler comes first, chunks are copied, late answers are corked,
// nothing thrown escapes a handler, ports are exclusive. Invariant: a response object is touched
// only until it was ended or its abort was heard.
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { printAddress, socketPeer } from './address.js';
import { type AnswerStream, Exchange, hasBody, keepHeader } from './exchange.js';
import { declaredLength, framingFault } from './framing.js';
import type { HeaderList } from './header-list.js';
import { okStatus } from './status-line.js';
import {
  clearSocket,
  failListening,
  openSocketTo,
  probeListening,
  removeSocket,
  socketPathOf,
} from './listening.js';
import { type Transport, type TransportOptions, freshCounts, guarded } from './transport.js';

type Uws = typeof import('uWebSockets.js');

declare module 'uWebSockets.js' {
  interface TemplatedApp {
    /** The declared types lack the form with host and options; U12 needs both. */
    listen(
      host: string,
      port: number,
      options: number,
      callback: (socket: us_listen_socket | false) => void,
    ): TemplatedApp;
  }
}

/** Larger answers are handed over piece by piece, as fast as the client reads. */
const wholeAnswerMax = 64 * 1024;
const receiveSweepMs = 250;

/**
 * The add-on that fits this Node, or undefined. UWS_HTTP_MAX_HEADERS_SIZE must be set before (U09).
 */
export async function loadUws(): Promise<Uws | undefined> {
  for (const name of ['uWebSockets.js', 'uWebSockets.js-next']) {
    try {
      const module = (await import(name)) as { default: Uws };
      return module.default;
    } catch {
      // Not built for this Node or C library: the next one may be.
    }
  }
  return undefined;
}

const bodiless = new Set(['GET', 'HEAD', 'OPTIONS']);

class UwsExchange extends Exchange {
  /** The response object is dead. */
  #gone = false;
  #paused = false;
  /** Whether a callback of uWS runs for it: then the socket is corked already. */
  #corked = false;
  /** The turn of the event loop in which its call began. */
  #heldTurn = 0;
  #chunks: Uint8Array[] | undefined;
  #unsent: Uint8Array | undefined;
  #unsentBytes = 0;
  #stream: AnswerStream | undefined;

  constructor(
    private readonly response: HttpResponse,
    private readonly transport: UwsTransport,
  ) {
    super();
  }

  peer(): string {
    if (this.transport.onSocket) return socketPeer;
    return this.settled ? '' : printAddress(new Uint8Array(this.response.getRemoteAddress()));
  }

  /**
   * Nothing is read from the client until the answer: the end of what it sends would close the
   * connection, answer or not. The timer that the pause takes away must not come back either, which
   * is what a handler of its own does when the socket reports itself writable.
   */
  hold(): void {
    if (this.settled) return;
    this.#paused = true;
    this.#heldTurn = this.transport.turn();
    this.response.onWritable(always);
    this.response.pause();
  }

  letGo(): void {
    if (!this.#paused || this.#gone) return;
    this.#paused = false;
    this.response.resume();
  }

  /** Runs what a callback of uWS brings about. */
  within(work: () => void): void {
    this.#corked = true;
    guarded(this.transport.options.receiver, this, work);
    this.#corked = false;
  }

  send(status: string, headers: HeaderList, body: Uint8Array | string, close: boolean): void {
    if (this.settled) return;
    this.settled = true;
    this.#releaseBody();
    const last = close || this.ends;
    if (this.#corked && !last) this.#write(status, headers, body, false);
    else if (this.#corked) this.later(() => this.#uncorked(status, headers, body, true));
    else this.#uncorked(status, headers, body, last);
  }

  #uncorked(status: string, headers: HeaderList, body: Uint8Array | string, close: boolean): void {
    this.response.cork(() => {
      this.letGo();
      this.#write(status, headers, body, close);
    });
  }

  /**
   * Outside of the parser, unless the connection has ended until then. What follows in the bytes at
   * hand is parsed before: as long as this exchange is not answered, a further head ends the
   * connection, so that nothing is ever read behind a body whose end is in doubt.
   */
  later(work: () => void): void {
    setImmediate(() => {
      if (!this.#gone) work();
    });
  }

  /**
   * Whether the connection ends with this exchange, whatever the answer. A field without a name hides
   * the fields behind it from the parser, and nobody hears of it: where a body is usual and no length
   * was seen there may be one. Methods without bodies keep their connections, which health checks and
   * browsers live on.
   */
  get ends(): boolean {
    if (this.transferEncodingCount > 0) return true;
    return this.contentLengthCount === 0 && !bodiless.has(this.method);
  }

  #writeHead(status: string, headers: HeaderList): void {
    const { response } = this;
    if (status !== okStatus) response.writeStatus(status);
    for (const [name, value] of headers) response.writeHeader(name, value);
    response.writeHeader('X-Request-Id', this.requestId);
    for (const [name, value] of this.headers) response.writeHeader(name, value);
  }

  stream(status: string, headers: HeaderList): AnswerStream {
    const { response, transport } = this;
    this.settled = true;
    this.#releaseBody();
    let isFull = false;
    const stream: AnswerStream = {
      write: (text) => {
        if (this.#gone) return;
        if (isFull) {
          transport.counts.nonReadersClosed++;
          this.drop();
          return;
        }
        response.cork(() => {
          isFull = !response.write(text);
        });
      },
      end: () => {
        if (this.#gone) return;
        this.#gone = true;
        response.cork(() => response.end('', this.ends));
      },
      onGone: undefined,
    };
    this.#stream = stream;
    response.cork(() => {
      this.letGo();
      this.#writeHead(status, headers);
      response.onWritable(() => {
        isFull = false;
        return true;
      });
    });
    return stream;
  }

  #write(status: string, headers: HeaderList, body: Uint8Array | string, close: boolean): void {
    const { response } = this;
    this.#writeHead(status, headers);
    if (this.method === 'HEAD' && !close) {
      // Any argument of endWithoutBody would make it announce another length (U10).
      response.writeHeader('Content-Length', String(Buffer.byteLength(body)));
      response.endWithoutBody();
    } else if (this.method === 'HEAD') {
      // No length of a body that does not come matters to the last answer of a connection.
      response.end('', true);
    } else if (body.length <= wholeAnswerMax || close || typeof body === 'string') {
      response.end(body, close);
    } else this.#writeLarge(body);
  }

  #writeLarge(body: Uint8Array): void {
    const { response, transport } = this;
    const [, done] = response.tryEnd(body, body.length);
    if (done) return;
    this.#unsent = body;
    this.#keepUnsent(body.length - response.getWriteOffset());
    response.onWritable((offset) => {
      const [ok, finished] = response.tryEnd(body.subarray(offset), body.length);
      if (finished) this.#releaseUnsent();
      else this.#keepUnsent(body.length - response.getWriteOffset());
      return ok;
    });
    transport.closeNonReaders();
  }

  /** Notes how much the client has yet to read; whoever reads moves to the end of the line. */
  #keepUnsent(bytes: number): void {
    const { transport } = this;
    transport.counts.bufferedResponseBytes += bytes - this.#unsentBytes;
    this.#unsentBytes = bytes;
    transport.slow.delete(this);
    transport.slow.add(this);
  }

  #releaseUnsent(): void {
    if (this.#unsent === undefined) return;
    this.#unsent = undefined;
    this.transport.counts.bufferedResponseBytes -= this.#unsentBytes;
    this.transport.slow.delete(this);
  }

  /** Ends the connection without an answer. */
  drop(): void {
    this.response.close();
  }

  aborted(): void {
    const { transport } = this;
    this.#gone = true;
    this.#releaseUnsent();
    this.#releaseBody();
    this.#stream?.onGone?.();
    if (this.settled) return;
    this.settled = true;
    transport.counts.aborted++;
    // What is heard in the turn in which the call began was read with its request: not the end of
    // the stream, but another request behind it, for which uWS has no place.
    if (this.#paused && transport.turn() === this.#heldTurn) transport.counts.pipelinedClosed++;
    transport.options.receiver.gone(this);
  }

  #releaseBody(): void {
    if (this.#chunks === undefined) return;
    this.transport.counts.bufferedBodyBytes -= this.bytesIn;
    this.transport.receiving.delete(this);
    this.#chunks = undefined;
  }

  /** Takes a piece of the body; its memory is only valid now. */
  take(chunk: ArrayBuffer, last: boolean): void {
    const { transport } = this;
    const { receiver, limits } = transport.options;
    this.bytesIn += chunk.byteLength;
    if (this.bytesIn > limits.body_bytes) {
      transport.counts.bodiesTooLarge++;
      this.bytesIn -= chunk.byteLength;
      receiver.refuse(this, { code: 'BODY_TOO_LARGE', args: { max: limits.body_bytes } });
      return;
    }
    // Small copies share pooled memory: an ArrayBuffer of its own costs more than the copy.
    const piece = Buffer.from(new Uint8Array(chunk));
    if (last && this.#chunks === undefined) {
      this.#complete(piece);
      return;
    }
    this.#keepPiece(piece);
    if (this.settled || !last) return;
    const body = Buffer.concat(this.#chunks!);
    this.#releaseBody();
    this.#complete(body);
  }

  /**
   * A chunked body is carried out once nothing else was found behind it: the parser takes sizes
   * with extensions, bare line feeds and trailers for other bytes than RFC 9112 does.
   */
  #complete(body: Uint8Array): void {
    const { receiver } = this.transport.options;
    if (!this.ends) {
      receiver.complete(this, body);
      return;
    }
    this.later(() => {
      if (!this.settled) guarded(receiver, this, () => receiver.complete(this, body));
    });
  }

  #keepPiece(piece: Uint8Array): void {
    const { transport } = this;
    if (this.#chunks === undefined) {
      this.#chunks = [];
      transport.receiving.add(this);
      transport.counts.bufferedBodyBytes += this.bytesIn - piece.length;
    }
    this.#chunks.push(piece);
    transport.counts.bufferedBodyBytes += piece.length;
    const { limits, receiver } = transport.options;
    if (transport.counts.bufferedBodyBytes > limits.buffered_body_bytes) {
      receiver.refuse(this, { code: 'OVERLOADED', args: { queue: 'The body buffer' } });
    }
  }
}

class UwsTransport implements Transport {
  readonly name = 'uws';
  /** Whether clients come through a socket in the file system: then they have no address. */
  onSocket = false;
  #socketAddress: string | undefined;
  readonly counts = freshCounts();
  /** Bodies that came in more than one piece and are not complete, for the receive deadline. */
  readonly receiving = new Set<UwsExchange>();
  /** Answers not read yet, the longest idle first. */
  readonly slow = new Set<UwsExchange>();
  readonly #app: TemplatedApp;
  readonly #sockets: us_listen_socket[] = [];
  readonly #sweep: NodeJS.Timeout;
  #turn = 0;
  #turnEnd: NodeJS.Immediate | undefined;

  constructor(
    private readonly uws: Uws,
    readonly options: TransportOptions,
  ) {
    const { tls } = options;
    this.#app = tls ? uws.SSLApp({ cert_file_name: tls.cert, key_file_name: tls.key }) : uws.App();
    this.#app.filter((response, change) => this.#countConnection(response, Number(change)));
    this.#app.any('/*', (response, request) => {
      this.#onRequest(response, request);
    });
    this.#sweep = setInterval(() => this.#dropSlowSenders(), receiveSweepMs);
    this.#sweep.unref();
  }

  /** The number of this turn of the event loop; one timer serves all who ask in it. */
  turn(): number {
    this.#turnEnd ??= setImmediate(() => {
      this.#turnEnd = undefined;
      this.#turn++;
    });
    return this.#turn;
  }

  #countConnection(response: HttpResponse, change: number): void {
    const { counts, options } = this;
    counts.connections += change < 0 ? -1 : 1;
    if (change < 0 || counts.connections <= options.limits.connections) return;
    counts.connectionsRefused++;
    response.close();
  }

  #onRequest(response: HttpResponse, request: HttpRequest): void {
    const exchange = new UwsExchange(response, this);
    response.onAborted(() => exchange.aborted());
    const { receiver } = this.options;
    exchange.within(() => {
      readHead(exchange, request);
      const fault = framingFault(exchange);
      if (fault !== undefined) {
        receiver.refuse(exchange, { code: 'BAD_FRAMING', args: { what: fault } });
      } else if (receiver.open(exchange) && !exchange.settled) this.#readBody(exchange, response);
    });
  }

  #readBody(exchange: UwsExchange, response: HttpResponse): void {
    const { receiver, limits } = this.options;
    if (!hasBody(exchange)) {
      receiver.complete(exchange, emptyBody);
      return;
    }
    if (declaredLength(exchange) > limits.body_bytes) {
      this.counts.bodiesTooLarge++;
      receiver.refuse(exchange, { code: 'BODY_TOO_LARGE', args: { max: limits.body_bytes } });
      return;
    }
    response.onData((chunk, last) => {
      if (!exchange.settled) exchange.within(() => exchange.take(chunk, last));
    });
  }

  #dropSlowSenders(): void {
    const latest = performance.now() - this.options.limits.receive_time;
    for (const exchange of this.receiving) {
      if (exchange.startedAt > latest) continue;
      this.counts.receiveTimeouts++;
      exchange.drop();
    }
  }

  closeNonReaders(): void {
    for (const exchange of this.slow) {
      if (this.counts.bufferedResponseBytes <= this.options.limits.buffered_response_bytes) return;
      this.counts.nonReadersClosed++;
      exchange.drop();
    }
  }

  async listen(addresses: readonly string[], port: number): Promise<number> {
    if (socketPathOf(addresses[0]!) !== undefined) return this.#listenOnSocket(addresses[0]!);
    for (let attempt = 0; ; attempt++) {
      const bound = this.#bindAll(addresses, port);
      if (typeof bound === 'number') return bound;
      const errno = await probeListening({ host: bound.refused, port: bound.port });
      // A free port of the first address may be taken on the second: try another. What the system
      // gives to a probe was taken only for a moment.
      const again = (port === 0 && errno === 'EADDRINUSE') || errno === undefined;
      if (!again || attempt === 16) failListening(bound.refused, bound.port, errno ?? 'EADDRINUSE');
    }
  }

  async #listenOnSocket(address: string): Promise<number> {
    await clearSocket(address);
    let bound = false;
    const path = socketPathOf(address)!;
    this.#app.listen_unix((socket) => {
      bound = Boolean(socket);
      if (bound) this.#sockets.push(socket);
    }, path);
    if (!bound) failListening(address, 0, await probeListening({ path }));
    openSocketTo(address);
    this.onSocket = true;
    this.#socketAddress = address;
    return 0;
  }

  #bindAll(addresses: readonly string[], port: number): number | { refused: string; port: number } {
    for (const address of addresses) {
      const socket = this.#bind(address, port);
      if (socket === undefined) {
        this.stopListening();
        return { refused: address, port };
      }
      this.#sockets.push(socket);
      port = this.uws.us_socket_local_port(socket);
    }
    return port;
  }

  #bind(address: string, port: number): us_listen_socket | undefined {
    let socket: us_listen_socket | false = false;
    this.#app.listen(address, port, exclusivePort, (result) => {
      socket = result;
    });
    return socket === false ? undefined : socket;
  }

  stopListening(): void {
    for (const socket of this.#sockets) this.uws.us_listen_socket_close(socket);
    this.#sockets.length = 0;
    if (this.#socketAddress !== undefined) removeSocket(this.#socketAddress);
    this.#socketAddress = undefined;
  }

  close(): void {
    clearInterval(this.#sweep);
    this.#sockets.length = 0;
    if (this.#socketAddress !== undefined) removeSocket(this.#socketAddress);
    this.#app.close();
  }

  renewTls(): boolean {
    return false;
  }
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT. */
const exclusivePort = 1;
const emptyBody = new Uint8Array(0);
const always = (): boolean => true;

function readHead(exchange: Exchange, request: HttpRequest): void {
  exchange.startedAt = performance.now();
  exchange.method = request.getCaseSensitiveMethod();
  exchange.path = request.getUrl();
  exchange.query = request.getQuery() ?? '';
  request.forEach((name, value) => {
    keepHeader(exchange, name, value);
  });
}

export function openUwsTransport(uws: Uws, options: TransportOptions): Transport {
  return new UwsTransport(uws, options);
}
