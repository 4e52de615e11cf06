// Invalidation queue in shared memory. The writer appends the ids changed by each commit. Every other thread
// drops these ids from its record and edge caches when it moves to the new commit (record-cache.ts,
// edge-cache.ts).
//
//   word 0       words of the ring written so far, modulo 2^32
//   word 1       the same, with those that are being written just now
//   word 2 + i   the ring, a batch per transaction: commits before (meta.ts) · commits after · number of ids, or
//                `many` · the ids
//
// Elements that the transaction itself creates are in no batch, because no cache can contain them. A batch is
// complete before its commit becomes visible. A batch of a failed commit does no harm.
// Invariant: `move` reports every element that differs between two commits, or returns false.
import type { ChangedSince, Invalidations } from '../table/env-options.js';

const written = 0;
const claimed = 1;
const ringBase = 2;
const ringWords = 32 * 1024;
/** Words of a batch before its ids. */
const headWords = 3;

/** In place of the number of ids: too many ids to list. */
const many = 0xffffffff;
const idsMax = ringWords / 4;

export const touchedWords = ringBase + ringWords;

/** Whether `count` is at or before `other`, modulo 2^32. */
const isUpTo = (count: number, other: number): boolean => ((other - count) | 0) >= 0;

/** The queue as one thread sees it. The writer thread records its changes through this class. */
export class InvalidationQueue implements Invalidations {
  #ids: Uint32Array | undefined;
  #count = 0;
  #firstNew = 0;
  #before = 0;

  /** `words`: shared memory of `touchedWords` words. */
  constructor(private readonly words: Uint32Array<SharedArrayBuffer>) {}

  begin({ commits, nextId }: Parameters<Invalidations['begin']>[0]): void {
    this.#before = commits;
    this.#firstNew = nextId;
    this.#count = 0;
  }

  touch(id: number): void {
    if (id >= this.#firstNew || this.#count > idsMax) return;
    const ids = (this.#ids ??= new Uint32Array(idsMax));
    if (this.#count > 0 && ids[this.#count - 1] === id) return;
    // One id above the limit is counted, which turns the batch into `many`.
    ids[this.#count++] = id;
  }

  publish(commits: number): void {
    const count = this.#count;
    if (count === 0 && commits === this.#before) return;
    const isMany = count > idsMax;
    const { words } = this;
    const start = words[written]!;
    const size = headWords + (isMany ? 0 : count);
    Atomics.store(words, claimed, start + size);
    let at = start;
    const put = (word: number): void => {
      words[ringBase + (at++ % ringWords)] = word;
    };
    put(this.#before);
    put(commits);
    put(isMany ? many : count);
    if (!isMany) for (let i = 0; i < count; i++) put(this.#ids![i]!);
    Atomics.store(words, written, start + size);
  }

  since(): ChangedSince {
    return new Cursor(this.words);
  }
}

class Cursor implements ChangedSince {
  #commits = -1;
  /** Position of the next batch. Before the first commit, and after a gap, reading starts at the end. */
  #at = 0;

  constructor(private readonly words: Uint32Array<SharedArrayBuffer>) {}

  move(commits: number, drop: (id: number) => void): boolean {
    const isKnown = this.#commits >= 0 && this.#readBatches(commits, drop);
    // This may skip batches of later commits. The gap is then detected, because they do not continue this
    // commit.
    if (!isKnown) this.#at = Atomics.load(this.words, written);
    this.#commits = commits;
    return isKnown;
  }

  /** Reports the ids of the batches up to a commit number; returns false if a batch is missing. */
  #readBatches(commits: number, drop: (id: number) => void): boolean {
    const { words } = this;
    const end = Atomics.load(words, written);
    const start = this.#at;
    const wordAt = (position: number): number => words[ringBase + (position % ringWords)]!;
    let known = this.#commits;
    let at = start;
    while (at !== end) {
      const [before, after, count] = [wordAt(at), wordAt(at + 1), wordAt(at + 2)];
      if (this.#isLost(start)) return false;
      if (!isUpTo(after, commits)) break;
      if (!isUpTo(before, known) || count === many) return false;
      for (let i = 0; i < count; i++) drop(wordAt(at + headWords + i));
      if (!isUpTo(after, known)) known = after;
      at = (at + headWords + count) >>> 0;
    }
    if (known !== commits || this.#isLost(start)) return false;
    this.#at = at;
    return true;
  }

  /** Whether words from `start` on may have been overwritten. */
  #isLost(start: number): boolean {
    return (Atomics.load(this.words, claimed) - start) >>> 0 > ringWords;
  }
}
