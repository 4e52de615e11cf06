// Gives each request an id: the client's own if it is valid, else a new one. The random prefix of new ids
// differs between threads and between runs of the server.
import type { Exchange } from '../http/exchange.js';

const form = /^[A-Za-z0-9._-]{1,64}$/;

export class RequestIds {
  readonly #prefix = `${Math.floor(Math.random() * 2 ** 40).toString(36)}-`;
  #last = 0;

  give(exchange: Exchange): void {
    const fromClient = exchange.requestIdHeader;
    exchange.requestId =
      fromClient !== '' && form.test(fromClient)
        ? fromClient
        : this.#prefix + (++this.#last).toString(36).padStart(8, '0');
  }
}
