// Walks the postings of one query term by ascending document id. Older blocks are read only when a
// document in them is wanted; what they can score at most is known from the directory.
import { assert } from '../base/assert.js';
import type { ReadView } from '../storage/store.js';
import { termScore } from './bm25.js';
import { type BlockBounds, boundBlocks } from './directory.js';
import { type Block, decodeBlock, giveBlock, takeBlock } from './posting.js';
import type { TermRecord } from './term-record.js';
import { blockKey, directoryKey } from './text-key.js';

/** Above every id: the cursor is at its end. */
export const END = 2 ** 32;

/** For sums of bounds in any order: a little more than rounding can take away. */
const slack = 1 + 1e-9;

const noBlocks: BlockBounds = { count: 0, uppers: new Uint32Array(0), bounds: new Float64Array(0) };

export class TermCursor {
  /** The document it stands at. */
  doc = -1;
  /** Above any score of the term. */
  readonly bound: number;
  /** Last id of the block that `boundAt` looked at. */
  boundEnd = -1;

  readonly #older: BlockBounds;
  readonly #tailBound: number;
  /** Which older block `boundAt` looked at; their count stands for the tail. */
  #looked = 0;
  #lookedBound = 0;
  /** The decoded block, its position, and the posting of `doc` in it. */
  #block: Block = takeBlock();
  /** Holds decoded older blocks. */
  readonly #own = this.#block;
  #decoded = -1;
  #at = 0;

  constructor(
    private readonly view: ReadView,
    private readonly label: number,
    private readonly term: Uint8Array,
    private readonly record: TermRecord,
    private readonly weight: number,
    private readonly averageLength: number,
  ) {
    const score = (frequency: number, length: number): number =>
      termScore(weight, frequency, length, averageLength);
    this.#older = record.df > record.tail.count ? this.#readDirectory(score) : noBlocks;
    const { count, frequencies, lengths } = record.tail;
    let bound = 0;
    for (let i = 0; i < count; i++) bound = Math.max(bound, score(frequencies[i]!, lengths[i]!));
    this.#tailBound = bound;
    for (const older of this.#older.bounds) bound = Math.max(bound, older);
    this.bound = bound * slack;
    this.seek(0);
  }

  /**
   * The best score of the documents in the block of `id`, whose end `boundEnd` is then. Reads
   * nothing. Ids must not descend below those asked before.
   */
  boundAt(id: number): number {
    if (id <= this.boundEnd) return this.#lookedBound;
    const { uppers, bounds, count } = this.#older;
    let looked = this.#looked;
    while (looked < count && uppers[looked]! < id) looked++;
    this.#looked = looked;
    this.boundEnd = looked < count ? uppers[looked]! : END;
    this.#lookedBound = looked < count ? bounds[looked]! : this.#tailBound;
    return this.#lookedBound;
  }

  /** Moves to the first document at or after `id`, which is not before the current one. */
  seek(id: number): void {
    for (let from = id; ; from = this.boundEnd + 1) {
      this.boundAt(from);
      if (this.#decoded !== this.#looked) this.#decode();
      const { ids, count } = this.#block;
      let at = this.#at;
      while (at < count && ids[at]! < id) at++;
      this.#at = at;
      this.doc = at < count ? ids[at]! : END;
      // A block may end below its upper id: what follows is in the next one.
      if (at < count || this.boundEnd === END) return;
    }
  }

  /** What the term adds to the score of `doc`. */
  score(): number {
    const { frequencies, lengths } = this.#block;
    const at = this.#at;
    return termScore(this.weight, frequencies[at]!, lengths[at]!, this.averageLength);
  }

  /** Gives its blocks back; the cursor is of no use afterwards. */
  close(): void {
    giveBlock(this.#own);
    giveBlock(this.record.tail);
  }

  #decode(): void {
    this.#decoded = this.#looked;
    this.#at = 0;
    if (this.#looked === this.#older.count) {
      this.#block = this.record.tail;
      return;
    }
    const key = blockKey(this.label, this.term, this.#older.uppers[this.#looked]!);
    const bytes = this.view.getDerived(key);
    assert(bytes !== undefined, 'a listed block is there');
    this.#block = this.#own;
    decodeBlock(bytes, this.#block);
  }

  #readDirectory(score: (frequency: number, length: number) => number): BlockBounds {
    const bytes = this.view.getDerived(directoryKey(this.label, this.term));
    assert(bytes !== undefined, 'a term with older postings has a directory');
    return boundBlocks(bytes, score);
  }
}
