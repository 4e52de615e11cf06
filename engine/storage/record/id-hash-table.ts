// Where something about an id stands: a flat table that one probe of memory finds it in, as a rule.
//
//   places   [id, word] by hash of the id, the next free one on collision; id 0: free, word 0: removed
//
// Invariant: a third of the places at least is free, so that every search ends; ids and words are not 0.

export class IdHashTable {
  #places = new Uint32Array(256);
  #shift = 25;
  #count = 0;

  /** The word of an id; 0 when it has none. */
  find(id: number): number {
    const places = this.#places;
    const mask = places.length - 2;
    for (let at = 2 * (Math.imul(id, 0x9e3779b1) >>> this.#shift); ; at = (at + 2) & mask) {
      const found = places[at];
      if (found === 0) return 0;
      if (found === id) return places[at + 1]!;
    }
  }

  /** Gives a word to an id that has none. */
  add(id: number, word: number): void {
    if (this.#place(id, word) && 3 * ++this.#count > this.#places.length) this.#renew();
  }

  /** An id has no word any more. Its place stays taken: ids behind it are found past it. */
  remove(id: number): void {
    const at = this.#placeOf(id);
    if (this.#places[at] === id) this.#places[at + 1] = 0;
  }

  /** Gives every id another word. */
  move(to: (word: number) => number): void {
    const places = this.#places;
    for (let at = 1; at < places.length; at += 2)
      if (places[at] !== 0) places[at] = to(places[at]!);
  }

  /** Of an id, or the free one that it would get. */
  #placeOf(id: number): number {
    const places = this.#places;
    const mask = places.length - 2;
    let at = 2 * (Math.imul(id, 0x9e3779b1) >>> this.#shift);
    while (places[at] !== 0 && places[at] !== id) at = (at + 2) & mask;
    return at;
  }

  /** Whether a free place was taken for it. */
  #place(id: number, word: number): boolean {
    const places = this.#places;
    const at = this.#placeOf(id);
    const isNew = places[at] === 0;
    places[at] = id;
    places[at + 1] = word;
    return isNew;
  }

  /** Without what was removed; wider, unless that was much. */
  #renew(): void {
    const former = this.#places;
    let live = 0;
    for (let at = 1; at < former.length; at += 2) if (former[at] !== 0) live++;
    const isWider = 2 * live > this.#count;
    this.#places = new Uint32Array(isWider ? 2 * former.length : former.length);
    if (isWider) this.#shift--;
    for (let at = 0; at < former.length; at += 2) {
      if (former[at + 1] !== 0) this.#place(former[at]!, former[at + 1]!);
    }
    this.#count = live;
  }
}
