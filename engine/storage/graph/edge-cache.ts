// Lists of edges read before, for executions that walk many: an exact read of LMDB with its checksum
// costs ten times a look into a table. For each edge label and direction the lists lie end to end in
// an array of their own, found by one probe of a flat table.
//
//   places   [id, word of the array] by hash of the id, the next free one on collision; 0 is free
//   words    number of words · edge · far · edge · far …, list after list; word 0 is not used
//
// Invariant: all lists are those of one state of the data, named by the count of commits (meta.ts),
// which the snapshot itself tells. Words that were handed out are never written again. When all lists
// together take more than there is room for, all are forgotten: what is needed comes back.
import type { Direction } from '../table/store.js';

type ReadList = (id: number, label: number, direction: Direction) => Uint32Array;

/** Words of all lists together. */
const wordsMost = 8 * 1024 * 1024;

/** Longer lists are read every time: finding them is not what costs. */
const listWordsMost = 128 * 1024;

const firstWords = 4 * 1024;

class Lists {
  #places = new Uint32Array(256);
  #shift = 25;
  #count = 0;
  #used = 1;
  words = new Uint32Array(firstWords);

  constructor(
    private readonly read: (id: number) => Uint32Array,
    /** Asks for room; false when everything was forgotten for it, this included. */
    private readonly take: (words: number) => boolean,
  ) {}

  /** Where the number of words of a list stands, the list behind it; 0 when it is not here. */
  known(id: number): number {
    const places = this.#places;
    const mask = places.length - 2;
    for (let at = 2 * (Math.imul(id, 0x9e3779b1) >>> this.#shift); ; at = (at + 2) & mask) {
      const found = places[at];
      if (found === 0) return 0;
      if (found === id) return places[at + 1]!;
    }
  }

  /** As `known`, after reading it where needed; 0 when it is too long to be kept. */
  find(id: number): number {
    const known = this.known(id);
    return known === 0 ? this.#keep(id, this.read(id)) : known;
  }

  get(id: number): Uint32Array {
    const known = this.known(id);
    if (known !== 0) return this.words.subarray(known + 1, known + 1 + this.words[known]!);
    const list = this.read(id);
    this.#keep(id, list);
    return list;
  }

  #keep(id: number, list: Uint32Array): number {
    if (list.length > listWordsMost) return 0;
    if (!this.take(list.length + 1)) this.#forget();
    const word = this.#used;
    this.#used += list.length + 1;
    if (this.#used > this.words.length) {
      const words = new Uint32Array(Math.max(2 * this.words.length, this.#used));
      words.set(this.words.subarray(0, word));
      this.words = words;
    }
    this.words[word] = list.length;
    this.words.set(list, word + 1);
    if (3 * ++this.#count > this.#places.length) this.#widen();
    this.#place(id, word);
    return word;
  }

  /** Whoever still holds words of before keeps them. */
  #forget(): void {
    this.#places = new Uint32Array(256);
    this.#shift = 25;
    this.#count = 0;
    this.#used = 1;
    this.words = new Uint32Array(firstWords);
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

export class EdgeCache {
  #lists: Lists[] = [];
  #words = 0;
  #commits = -1;

  constructor(private readonly read: ReadList) {}

  /** Forgets everything when the data are not those of this count of commits. */
  at(commits: number): this {
    if (commits === this.#commits) return this;
    this.#commits = commits;
    this.#lists = [];
    this.#words = 0;
    return this;
  }

  of(label: number, direction: Direction): Lists {
    const at = 2 * label + (direction === 'out' ? 0 : 1);
    return (this.#lists[at] ??= new Lists(
      (id) => this.read(id, label, direction),
      (words) => this.#take(words),
    ));
  }

  #take(words: number): boolean {
    this.#words += words;
    if (this.#words <= wordsMost) return true;
    this.#words = words;
    this.#lists = [];
    return false;
  }
}
