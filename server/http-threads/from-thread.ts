// The main thread's side of one front: the requests that it passes on, as if they had come here.
// Invariant: a front that has ended has no request under way.
import { sharedOriginMs } from '../../engine/index.js';
import { type Receiver, guarded } from '../http/transport.js';
import { ForwardedExchange } from './main-exchange.js';
import { type Batch, type FrontItem, type MainItem, Outbox, type ToFront } from './messages.js';

export class ThreadLink {
  readonly #exchanges = new Map<number, ForwardedExchange>();
  readonly #outbox: Outbox<MainItem>;
  readonly #forget = (id: number): void => {
    this.#exchanges.delete(id);
  };

  constructor(
    private readonly receiver: Receiver,
    port: { postMessage(message: ToFront, transfer?: readonly ArrayBuffer[]): void },
  ) {
    this.#outbox = new Outbox(port);
  }

  receive({ items, bytes }: Batch<FrontItem>): void {
    for (const item of items) {
      const id = item[1];
      switch (item[0]) {
        case 'head':
          this.#open(this.#make(id, item[2], item[3]), item[4]);
          break;
        case 'unsound':
          this.receiver.refuse(this.#make(id, item[2], item[3]), item[4]);
          break;
        case 'body':
          this.#complete(id, new Uint8Array(bytes, item[2], item[3] - item[2]));
          break;
        case 'refuse':
          this.#refuse(id, item);
          break;
        case 'gone':
          this.#lose(id);
      }
    }
  }

  #make(id: number, head: string, startedAt: number): ForwardedExchange {
    const here = startedAt - sharedOriginMs;
    const exchange = new ForwardedExchange(id, head, here, this.#outbox, this.#forget);
    this.#exchanges.set(id, exchange);
    return exchange;
  }

  #open(exchange: ForwardedExchange, rated: number): void {
    exchange.rated = rated;
    guarded(this.receiver, exchange, () => {
      exchange.takesBody = this.receiver.open(exchange);
    });
  }

  #complete(id: number, body: Uint8Array): void {
    const exchange = this.#exchanges.get(id);
    if (exchange === undefined || exchange.settled || !exchange.takesBody) return;
    exchange.bytesIn = body.length;
    guarded(this.receiver, exchange, () => this.receiver.complete(exchange, body));
  }

  #refuse(id: number, [, , error, bytesIn]: Extract<FrontItem, ['refuse', ...unknown[]]>): void {
    const exchange = this.#exchanges.get(id);
    if (exchange === undefined || exchange.settled) return;
    exchange.bytesIn = bytesIn;
    this.receiver.refuse(exchange, error);
  }

  #lose(id: number): void {
    const exchange = this.#exchanges.get(id);
    if (exchange === undefined) return;
    this.#forget(id);
    exchange.openStream?.onGone?.();
    if (exchange.settled) return;
    exchange.settled = true;
    this.receiver.gone(exchange);
  }

  /** The front has ended, and its connections with it. */
  end(): void {
    for (const id of [...this.#exchanges.keys()]) this.#lose(id);
  }
}
