// Documents of elements that go together: the list of each term is written once, however many of them hold
// it. One by one, each of 100,000 documents would rewrite a block, a directory and a record for every term.
import { doubled } from '../base/u32-array.js';
import type { DerivedStore } from '../storage/table/deferred-work.js';
import type { Document } from './document-buffer.js';
import { removePosting, removePostings } from './posting-list.js';
import { termBytes } from './text-key.js';

/** Of one posting, in an array that doubles. */
const postingBytes = 8;
/** Of a term that was not seen before: its text, its place in a map. */
const termBytesKept = 64;
/** Of the second id of a term: its array. */
const idsBytes = 128;

class Ids {
  count = 0;
  ids = new Uint32Array(4);

  add(id: number): void {
    if (this.count === this.ids.length) this.ids = doubled(this.ids);
    this.ids[this.count++] = id;
  }
}

/** Of one label. */
interface Gone {
  /** Who holds a term: one id, or many. Most terms of unlike texts are held once. */
  terms: Map<string, number | Ids>;
  documents: number;
  /** In terms, of all of them. */
  length: number;
}

export class GoneDocuments {
  readonly #labels = new Map<number, Gone>();

  /** Ids ascend. Tells how many bytes are kept for it. */
  add(label: number, id: number, { frequencies, length }: Document): number {
    let gone = this.#labels.get(label);
    if (gone === undefined) {
      this.#labels.set(label, (gone = { terms: new Map(), documents: 0, length: 0 }));
    }
    gone.documents++;
    gone.length += length;
    let bytes = 0;
    for (const term of frequencies.keys()) {
      bytes += postingBytes;
      const held = gone.terms.get(term);
      if (held === undefined) {
        gone.terms.set(term, id);
        bytes += termBytesKept + 2 * term.length;
      } else if (typeof held === 'number') {
        const ids = new Ids();
        ids.add(held);
        ids.add(id);
        gone.terms.set(term, ids);
        bytes += idsBytes;
      } else held.add(id);
    }
    return bytes;
  }

  /** Takes them out of the lists. `count` adds to the totals of a label; `tick` hears of the postings. */
  remove(
    view: DerivedStore,
    count: (view: DerivedStore, label: number, documents: number, length: number) => void,
    tick: (postings: number) => void,
  ): void {
    for (const [label, { terms, documents, length }] of this.#labels) {
      count(view, label, -documents, -length);
      // In the order of keys, neighbours share pages.
      for (const term of [...terms.keys()].sort()) {
        const held = terms.get(term)!;
        const list = { view, label, term: termBytes(term) };
        tick(typeof held === 'number' ? 1 : held.count);
        if (typeof held === 'number') removePosting(list, held);
        else removePostings(list, held.ids.subarray(0, held.count));
      }
    }
    this.#labels.clear();
  }
}
