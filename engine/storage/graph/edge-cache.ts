// Lists of edges read before, for executions that walk many: an exact read of LMDB with its checksum
// costs ten times a look into a table. For each edge label and direction the lists lie end to end in
// an array of their own, found by one probe of a flat table.
//
//   words    number of words · edge · far · edge · far …, list after list (record/cache-arena.ts)
//
// Invariant: all lists are those of one state of the data, named by the count of commits (meta.ts),
// which the snapshot itself tells; from one state to the next those go whose elements were changed
// (view/invalidation-queue.ts), or all. Words that were handed out are never written again. When all lists
// together take more than there is room for, all are forgotten: what is needed comes back.
import type { ChangedSince } from '../table/env-options.js';
import { WordArena } from '../record/cache-arena.js';
import type { Direction } from '../table/view-types.js';

type ReadList = (id: number, label: number, direction: Direction) => Uint32Array;

/** Words of all lists together. */
const wordsMost = 8 * 1024 * 1024;

/** Longer lists are read every time: finding them is not what costs. */
const listWordsMost = 128 * 1024;

const firstWords = 4 * 1024;

class Lists extends WordArena {
  constructor(
    private readonly read: (id: number) => Uint32Array,
    /** Hears how many words more are in use. */
    private readonly took: (words: number) => void,
  ) {
    super(firstWords, wordsMost);
  }

  protected override lengthOf(words: number): number {
    return words;
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
    const before = this.used;
    const word = this.add(id, list.length);
    if (word !== 0) this.words.set(list, word + 1);
    this.took(word === 0 ? wordsMost : this.used - before);
    return word;
  }
}

export class EdgeCache {
  #lists: Lists[] = [];
  #words = 0;
  #commits = -1;

  /** Without `since`, any change may be of all lists. */
  constructor(
    private readonly read: ReadList,
    private readonly since?: ChangedSince,
  ) {}

  /** Forgets what is not as it is in the data of this count of commits. */
  at(commits: number): this {
    if (commits === this.#commits) return this;
    this.#commits = commits;
    const isKnown = this.since?.move(commits, (id) => this.#drop(id)) ?? false;
    if (!isKnown) this.#forget();
    return this;
  }

  #drop(id: number): void {
    for (const lists of this.#lists) lists?.drop(id);
  }

  of(label: number, direction: Direction): Lists {
    const at = 2 * label + (direction === 'out' ? 0 : 1);
    return (this.#lists[at] ??= new Lists(
      (id) => this.read(id, label, direction),
      (words) => this.#took(words),
    ));
  }

  #took(words: number): void {
    this.#words += words;
    if (this.#words > wordsMost) this.#forget();
  }

  /** Whoever still holds lists of before keeps them. */
  #forget(): void {
    this.#lists = [];
    this.#words = 0;
  }
}
