// Distances by id, for a search of one direction: a hash table with open addressing. The next search uses it
// again, whereas a Map grows from nothing every time.
//
//   entries   [id plus one, distance] by hash of the id, the next free entry on collision; 0: free
//
// Invariant: at least half of the entries is free, so every search ends.

const firstBits = 8;
/** A larger table is not used again, because it would be emptied for every later search. */
const reusedBitsMax = 12;

export class IdDistances {
  #bits = firstBits;
  #entries = new Int32Array(2 << firstBits);
  #count = 0;

  clear(): void {
    if (this.#bits <= reusedBitsMax) this.#entries.fill(0);
    else this.#entries = new Int32Array(2 << (this.#bits = firstBits));
    this.#count = 0;
  }

  /** Returns the distance of an id; -1 if it has none. */
  get(id: number): number {
    const at = this.#find(id);
    return this.#entries[at] === 0 ? -1 : this.#entries[at + 1]!;
  }

  /** Adds an id. Returns false if it has a distance. */
  add(id: number, distance: number): boolean {
    const at = this.#find(id);
    if (this.#entries[at] !== 0) return false;
    this.#entries[at] = (id + 1) | 0;
    this.#entries[at + 1] = distance;
    if (2 * ++this.#count > 1 << this.#bits) this.#grow();
    return true;
  }

  /** Returns the position of an id, or of the free entry that it would get. */
  #find(id: number): number {
    const entries = this.#entries;
    const wanted = (id + 1) | 0;
    const mask = entries.length - 2;
    let at = 2 * (Math.imul(id, 0x9e3779b1) >>> (32 - this.#bits));
    while (entries[at] !== 0 && entries[at] !== wanted) at = (at + 2) & mask;
    return at;
  }

  #grow(): void {
    const former = this.#entries;
    this.#bits += 2;
    this.#entries = new Int32Array(2 << this.#bits);
    for (let i = 0; i < former.length; i += 2) {
      if (former[i] === 0) continue;
      const at = this.#find((former[i]! - 1) >>> 0);
      this.#entries[at] = former[i]!;
      this.#entries[at + 1] = former[i + 1]!;
    }
  }
}
