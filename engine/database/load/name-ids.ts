// Maps the temporary names of one load, by ordinal, to their elements. While only the load itself has
// written, the elements are known to exist unchanged, and their records need not be read.
//
//   6 words by ordinal: dense id, 0 when the row was refused · label · uuid
//

const firstRoom = 1024;
const nameWords = 6;

export class NameIds {
  /** True if no other write can have deleted an element of a name. */
  isTrusted = true;
  #words = new Uint32Array(nameWords * firstRoom);
  /** A view of the words as bytes. */
  bytes = new Uint8Array(this.#words.buffer);

  /** Returns the dense id, or 0 when the row was refused. */
  get(ordinal: number): number {
    return this.#words[nameWords * ordinal] ?? 0;
  }

  label(ordinal: number): number {
    return this.#words[nameWords * ordinal + 1]!;
  }

  /** Returns the offset of the uuid in `bytes`. */
  uuidAt(ordinal: number): number {
    return 4 * (nameWords * ordinal + 2);
  }

  /** Records an element whose uuid starts at `at` in `bytes`. */
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
