// What was read before, end to end in one array of words, each found by the id that it is of.
//
//   words    header · content, one after another; word 0 is not used
//   header   given by whoever adds; tells how long the content is, in less than 31 bits
//            bit 31: dropped
//
// What was dropped leaves its words behind. Where there is no room any more, and half of the words are
// such, the others move together instead of the array growing: while the same elements are changed again
// and again, it stays as long as it is.
//
// Invariant: content that was handed out is never written again; what moves, moves to another array. A word
// that was found holds until the next `add`.
import { IdHashTable } from './id-hash-table.js';

const dropped = 0x8000_0000;

export abstract class WordArena {
  readonly #places = new IdHashTable();
  #used = 1;
  #dropped = 0;
  words: Uint32Array<ArrayBuffer>;

  /** `most`: words that it may have. */
  constructor(
    first: number,
    private readonly most: number,
  ) {
    this.words = new Uint32Array(first);
  }

  /** Words of the content behind a header. */
  protected abstract lengthOf(header: number): number;

  /** Words in use, those of what was dropped among them. */
  get used(): number {
    return this.#used;
  }

  /** Where the header of an id stands; 0 when it is not here. */
  known(id: number): number {
    return this.#places.find(id);
  }

  /** Where the header of an id that is not here stands from now on, room for its content behind it; 0: no room. */
  add(id: number, header: number): number {
    const length = 1 + this.lengthOf(header);
    if (this.#used + length > this.words.length && !this.#makeRoom(length)) return 0;
    const word = this.#used;
    this.#used += length;
    this.words[word] = header;
    this.#places.add(id, word);
    return word;
  }

  drop(id: number): void {
    const word = this.#places.find(id);
    if (word === 0) return;
    const header = this.words[word]!;
    this.#dropped += 1 + this.lengthOf(header);
    this.words[word] = header | dropped;
    this.#places.remove(id);
  }

  #makeRoom(length: number): boolean {
    const isWaste = 2 * this.#dropped >= this.#used;
    const needed = (isWaste ? this.#used - this.#dropped : this.#used) + length;
    if (needed > this.most) return false;
    const former = this.words;
    const size = isWaste ? former.length : 2 * former.length;
    this.words = new Uint32Array(Math.min(Math.max(size, needed), this.most));
    if (isWaste) this.#moveFrom(former);
    else this.words.set(former.subarray(0, this.#used));
    return true;
  }

  /** Takes over what was not dropped, in its order; the headers of `former` then tell where it went. */
  #moveFrom(former: Uint32Array): void {
    const end = this.#used;
    this.#used = 1;
    this.#dropped = 0;
    for (let word = 1; word < end; ) {
      const header = former[word]!;
      const next = word + 1 + this.lengthOf(header & ~dropped);
      if (header < dropped) {
        this.words.set(former.subarray(word, next), this.#used);
        former[word] = this.#used;
        this.#used += next - word;
      }
      word = next;
    }
    this.#places.move((word) => former[word]!);
  }
}
