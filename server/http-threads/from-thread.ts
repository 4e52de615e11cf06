// Receives the requests that one HTTP thread forwards, and passes them to the main thread's receiver as if
// they had arrived on the main thread. Runs on the main thread.
// Invariant: an HTTP thread that has ended has no request in progress.
import { sharedOriginMs } from '../../engine/internal.js';
import { type Receiver, guarded } from '../http/transport.js';
import { ForwardedExchange } from './main-exchange.js';
import { type Batch, type ThreadItem, type MainItem, Outbox, type ToThread } from './messages.js';

export class ThreadLink {
  readonly #exchanges = new Map<number, ForwardedExchange>();
  readonly #outbox: Outbox<MainItem>;
  readonly #forget = (id: number): void => {
    this.#exchanges.delete(id);
  };

  constructor(
    private readonly receiver: Receiver,
    port: { postMessage(message: ToThread, transfer?: readonly ArrayBuffer[]): void },
  ) {
    this.#outbox = new Outbox(port);
  }

  receive({ items, bytes }: Batch<ThreadItem>): void {
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

  #refuse(id: number, [, , error, bytesIn]: Extract<ThreadItem, ['refuse', ...unknown[]]>): void {
    const exchange = this.#exchanges.get(id);
    if (exchange === undefined || exchange.settled) return;
    exchange.bytesIn = bytesIn;
    this.receiver.refuse(exchange, error);
  }

  #lose(id: number): void {
    const exchange = this.#exchanges.get(id);
    if (exchange === undefined) return;
    this.#forget(id);
    exchange.openStream?.onDisconnect?.();
    if (exchange.settled) return;
    exchange.settled = true;
    this.receiver.disconnected(exchange);
  }

  /** Called when the HTTP thread has ended and its connections are closed. */
  end(): void {
    for (const id of [...this.#exchanges.keys()]) this.#lose(id);
  }
}
