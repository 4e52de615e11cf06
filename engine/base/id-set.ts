// A growing set of dense ids: one bit per id, in pages of 64 Ki ids that are allocated when needed.

const pageBits = 16;
const pageWords = 1 << (pageBits - 5);

export class IdSet {
  readonly #pages: (Uint32Array | undefined)[] = [];
  size = 0;

  /** Adds an id. Returns false if the set already contained it. */
  add(id: number): boolean {
    const page = (this.#pages[id >>> pageBits] ??= new Uint32Array(pageWords));
    const word = (id >>> 5) & (pageWords - 1);
    const bit = 1 << (id & 31);
    if ((page[word]! & bit) !== 0) return false;
    page[word]! |= bit;
    this.size++;
    return true;
  }

  clear(): void {
    for (const page of this.#pages) page?.fill(0);
    this.size = 0;
  }

  has(id: number): boolean {
    const page = this.#pages[id >>> pageBits];
    return page !== undefined && (page[(id >>> 5) & (pageWords - 1)]! & (1 << (id & 31))) !== 0;
  }
}
