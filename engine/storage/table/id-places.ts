// Where something about an id stands: a flat table that one probe of memory finds it in, as a rule.
//
//   places   [id, word] by hash of the id, the next free one on collision; 0 is free
//
// Invariant: a third of the places at least is free, so that every search ends; ids and words are not 0.

export class IdPlaces {
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
    if (3 * ++this.#count > this.#places.length) this.#widen();
    this.#place(id, word);
  }

  #place(id: number, word: number): void {
    const places = this.#places;
    const mask = places.length - 2;
    let at = 2 * (Math.imul(id, 0x9e3779b1) >>> this.#shift);
    while (places[at] !== 0) at = (at + 2) & mask;
    places[at] = id;
    places[at + 1] = word;
  }

  #widen(): void {
    const former = this.#places;
    this.#places = new Uint32Array(2 * former.length);
    this.#shift--;
    for (let at = 0; at < former.length; at += 2) {
      if (former[at] !== 0) this.#place(former[at]!, former[at + 1]!);
    }
  }
}
