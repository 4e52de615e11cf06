// Chooses one of several node addresses, and remembers the positions in their replies.
//
// Invariant: the position that is sent with a request is at least every position received, for the main
// database and for each shard.

/** The nodes of a cluster, or one server. Knows which node to call next and the newest position. */
export class Nodes {
  readonly #all: string[];
  #at = 0;
  /** Positions by name of the shard; the main database has the empty name. */
  readonly #positions = new Map<string, readonly [epoch: number, seq: number]>();
  /** The greatest positions received; the empty string for a server without a cluster. */
  position = '';

  constructor(url: string | readonly string[]) {
    this.#all = [url].flat().map((one) => one.replace(/\/+$/, ''));
  }

  get base(): string {
    return this.#all[this.#at]!;
  }

  get count(): number {
    return this.#all.length;
  }

  notePosition(position: string | null): void {
    if (position === null || position === this.position) return;
    for (const part of position.split(',')) {
      const [, name = '', e, s] = /^(?:(.+)=)?(\d+)\.(\d+)$/.exec(part) ?? [];
      const [epoch, seq] = [Number(e), Number(s)];
      const [lastEpoch, lastSeq] = this.#positions.get(name) ?? [0, 0];
      // A new log of the same data starts from the beginning, with a later epoch.
      if (epoch > lastEpoch || (epoch === lastEpoch && seq > lastSeq))
        this.#positions.set(name, [epoch, seq]);
    }
    const parts = [...this.#positions].map(([name, at]) => (name && `${name}=`) + at.join('.'));
    this.position = parts.join();
  }

  /** Switches from the node `base` to the node at `address` if that is known, else to the next node. */
  leave(base: string, address?: unknown): void {
    if (base !== this.base) return;
    const named = this.#all.findIndex((one) => one.replace(/^\w+:\/\//, '') === address);
    this.#at = named >= 0 ? named : (this.#at + 1) % this.#all.length;
  }
}
