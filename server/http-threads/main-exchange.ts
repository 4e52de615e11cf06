// A request that arrived on an HTTP thread and is answered by the main thread. The receiver handles it like
// a request that arrived on the main thread.
// Invariant: messages about the request reach the HTTP thread in the order of the calls.
import { type AnswerStream, Exchange } from '../http/exchange.js';
import { type HeaderList, jsonHeaders, noHeaders } from '../http/header-list.js';
import { readHead } from './head-codec.js';
import type { AnswerHead, MainItem, Outbox } from './messages.js';

export class ForwardedExchange extends Exchange {
  readonly #peer: string;
  #isDisconnectAllowed = false;
  /** The stream of the response, while it is open. */
  openStream: AnswerStream | undefined;
  /** Whether the receiver wants the body. */
  takesBody = false;

  constructor(
    readonly id: number,
    head: string,
    startedAt: number,
    private readonly outbox: Outbox<MainItem>,
    /** Called with the id after the last message about the request. */
    private readonly onEnd: (id: number) => void,
  ) {
    super();
    this.#peer = readHead(head, this);
    this.startedAt = startedAt;
  }

  peer(): string {
    return this.#peer;
  }

  /** Does nothing: the HTTP thread did this when it forwarded the request. */
  keepAlive(): void {}

  allowDisconnect(): void {
    if (this.#isDisconnectAllowed || this.settled) return;
    this.#isDisconnectAllowed = true;
    this.outbox.add(['allowDisconnect', this.id]);
  }

  #headOf(status: string, headers: HeaderList): AnswerHead {
    const more = this.headers === noHeaders ? 0 : this.headers;
    return [this.requestId, status, headers === jsonHeaders ? 0 : headers, more];
  }

  send(status: string, headers: HeaderList, body: Uint8Array | string, close: boolean): void {
    if (this.settled) return;
    this.settled = true;
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const span = this.outbox.keep(bytes);
    const micros = this.work?.micros ?? 0;
    this.outbox.add(['answer', this.id, this.#headOf(status, headers), close, micros, ...span]);
    this.onEnd(this.id);
  }

  stream(status: string, headers: HeaderList): AnswerStream {
    this.settled = true;
    this.outbox.add(['stream', this.id, this.#headOf(status, headers)]);
    let isOver = false;
    const stream: AnswerStream = {
      write: (text) => {
        if (!isOver) this.outbox.add(['write', this.id, text]);
      },
      end: () => {
        if (isOver) return;
        isOver = true;
        this.outbox.add(['end', this.id]);
        this.onEnd(this.id);
      },
      onDisconnect: undefined,
    };
    this.openStream = stream;
    return stream;
  }
}
