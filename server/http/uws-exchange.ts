// One request on uWebSockets.js and its answer; uws-transport.ts creates it. Three rules of the library
// apply: received chunks are copied, an answer outside a callback is corked, and no exception leaves a
// handler. Invariant: a response object is used only until it has ended or its abort handler has run.
import { printAddress, socketPeer } from './address.js';
import { type Holding, longBytes } from './byte-shares.js';
import { type AnswerStream, Exchange } from './exchange.js';
import { declaredLength } from './framing.js';
import { type HeaderList, okStatus } from './header-list.js';
import { LingeringClose } from './lingering-close.js';
import type { SlowClientPolicy, SlowClients } from './share-room.js';
import type { SoleAddress } from './sole-address.js';
import { type TransportCounts, type TransportOptions, guarded } from './transport.js';
import type { UwsResponse } from './native/uws-add-on.js';

/** Larger answers are sent in pieces, as fast as the client reads. */
const wholeAnswerMax = 64 * 1024;

/** State that the exchanges of one transport share. */
export interface UwsTransportState extends SlowClients {
  readonly options: TransportOptions;
  /** Whether clients connect through a Unix socket. Such clients have no address. */
  readonly onSocket: boolean;
  readonly counts: TransportCounts;
  /**
   * Exchanges whose bodies came in more than one piece and are not complete. The receive timeout applies to
   * them.
   */
  readonly receiving: Set<UwsExchange>;
  /** Exchanges with unread answers, the longest idle first. */
  readonly unread: Set<UwsExchange>;
  /** Streams, and running calls whose clients are read from. `renew` keeps them from the idle timeout. */
  readonly watched: Set<UwsExchange>;
  /** Spares reading the address of the connection for each request. */
  readonly soleAddress: SoleAddress;
  /** Number of the current turn of the event loop. */
  turn(): number;
  readonly slowClients: SlowClientPolicy;
}

/**
 * uWebSockets.js closes a connection that it reads from after 8 to 12 seconds of silence. The renewal is well
 * before.
 */
const renewMs = 4_000;

const bodiless = new Set(['GET', 'HEAD', 'OPTIONS']);

export class UwsExchange extends Exchange {
  /** Whether the response object is invalid. */
  #isClosed = false;
  #paused = false;
  #peer: string | undefined;
  /** Whether a callback of uWebSockets.js runs for this exchange; the socket is then corked already. */
  #corked = false;
  /** Turn of the event loop in which the call began. */
  #heldTurn = 0;
  /** Last restart of the connection's timer, in milliseconds of performance.now(). */
  #renewedAt = 0;
  #chunks: Uint8Array[] | undefined;
  #unsentBytes = 0;
  /** Bytes of the body and of the answer that count to the share of the caller. */
  heldBody: Holding | undefined;
  heldAnswer: Holding | undefined;
  #stream: AnswerStream | undefined;
  /** Set while the answer waits for the end of the body. */
  #linger: LingeringClose | undefined;

  constructor(
    private readonly response: UwsResponse,
    private readonly transport: UwsTransportState,
  ) {
    super();
  }

  peer(): string {
    if (this.transport.onSocket) return socketPeer;
    if (this.settled) return '';
    this.#peer ??=
      this.transport.soleAddress.value ??
      printAddress(new Uint8Array(this.response.getRemoteAddress()));
    return this.#peer;
  }

  /**
   * Reads nothing from the client until the answer, because the end of its stream would close the connection
   * before the answer. The pause also stops the idle timer. Without the writable handler, the timer
   * would restart when the socket becomes writable.
   */
  keepAlive(): void {
    if (this.settled) return;
    this.#paused = true;
    this.#heldTurn = this.transport.turn();
    this.response.onWritable(always);
    this.response.pause();
  }

  allowDisconnect(): void {
    if (this.settled || this.transport.watched.has(this)) return;
    this.#resume();
    this.#renewedAt = performance.now();
    this.transport.watched.add(this);
  }

  /**
   * Restarts the idle timer by a pause: a client that waits for an answer, or for more of it, sends nothing.
   */
  renew(): void {
    if (performance.now() - this.#renewedAt < renewMs) return;
    this.#renewedAt = performance.now();
    this.response.pause();
    this.response.resume();
  }

  #resume(): void {
    if (!this.#paused || this.#isClosed) return;
    this.#paused = false;
    this.response.resume();
  }

  /** Runs the work of a callback of uWebSockets.js. */
  within(work: () => void): void {
    this.#corked = true;
    guarded(this.transport.options.receiver, this, work);
    this.#corked = false;
  }

  send(status: string, headers: HeaderList, body: Uint8Array | string, close: boolean): void {
    if (this.settled) return;
    // The address of the caller is readable only before the answer is sent.
    if (body.length > wholeAnswerMax)
      this.heldAnswer = this.transport.shares.holding('answers', this);
    this.#settle();
    const last = close || this.ends;
    if (last && this.bodyDue) this.#part(() => this.#uncorked(status, headers, body, true));
    else if (this.#corked && !last) this.#write(status, headers, body, false);
    else if (this.#corked) this.later(() => this.#uncorked(status, headers, body, true));
    else this.#uncorked(status, headers, body, last);
  }

  #part(send: () => void): void {
    this.#linger = new LingeringClose(() => {
      this.#linger = undefined;
      this.later(send);
    });
  }

  /** Whether bytes of the body still matter, even if only for their end. */
  get listens(): boolean {
    return !this.settled || this.#linger !== undefined;
  }

  #uncorked(status: string, headers: HeaderList, body: Uint8Array | string, close: boolean): void {
    this.response.cork(() => {
      this.#resume();
      this.#write(status, headers, body, close);
    });
  }

  /**
   * Runs the work outside the parser, unless the connection has ended by then. The parser first reads the
   * bytes that have already arrived. Until this exchange is answered, another head ends the connection. So no
   * request is read after a body whose end is in doubt.
   */
  later(work: () => void): void {
    setImmediate(() => {
      if (!this.#isClosed) work();
    });
  }

  /**
   * Whether the connection ends with this exchange, whatever the answer is. A header field without a name
   * hides the fields after it from the parser, and the parser reports no error. So a POST without a
   * visible length may still have a body. Methods without bodies keep their connections, because health
   * checks and browsers depend on them.
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
    this.#settle();
    transport.watched.add(this);
    let isFull = false;
    const stream: AnswerStream = {
      write: (text) => {
        if (this.#isClosed) return;
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
        if (this.#isClosed) return;
        this.#isClosed = true;
        transport.watched.delete(this);
        response.cork(() => response.end('', this.ends));
      },
      onDisconnect: undefined,
    };
    this.#stream = stream;
    response.cork(() => {
      this.#resume();
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
      // An argument of endWithoutBody would make uWebSockets.js announce another length.
      response.writeHeader('Content-Length', String(Buffer.byteLength(body)));
      response.endWithoutBody();
    } else if (this.method === 'HEAD') {
      // The last answer of a connection needs no length, because no body follows.
      response.end('', true);
    } else if (body.length <= wholeAnswerMax || close || typeof body === 'string') {
      response.end(body, close);
    } else this.#writeLarge(body);
  }

  /**
   * Sends a large answer and releases the part that the client's kernel has received. Without this, thousands
   * of clients that do not read could each hold megabytes. The rest is copied when half of it was sent, so
   * that an answer is copied once in total.
   */
  #writeLarge(body: Uint8Array): void {
    const { response, transport } = this;
    const { length } = body;
    const [, done] = response.tryEnd(body, length);
    if (done) return;
    let rest = body;
    let from = 0;
    const keep = (): void => {
      const sent = response.getWriteOffset();
      if (length - sent <= rest.length / 2) {
        rest = new Uint8Array(rest.subarray(sent - from));
        from = sent;
      }
      this.#keepUnsent(rest.length);
    };
    keep();
    response.onWritable((offset) => {
      const [ok, finished] = response.tryEnd(rest.subarray(offset - from), length);
      if (finished) this.#releaseUnsent();
      else keep();
      return ok;
    });
    transport.slowClients.closeNonReaders();
  }

  /** Updates the bytes that wait for the client, and moves the exchange to the end of `unread`. */
  #keepUnsent(bytes: number): void {
    const { transport } = this;
    transport.counts.bufferedResponseBytes += bytes - this.#unsentBytes;
    this.#unsentBytes = bytes;
    this.heldAnswer?.hold(bytes);
    transport.unread.delete(this);
    transport.unread.add(this);
  }

  #releaseUnsent(): void {
    this.transport.counts.bufferedResponseBytes -= this.#unsentBytes;
    this.#unsentBytes = 0;
    this.heldAnswer?.release();
    this.transport.unread.delete(this);
  }

  /** Ends the connection without an answer. */
  drop(): void {
    this.response.close();
  }

  /** Drops the connection of a client that does not read. */
  close(): void {
    this.transport.counts.nonReadersClosed++;
    this.drop();
  }

  aborted(): void {
    const { transport } = this;
    this.#isClosed = true;
    transport.watched.delete(this);
    this.#linger?.stop();
    this.#releaseUnsent();
    this.#releaseBody();
    this.#stream?.onDisconnect?.();
    if (this.settled) return;
    this.#settle();
    transport.counts.aborted++;
    // An abort in the turn in which the call began was read together with its request. It is not the end of
    // the stream but a pipelined request, which uWebSockets.js cannot queue.
    if (this.#paused && transport.turn() === this.#heldTurn) transport.counts.pipelinedClosed++;
    transport.options.receiver.disconnected(this);
  }

  #settle(): void {
    this.settled = true;
    this.transport.watched.delete(this);
    this.#releaseBody();
  }

  #releaseBody(): void {
    this.heldBody?.release();
    if (this.#chunks === undefined) return;
    this.transport.counts.bufferedBodyBytes -= this.bytesIn;
    this.transport.receiving.delete(this);
    this.#chunks = undefined;
  }

  /** Counts a long body to its caller before any of it is read. */
  expectBody(): void {
    const length = declaredLength(this);
    if (length > longBytes) this.transport.slowClients.holdBody(this, length);
  }

  /** Takes a piece of the body. The memory of `chunk` is valid only during the call. */
  take(chunk: ArrayBuffer, last: boolean): void {
    const { transport } = this;
    const { receiver, limits } = transport.options;
    if (last) this.bodyDue = false;
    if (this.#linger !== undefined) {
      this.#linger.received(last);
      return;
    }
    this.bytesIn += chunk.byteLength;
    if (this.bytesIn > limits.body_bytes) {
      transport.counts.bodiesTooLarge++;
      this.bytesIn -= chunk.byteLength;
      receiver.refuse(this, { code: 'BODY_TOO_LARGE', args: { max: limits.body_bytes } });
      return;
    }
    // Small copies share pooled memory. A separate ArrayBuffer costs more than the copy.
    const part = Buffer.from(new Uint8Array(chunk));
    if (last && this.#chunks === undefined) {
      this.#releaseBody();
      this.#complete(part);
      return;
    }
    this.#bufferPart(part);
    if (this.settled || !last) return;
    const body = Buffer.concat(this.#chunks!);
    this.#releaseBody();
    this.#complete(body);
  }

  /**
   * Passes the body to the receiver. A chunked body waits until the parser has read all bytes that have
   * arrived, and found no further request. The parser does not treat size extensions, bare line feeds and
   * trailers as RFC 9112 does.
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

  #bufferPart(part: Uint8Array): void {
    const { transport } = this;
    const bytes = Math.max(this.bytesIn, declaredLength(this));
    if (!transport.slowClients.holdBody(this, bytes)) return;
    if (this.#chunks === undefined) {
      this.#chunks = [];
      transport.receiving.add(this);
      transport.counts.bufferedBodyBytes += this.bytesIn - part.length;
    }
    this.#chunks.push(part);
    transport.counts.bufferedBodyBytes += part.length;
    transport.slowClients.boundBodies(this);
  }
}

const always = (): boolean => true;
