// One request that came by uWebSockets.js, and its answer, as http.ts makes them. Facts it obeys are U01
// to U14 of operations.md 11.3: chunks are copied, late answers are corked, nothing thrown escapes a
// handler. Invariant: a response object is touched only until it was ended or its abort was heard.
import type { HttpResponse } from 'uWebSockets.js';
import { printAddress, socketPeer } from './address.js';
import { type ByteShares, type Holding, longBytes } from './byte-shares.js';
import { type AnswerStream, Exchange } from './exchange.js';
import { declaredLength } from './framing.js';
import type { HeaderList } from './header-list.js';
import { LingeringClose } from './lingering-close.js';
import { type BodyRoom, boundBodies, holdBody } from './share-room.js';
import type { SoleAddress } from './sole-address.js';
import { okStatus } from './status-line.js';
import { type TransportCounts, type TransportOptions, guarded } from './transport.js';

/** Larger answers are handed over piece by piece, as fast as the client reads. */
const wholeAnswerMax = 64 * 1024;

/** What exchanges of one transport share. */
export interface UwsTransportState {
  readonly options: TransportOptions;
  /** Whether clients come through a socket in the file system: then they have no address. */
  readonly onSocket: boolean;
  readonly counts: TransportCounts;
  /** Bodies that came in more than one piece and are not complete, for the receive deadline. */
  readonly receiving: Set<UwsExchange>;
  /** Answers not read yet, the longest idle first. */
  readonly slow: Set<UwsExchange>;
  /** Calls under way whose clients are listened to, and streams: not idle, whatever they say (`renew`). */
  readonly heard: Set<UwsExchange>;
  /** What spares reading the address of a connection for each request. */
  readonly soleAddress: SoleAddress;
  /** The number of this turn of the event loop. */
  turn(): number;
  /** Of this count, all threads that take connections together. */
  total(name: keyof TransportCounts): number;
  closeNonReaders(): void;
  readonly shares: ByteShares;
  readonly bodyRoom: BodyRoom;
}

/** uWS closes what it reads from after 10 s of silence, give or take 2: well before. */
const renewMs = 4_000;

const bodiless = new Set(['GET', 'HEAD', 'OPTIONS']);

export class UwsExchange extends Exchange {
  /** The response object is dead. */
  #gone = false;
  #paused = false;
  #peer: string | undefined;
  /** Whether a callback of uWS runs for it: then the socket is corked already. */
  #corked = false;
  /** The turn of the event loop in which its call began. */
  #heldTurn = 0;
  /** When the timer of the connection began anew, in milliseconds of performance.now(). */
  #renewedAt = 0;
  #chunks: Uint8Array[] | undefined;
  #unsentBytes = 0;
  /** What counts to its caller. */
  heldBody: Holding | undefined;
  heldAnswer: Holding | undefined;
  #stream: AnswerStream | undefined;
  /** The answer waits for the end of the body. */
  #linger: LingeringClose | undefined;

  constructor(
    private readonly response: HttpResponse,
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
   * Nothing is read from the client until the answer: the end of what it sends would close the
   * connection, answer or not. The timer that the pause takes away must not come back either, which
   * is what a handler of its own does when the socket reports itself writable.
   */
  keepAlive(): void {
    if (this.settled) return;
    this.#paused = true;
    this.#heldTurn = this.transport.turn();
    this.response.onWritable(always);
    this.response.pause();
  }

  allowDisconnect(): void {
    if (this.settled || this.transport.heard.has(this)) return;
    this.#resume();
    this.#renewedAt = performance.now();
    this.transport.heard.add(this);
  }

  /** Who waits for an answer, or for more of it, has nothing to say: a pause begins the time anew. */
  renew(): void {
    if (performance.now() - this.#renewedAt < renewMs) return;
    this.#renewedAt = performance.now();
    this.response.pause();
    this.response.resume();
  }

  #resume(): void {
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
    // Whose answer it is can be told until it is under way.
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

  /** Whether bytes of its body are of use, be it for their end alone. */
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
    this.#settle();
    transport.heard.add(this);
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
        transport.heard.delete(this);
        response.cork(() => response.end('', this.ends));
      },
      onGone: undefined,
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

  /**
   * What the client's system took is not held any longer: of megabytes that may be all but the last part, and clients
   * that do not read may be thousands. Half of it is copied at a time, so that an answer is copied once in all.
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
    transport.closeNonReaders();
  }

  /** Notes how much is held of what the client has yet to read; whoever reads moves to the end of the line. */
  #keepUnsent(bytes: number): void {
    const { transport } = this;
    transport.counts.bufferedResponseBytes += bytes - this.#unsentBytes;
    this.#unsentBytes = bytes;
    this.heldAnswer?.hold(bytes);
    transport.slow.delete(this);
    transport.slow.add(this);
  }

  #releaseUnsent(): void {
    this.transport.counts.bufferedResponseBytes -= this.#unsentBytes;
    this.#unsentBytes = 0;
    this.heldAnswer?.release();
    this.transport.slow.delete(this);
  }

  /** Ends the connection without an answer. */
  drop(): void {
    this.response.close();
  }

  /** As `drop`, of a client that does not read. */
  close(): void {
    this.transport.counts.nonReadersClosed++;
    this.drop();
  }

  aborted(): void {
    const { transport } = this;
    this.#gone = true;
    transport.heard.delete(this);
    this.#linger?.stop();
    this.#releaseUnsent();
    this.#releaseBody();
    this.#stream?.onGone?.();
    if (this.settled) return;
    this.#settle();
    transport.counts.aborted++;
    // What is heard in the turn in which the call began was read with its request: not the end of
    // the stream, but another request behind it, for which uWS has no place.
    if (this.#paused && transport.turn() === this.#heldTurn) transport.counts.pipelinedClosed++;
    transport.options.receiver.gone(this);
  }

  #settle(): void {
    this.settled = true;
    this.transport.heard.delete(this);
    this.#releaseBody();
  }

  #releaseBody(): void {
    this.heldBody?.release();
    if (this.#chunks === undefined) return;
    this.transport.counts.bufferedBodyBytes -= this.bytesIn;
    this.transport.receiving.delete(this);
    this.#chunks = undefined;
  }

  /** A long body counts to its caller before any of it is read. */
  expectBody(): void {
    const length = declaredLength(this);
    if (length > longBytes) this.#holdBody(length);
  }

  /** Whether its caller may have it: else it is refused. */
  #holdBody(bytes: number): boolean {
    const { shares, options } = this.transport;
    return holdBody(this, bytes, shares, options.receiver);
  }

  /** Takes a piece of the body; its memory is only valid now. */
  take(chunk: ArrayBuffer, last: boolean): void {
    const { transport } = this;
    const { receiver, limits } = transport.options;
    if (last) this.bodyDue = false;
    if (this.#linger !== undefined) {
      this.#linger.heard(last);
      return;
    }
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
      this.#releaseBody();
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
    if (!this.#holdBody(Math.max(this.bytesIn, declaredLength(this)))) return;
    if (this.#chunks === undefined) {
      this.#chunks = [];
      transport.receiving.add(this);
      transport.counts.bufferedBodyBytes += this.bytesIn - piece.length;
    }
    this.#chunks.push(piece);
    transport.counts.bufferedBodyBytes += piece.length;
    boundBodies(this, transport.bodyRoom);
  }
}

const always = (): boolean => true;
