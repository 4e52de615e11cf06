// A hash table from ids to words with open addressing: in most cases one probe of memory finds an id.
//
//   entries   [id, word] by hash of the id, the next free entry on collision; id 0: free, word 0: removed
//
// Invariant: at least a third of the entries is free, so every search ends. Ids and words are not 0.

export class IdHashTable {
  #entries = new Uint32Array(256);
  #shift = 25;
  #count = 0;

  /** Returns the word of an id; 0 if it has none. */
  find(id: number): number {
    const entries = this.#entries;
    const mask = entries.length - 2;
    for (let at = 2 * (Math.imul(id, 0x9e3779b1) >>> this.#shift); ; at = (at + 2) & mask) {
      const found = entries[at];
      if (found === 0) return 0;
      if (found === id) return entries[at + 1]!;
    }
  }

  /** Adds an id that has no word. */
  add(id: number, word: number): void {
    if (this.#insert(id, word) && 3 * ++this.#count > this.#entries.length) this.#rehash();
  }

  /** Removes the word of an id. The entry stays taken, because searches for other ids pass it. */
  remove(id: number): void {
    const at = this.#positionOf(id);
    if (this.#entries[at] === id) this.#entries[at + 1] = 0;
  }

  /** Replaces the word of every id. */
  move(to: (word: number) => number): void {
    const entries = this.#entries;
    for (let at = 1; at < entries.length; at += 2)
      if (entries[at] !== 0) entries[at] = to(entries[at]!);
  }

  /** Returns the position of an id, or of the free entry that it would get. */
  #positionOf(id: number): number {
    const entries = this.#entries;
    const mask = entries.length - 2;
    let at = 2 * (Math.imul(id, 0x9e3779b1) >>> this.#shift);
    while (entries[at] !== 0 && entries[at] !== id) at = (at + 2) & mask;
    return at;
  }

  /** Returns whether the id took a free entry. */
  #insert(id: number, word: number): boolean {
    const entries = this.#entries;
    const at = this.#positionOf(id);
    const isNew = entries[at] === 0;
    entries[at] = id;
    entries[at + 1] = word;
    return isNew;
  }

  /** Rebuilds the table without removed entries; doubles it unless most entries were removed. */
  #rehash(): void {
    const former = this.#entries;
    let live = 0;
    for (let at = 1; at < former.length; at += 2) if (former[at] !== 0) live++;
    const isWider = 2 * live > this.#count;
    this.#entries = new Uint32Array(isWider ? 2 * former.length : former.length);
    if (isWider) this.#shift--;
    for (let at = 0; at < former.length; at += 2) {
      if (former[at + 1] !== 0) this.#insert(former[at]!, former[at + 1]!);
    }
    this.#count = live;
  }
}
