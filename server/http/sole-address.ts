// Holds the address of all open connections of a transport, if they share one. On uWebSockets.js, reading the
// address costs 2 us per request, because the library creates an array. The clients of one proxy, one backend
// or one benchmark have the same address on all their connections, so the transport reads it only once per
// connection. Invariant: the value is undefined from the moment a second address connects until no connection
// is left.

export class SoleAddress {
  #open = 0;
  #address: string | undefined;
  #isMixed = false;

  /** The address of every open connection; undefined if there are several, or none. */
  get value(): string | undefined {
    return this.#isMixed ? undefined : this.#address;
  }

  /** Counts a connection. `addressOf` is not called while the connections are mixed already. */
  opened(addressOf: () => string): void {
    if (this.#open++ === 0) {
      this.#address = addressOf();
      this.#isMixed = false;
    } else if (!this.#isMixed) this.#isMixed = addressOf() !== this.#address;
  }

  closed(): void {
    if (--this.#open > 0) return;
    this.#open = 0;
    this.#address = undefined;
    this.#isMixed = false;
  }
}
