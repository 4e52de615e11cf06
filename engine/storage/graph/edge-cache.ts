// Caches adjacency lists for executions that traverse many edges: an exact read of LMDB with its checksum
// costs ten times a table lookup. The lists of each edge label and direction lie end to end in one array. One
// probe of a flat table finds a list.
//
//   words    number of words · edge · far · edge · far …, list after list (record/cache-arena.ts)
//
// Invariant: all lists belong to one commit, named by its commit number (meta.ts), which is part of the
// snapshot. When the commit changes, the lists of changed elements are dropped (view/invalidation-queue.ts),
// or all lists. Words that were handed out are never overwritten. When all lists together exceed the
// capacity, all are dropped.
import type { ChangedSince } from '../table/env-options.js';
import { CacheArena } from '../record/cache-arena.js';
import type { Direction } from '../table/view-types.js';

type ReadList = (id: number, label: number, direction: Direction) => Uint32Array;

/** Capacity of all lists together, in words. */
const wordsMax = 8 * 1024 * 1024;

/** Longer lists are not cached: their lookup is not the main cost. */
const listWordsMax = 128 * 1024;

const firstWords = 4 * 1024;

class ListsOfLabel extends CacheArena {
  constructor(
    private readonly read: (id: number) => Uint32Array,
    /** Called with the number of words that a list takes. */
    private readonly took: (words: number) => void,
  ) {
    super(firstWords, wordsMax);
  }

  protected override lengthOf(words: number): number {
    return words;
  }

  /** Returns the position of a list, read if it is not cached; 0 if it is too long for the cache. */
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
    if (list.length > listWordsMax) return 0;
    const before = this.used;
    const word = this.add(id, list.length);
    if (word !== 0) this.words.set(list, word + 1);
    this.took(word === 0 ? wordsMax : this.used - before);
    return word;
  }
}

export class EdgeCache {
  #lists: ListsOfLabel[] = [];
  #words = 0;
  #commits = -1;

  /** Without `since`, every commit drops all lists. */
  constructor(
    private readonly read: ReadList,
    private readonly since?: ChangedSince,
  ) {}

  /** Moves to a commit number: drops the lists that may have changed since the former one. */
  moveTo(commits: number): this {
    if (commits === this.#commits) return this;
    this.#commits = commits;
    const isKnown = this.since?.move(commits, (id) => this.#drop(id)) ?? false;
    if (!isKnown) this.#forget();
    return this;
  }

  #drop(id: number): void {
    for (const lists of this.#lists) lists?.drop(id);
  }

  of(label: number, direction: Direction): ListsOfLabel {
    const at = 2 * label + (direction === 'out' ? 0 : 1);
    return (this.#lists[at] ??= new ListsOfLabel(
      (id) => this.read(id, label, direction),
      (words) => this.#took(words),
    ));
  }

  #took(words: number): void {
    this.#words += words;
    if (this.#words > wordsMax) this.#forget();
  }

  /** Callers that still hold a list keep the former array. */
  #forget(): void {
    this.#lists = [];
    this.#words = 0;
  }
}
