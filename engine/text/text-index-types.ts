// The keyword index as others see it: BM25 over postings that live in LMDB and change in the
// element's transaction.
import type { DerivedStore } from '../storage/table/deferred-work.js';
import type { ReadView, WriteView } from '../storage/table/view-types.js';

export interface TextHit {
  id: number;
  score: number;
}

export interface TextIndex {
  /** Adds the document of an element (its String and [String] values). No terms: no entry. */
  add(view: WriteView, label: number, id: number, texts: readonly string[]): void;
  /** Changes it from the texts it was added with to others; terms that stay the same are not touched. */
  replace(
    view: DerivedStore & Pick<ReadView, 'flushDeferred'>,
    label: number,
    id: number,
    before: readonly string[],
    after: readonly string[],
  ): void;
  /** Removes it; `texts` are the ones it was added with. */
  remove(view: WriteView, label: number, id: number, texts: readonly string[]): void;
  /** Begins to remove many. */
  removal(): TextRemoval;
  /**
   * The k best documents of the label, best first, ties by ascending id. TEXT_TOO_LONG beyond the
   * limits.
   */
  search(
    view: ReadView,
    label: number,
    query: string,
    k: number,
    allow?: (id: number) => boolean,
  ): TextHit[];
}

/** Documents that go together: every list that some of them leave is written once. */
export interface TextRemoval {
  /** `texts`: those it was added with. Ids ascend within a label. Tells how many bytes are kept for it. */
  add(label: number, id: number, texts: readonly string[]): number;
  /** Removes all of them. `tick` hears of the postings as they go. */
  finish(view: WriteView, tick: (postings: number) => void): void;
}
