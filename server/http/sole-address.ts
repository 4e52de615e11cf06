// The one address that all open connections of a transport come from, if they do. Reading the address of a
// connection costs 2 us a request on uWebSockets.js: it makes an array for it. Clients behind one proxy, one
// backend and one benchmark have the same address on all their connections, so it is read once a connection.
// Invariant: the value is undefined from the moment a second address connects until no connection is left.

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
