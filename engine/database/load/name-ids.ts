// What stands behind the temporary names of one load, by ordinal. While nothing but the load itself
// has been written, the elements are known to exist unchanged, and their records need not be read.
//
//   6 words by ordinal: dense id, 0 when the row was refused · label · uuid
//
// Side by side, since edges ask for their ends at random: one line of the cache instead of three.

const firstRoom = 1024;
const nameWords = 6;

export class NameIds {
  /** Whether no other write may have deleted what names stand for. */
  isTrusted = true;
  #words = new Uint32Array(nameWords * firstRoom);
  /** The same memory. */
  bytes = new Uint8Array(this.#words.buffer);

  /** Dense id, 0 when the row was refused. */
  get(ordinal: number): number {
    return this.#words[nameWords * ordinal] ?? 0;
  }

  label(ordinal: number): number {
    return this.#words[nameWords * ordinal + 1]!;
  }

  /** Where in `bytes` the uuid is. */
  uuidAt(ordinal: number): number {
    return 4 * (nameWords * ordinal + 2);
  }

  /** Notes an element whose uuid lies in `bytes` from `at` on. */
  set(ordinal: number, id: number, label: number, bytes: Uint8Array, at: number): void {
    const word = nameWords * ordinal;
    if (word >= this.#words.length) this.#grow(word + nameWords);
    this.#words[word] = id;
    this.#words[word + 1] = label;
    const start = this.uuidAt(ordinal);
    for (let i = 0; i < 16; i++) this.bytes[start + i] = bytes[at + i]!;
  }

  #grow(needed: number): void {
    const words = new Uint32Array(Math.max(needed, this.#words.length * 2));
    words.set(this.#words);
    this.#words = words;
    this.bytes = new Uint8Array(words.buffer);
  }
}
