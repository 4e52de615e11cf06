// Iterates over the postings of one query term by ascending document id. The bound of a block is known before
// the block is read; the cursor reads it only when a document in it is needed.
import type { ReadView } from '../storage/table/view-types.js';
import type { BlockBounds } from './impacts.js';

/** Value of `doc` at the end: above every id. */
export const END = 2 ** 32;

/** Postings [start, end) of two arrays that many blocks share. */
export interface ScoredBlock {
  ids: Uint32Array;
  scores: Float64Array;
  start: number;
  end: number;
}

/** The postings of what one clause of a query is about, with their scores. */
export interface ScoredPostings {
  /** Number of documents. */
  readonly df: number;
  /** Bounds of the sealed blocks. The tail follows them. */
  readonly sealedBlocks: BlockBounds;
  readonly tailMaxScore: number;
  /** Newest document, or 0 when the tail is empty. */
  readonly tailEnd: number;
  /** Returns a sealed block, or the tail for the number after the last one. */
  block(view: ReadView, number: number): ScoredBlock;
}

export class TermCursor {
  /** Upper bound of the scores in the block. */
  bound = 0;
  /** Last id of the block that `enter` selected. */
  boundEnd = -1;
  /** Current document, or END when the block has no more. */
  doc = -1;
  /** Postings [at, end) of the loaded block. */
  ids = new Uint32Array(0);
  scores = new Float64Array(0);
  at = 0;
  end = 0;
  #number = 0;
  #loaded = -1;

  constructor(
    private readonly view: ReadView,
    private readonly term: ScoredPostings,
    /** How often the query contains the term. */
    readonly queryFrequency: number,
  ) {}

  /** Selects the block that covers `id`, without reading it. Ids must not descend. */
  enter(id: number): void {
    if (id <= this.boundEnd) return;
    const { sealedBlocks: older, tailEnd, tailMaxScore: tailBound } = this.term;
    const { uppers, bounds, count } = older;
    let number = this.#number;
    while (number < count && uppers[number]! < id) number++;
    this.#number = number;
    if (number < count) {
      this.boundEnd = uppers[number]!;
      this.bound = bounds[number]! * this.queryFrequency;
    } else if (id <= tailEnd) {
      this.boundEnd = tailEnd;
      this.bound = tailBound * this.queryFrequency;
    } else {
      this.boundEnd = END;
      this.bound = 0;
    }
  }

  /** Moves to the first document of the block at or after `id`. */
  load(id: number): void {
    if (this.#loaded !== this.#number) {
      const block = this.term.block(this.view, this.#number);
      this.#loaded = this.#number;
      this.ids = block.ids as Uint32Array<ArrayBuffer>;
      this.scores = block.scores as Float64Array<ArrayBuffer>;
      this.at = block.start;
      this.end = block.end;
    }
    const { ids, end } = this;
    let { at } = this;
    while (at < end && ids[at]! < id) at++;
    this.at = at;
    this.doc = at < end ? ids[at]! : END;
  }

  /** Moves to the next document of the block. */
  next(): void {
    const at = ++this.at;
    this.doc = at < this.end ? this.ids[at]! : END;
  }

  /** Returns what the term adds to the score of `doc`. */
  score(): number {
    return this.scores[this.at]! * this.queryFrequency;
  }
}
