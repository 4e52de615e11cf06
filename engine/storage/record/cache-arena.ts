// Stores cached content end to end in one array of words, and finds each item by its id.
//
//   words    header · content, one after another; word 0 is not used
//   header   set by the caller; gives the length of the content, in less than 31 bits
//            bit 31: dropped
//
// A dropped item leaves its words unused. When the array is full and half of the words are unused, the live
// items move together instead of growing the array. So repeated changes of the same elements do not make it
// longer.
//
// Invariant: content that was handed out is never overwritten; items move only to another array. A position
// is valid until the next `add`.
import { IdHashTable } from './id-hash-table.js';

const dropped = 0x8000_0000;

export abstract class CacheArena {
  readonly #table = new IdHashTable();
  #used = 1;
  #dropped = 0;
  words: Uint32Array<ArrayBuffer>;

  /** `maxWords`: largest number of words. */
  constructor(
    first: number,
    private readonly maxWords: number,
  ) {
    this.words = new Uint32Array(first);
  }

  /** Returns the number of content words after a header. */
  protected abstract lengthOf(header: number): number;

  /** Number of words in use, including those of dropped items. */
  get used(): number {
    return this.#used;
  }

  /** Returns the position of the header of an id; 0 if the id is not stored. */
  known(id: number): number {
    return this.#table.find(id);
  }

  /**
   * Adds an id that is not stored. Returns the position of its header, with space for the content after it,
   * or 0 if the arena is full.
   */
  add(id: number, header: number): number {
    const length = 1 + this.lengthOf(header);
    if (this.#used + length > this.words.length && !this.#makeRoom(length)) return 0;
    const word = this.#used;
    this.#used += length;
    this.words[word] = header;
    this.#table.add(id, word);
    return word;
  }

  drop(id: number): void {
    const word = this.#table.find(id);
    if (word === 0) return;
    const header = this.words[word]!;
    this.#dropped += 1 + this.lengthOf(header);
    this.words[word] = header | dropped;
    this.#table.remove(id);
  }

  #makeRoom(length: number): boolean {
    const isWaste = 2 * this.#dropped >= this.#used;
    const needed = (isWaste ? this.#used - this.#dropped : this.#used) + length;
    if (needed > this.maxWords) return false;
    const former = this.words;
    const size = isWaste ? former.length : 2 * former.length;
    this.words = new Uint32Array(Math.min(Math.max(size, needed), this.maxWords));
    if (isWaste) this.#moveFrom(former);
    else this.words.set(former.subarray(0, this.#used));
    return true;
  }

  /** Copies all live items in their order; each header in `former` then contains the new position. */
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
    this.#table.move((word) => former[word]!);
  }
}
