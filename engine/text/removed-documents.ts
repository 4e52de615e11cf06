// Collects the documents of elements that are removed together, so that the list of each term is written
// once. Removed separately, each of 100,000 documents would rewrite a block, a directory and a record for
// every term.
import { doubled } from '../base/u32-array.js';
import type { DerivedStore } from '../storage/table/deferred-work.js';
import type { Document } from './analysis/analyzer.js';
import { removePosting, removePostings } from './posting-list.js';
import { termBytes } from './text-key.js';

/** Bytes of a posting, in an array that doubles. */
const postingBytes = 8;
/** Bytes of a new term besides its characters: string and map entry. */
const newTermBytes = 64;
/** Bytes of the array that the second id of a term needs. */
const idsBytes = 128;

class IdList {
  count = 0;
  ids = new Uint32Array(4);

  add(id: number): void {
    if (this.count === this.ids.length) this.ids = doubled(this.ids);
    this.ids[this.count++] = id;
  }
}

/** Removed documents of one label. */
interface RemovedOfLabel {
  /** Ids by term: one id, or a list. Most terms of dissimilar texts have one. */
  terms: Map<string, number | IdList>;
  documents: number;
  /** Sum of the document lengths, in terms. */
  length: number;
}

export class RemovedDocuments {
  readonly #labels = new Map<number, RemovedOfLabel>();

  /** Adds a document; ids ascend. Returns the bytes of memory that it takes. */
  add(label: number, id: number, { frequencies, length }: Document): number {
    let removed = this.#labels.get(label);
    if (removed === undefined) {
      this.#labels.set(label, (removed = { terms: new Map(), documents: 0, length: 0 }));
    }
    removed.documents++;
    removed.length += length;
    let bytes = 0;
    for (const term of frequencies.keys()) {
      bytes += postingBytes;
      const known = removed.terms.get(term);
      if (known === undefined) {
        removed.terms.set(term, id);
        bytes += newTermBytes + 2 * term.length;
      } else if (typeof known === 'number') {
        const ids = new IdList();
        ids.add(known);
        ids.add(id);
        removed.terms.set(term, ids);
        bytes += idsBytes;
      } else known.add(id);
    }
    return bytes;
  }

  /**
   * Removes the postings of all documents. `count` changes the statistics of a label; `tick` is called with
   * the number of postings of each list.
   */
  remove(
    view: DerivedStore,
    count: (view: DerivedStore, label: number, documents: number, length: number) => void,
    tick: (postings: number) => void,
  ): void {
    for (const [label, { terms, documents, length }] of this.#labels) {
      count(view, label, -documents, -length);
      // Sorted, because terms that are neighbours in key order share pages.
      for (const term of [...terms.keys()].sort()) {
        const known = terms.get(term)!;
        const list = { view, label, term: termBytes(term) };
        tick(typeof known === 'number' ? 1 : known.count);
        if (typeof known === 'number') removePosting(list, known);
        else removePostings(list, known.ids.subarray(0, known.count));
      }
    }
    this.#labels.clear();
  }
}
