// Which elements each commit has changed, told by the writer to all threads of the process: what they
// keep of all others (record-cache.ts, edge-cache.ts) stays true from one state of the data to the next.
//
//   word 0       words of the ring written so far, modulo 2^32
//   word 1       the same, with those that are being written just now
//   word 2 + i   the ring, a batch per transaction: commits before (meta.ts) · commits behind · number of ids, or
//                `many` · the ids
//
// Elements that the transaction itself makes are in no batch: nobody can have kept them. A batch is
// there before anybody can see its commit; one whose commit failed does no harm. Invariant: `move` tells
// of every element that differs between two states, or that it does not know.
import type { ChangedSince, Invalidations } from '../table/env-options.js';

const written = 0;
const claimed = 1;
const ringBase = 2;
const ringWords = 32 * 1024;
/** Words of a batch before its ids. */
const headWords = 3;

/** Instead of a number of ids: more than are told. */
const many = 0xffffffff;
const idsMost = ringWords / 4;

export const touchedWords = ringBase + ringWords;

/** Whether a count is another one or came before it, modulo 2^32. */
const isUpTo = (count: number, other: number): boolean => ((other - count) | 0) >= 0;

/** The shared words as one thread sees them; whoever writes notes here what it changes. */
export class InvalidationQueue implements Invalidations {
  #ids: Uint32Array | undefined;
  #count = 0;
  #firstNew = 0;
  #before = 0;

  /** `words`: `touchedWords` of shared memory. */
  constructor(private readonly words: Uint32Array<SharedArrayBuffer>) {}

  begin({ commits, nextId }: Parameters<Invalidations['begin']>[0]): void {
    this.#before = commits;
    this.#firstNew = nextId;
    this.#count = 0;
  }

  touch(id: number): void {
    if (id >= this.#firstNew || this.#count > idsMost) return;
    const ids = (this.#ids ??= new Uint32Array(idsMost));
    if (this.#count > 0 && ids[this.#count - 1] === id) return;
    // One too many is counted and not noted: the batch is one of many then.
    ids[this.#count++] = id;
  }

  publish(commits: number): void {
    const count = this.#count;
    if (count === 0 && commits === this.#before) return;
    const isMany = count > idsMost;
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
  /** Where batches are looked for; before the first state, and where some were missed, from the next on. */
  #at = 0;

  constructor(private readonly words: Uint32Array<SharedArrayBuffer>) {}

  move(commits: number, drop: (id: number) => void): boolean {
    const isKnown = this.#commits >= 0 && this.#walk(commits, drop);
    // Batches of later commits may be skipped by this: those behind them do not begin where this ends.
    if (!isKnown) this.#at = Atomics.load(this.words, written);
    this.#commits = commits;
    return isKnown;
  }

  /** Tells of the batches up to a count of commits; false when one is missing. */
  #walk(commits: number, drop: (id: number) => void): boolean {
    const { words } = this;
    const end = Atomics.load(words, written);
    const start = this.#at;
    const wordAt = (place: number): number => words[ringBase + (place % ringWords)]!;
    let known = this.#commits;
    let at = start;
    while (at !== end) {
      const [before, behind, count] = [wordAt(at), wordAt(at + 1), wordAt(at + 2)];
      if (this.#isLost(start)) return false;
      if (!isUpTo(behind, commits)) break;
      if (!isUpTo(before, known) || count === many) return false;
      for (let i = 0; i < count; i++) drop(wordAt(at + headWords + i));
      if (!isUpTo(behind, known)) known = behind;
      at = (at + headWords + count) >>> 0;
    }
    if (known !== commits || this.#isLost(start)) return false;
    this.#at = at;
    return true;
  }

  /** Whether words from `start` on may have been written over. */
  #isLost(start: number): boolean {
    return (Atomics.load(this.words, claimed) - start) >>> 0 > ringWords;
  }
}
