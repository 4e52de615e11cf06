// Walks the postings of one query term by ascending document id, block by block, skipping blocks unread.
import type { ReadView } from '../storage/store.js';
import { termScore } from './bm25.js';
import { decodeBlock, newBlock, type TermRecord } from './posting.js';
import { blockKey, blockKeyEnd, upperOf } from './text-key.js';

/** Above every id: the cursor is at its end. */
export const END = 2 ** 32;

/** So many unwanted blocks are passed one by one before the cursor looks its block up. */
const passedMax = 4;

/** Bounds are sums too, in another order: they get a little more than any rounding can take away. */
const slack = 1 + 1e-9;

type Entries = Iterator<{ key: Uint8Array; value: Uint8Array }>;

/**
 * `doc` is the document it stands at. `bound` is above any score of the term, `blockBound` above those of documents
 * up to `blockEnd`.
 */
export class TermCursor {
  doc = -1;
  readonly bound: number;
  blockBound = 0;
  blockEnd = -1;
  #at = 0;
  #block = newBlock();
  #older: Entries | undefined;

  constructor(
    private readonly view: ReadView,
    private readonly label: number,
    private readonly term: Uint8Array,
    private readonly record: TermRecord,
    private readonly weight: number,
    private readonly averageLength: number,
  ) {
    this.bound = this.#boundOf(record);
    this.#block.count = 0;
    if (record.df > record.tail.count) this.#older = this.#lookUp(0);
    this.seek(0);
  }

  /** Moves to the first document at or after `id`, which is not before the current one. */
  seek(id: number): void {
    if (id > this.blockEnd) this.#load(id);
    const { ids, count } = this.#block;
    let at = this.#at;
    while (at < count && ids[at]! < id) at++;
    this.#at = at;
    if (at < count) this.doc = ids[at]!;
    // A block may end below its key: what follows is in the next one.
    else if (this.blockEnd < END) this.seek(this.blockEnd + 1);
    else this.doc = END;
  }

  /** What the term adds to the score of `doc`. */
  score(): number {
    const { frequencies, lengths } = this.#block;
    const at = this.#at;
    return termScore(this.weight, frequencies[at]!, lengths[at]!, this.averageLength);
  }

  /** Makes the block that would hold `id` the current one. */
  #load(id: number): void {
    this.#at = 0;
    for (let passed = 0; this.#older !== undefined; passed++) {
      const next = this.#older.next();
      if (next.done) {
        this.#older = undefined;
        break;
      }
      const upper = upperOf(next.value.key);
      if (upper >= id) {
        decodeBlock(next.value.value, this.#block);
        this.blockEnd = upper;
        this.blockBound = this.#boundOf(this.#block);
        return;
      }
      if (passed === passedMax) this.#older = this.#lookUp(id);
    }
    this.#block = this.record.tail;
    this.blockEnd = END;
    this.blockBound = this.#boundOf(this.#block);
  }

  #lookUp(id: number): Entries {
    this.close();
    const { label, term } = this;
    const blocks = this.view.scanDerived(blockKey(label, term, id), blockKeyEnd(label, term));
    return blocks[Symbol.iterator]();
  }

  #boundOf({ top, shortest }: { top: number; shortest: number }): number {
    return termScore(this.weight, top, shortest, this.averageLength) * slack;
  }

  /** Ends the scan that may still be open. */
  close(): void {
    this.#older?.return?.();
  }
}
