// The interface of the keyword index: BM25 over postings that are stored in LMDB and change in the
// transaction of their element.
import type { SearchOptions } from '../base/text/search-options.js';
import type { DocumentText } from '../base/text/document-text.js';
import type { SearchMode } from '../base/text/search-mode.js';
import type { DerivedStore } from '../storage/table/deferred-work.js';
import type { ReadView, WriteView } from '../storage/table/view-types.js';

export interface TextHit {
  id: number;
  score: number;
}

export interface TextIndex {
  /**
   * Adds the document of an element: its String and [String] values. A document without terms has no entry.
   */
  add(view: WriteView, label: number, id: number, texts: readonly DocumentText[]): void;
  /**
   * Replaces the texts `before`, with which the document was added, by `after`. Terms with equal frequency in
   * a document of equal length are not written.
   */
  replace(
    view: DerivedStore & Pick<ReadView, 'flushDeferred'>,
    label: number,
    id: number,
    before: readonly DocumentText[],
    after: readonly DocumentText[],
  ): void;
  /** Removes a document; `texts` are those that it was added with. */
  remove(view: WriteView, label: number, id: number, texts: readonly DocumentText[]): void;
  /** Starts the removal of many documents. */
  removal(): TextRemoval;
  /**
   * Returns the k best documents of the label, best first, ties by ascending id. `allow` filters documents by
   * id. A query with more than `text_terms` terms is cut to the rarest ones. Fails TEXT_TOO_LONG when the
   * query exceeds `text_bytes`.
   */
  search(
    view: ReadView,
    label: number,
    query: string,
    k: number,
    allow?: (id: number) => boolean,
    request?: SearchRequest,
  ): TextHit[];
}

/** How a search reads its text. */
export interface SearchRequest {
  /** `any` by default. */
  mode?: SearchMode;
  /** Whether the last word may be the beginning of a word. */
  prefix?: boolean;
  /** The options of the searched properties; none without `SEARCH`. */
  marks?: readonly SearchOptions[];
  /** Returns the texts of a document, on which phrases are proved. */
  textsOf?(id: number): readonly DocumentText[];
}

/** Removal of many documents: each posting list is written once. */
export interface TextRemoval {
  /**
   * Adds a document with the texts that it was added with. Ids ascend within a label. Returns the bytes of
   * memory it takes.
   */
  add(label: number, id: number, texts: readonly DocumentText[]): number;
  /** Removes all of them. `tick` is called with the number of postings removed from each list. */
  finish(view: WriteView, tick: (postings: number) => void): void;
}
