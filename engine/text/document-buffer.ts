// Buffers the documents of new elements until their transaction ends, so that the list of each term is
// written once, however many documents contain it. In calls of 5,000 documents, a document costs 76 us of CPU
// this way, against 260 when every posting is written separately.
import type { DerivedStore, DeferredTask } from '../storage/table/deferred-work.js';
import type { Document } from './analysis/analyzer.js';
import { NewPostings, addNewPostings } from './posting-list.js';
import { termBytes } from './text-key.js';

/** Adds documents, and terms of them, to the statistics of a label. */
type CountDocuments = (
  store: DerivedStore,
  label: number,
  documents: number,
  length: number,
) => void;

/** Numbers per document in `#heads`: label, id, length, and the end of its terms. */
const headNumbers = 4;

export class DocumentBuffer implements DeferredTask {
  #heads: number[] = [];
  #terms: string[] = [];
  #frequencies: number[] = [];
  /** Number of documents of earlier requests, and how many of them are written. */
  #earlier = 0;
  #done = 0;

  constructor(private readonly count: CountDocuments) {}

  /** Adds a document. Ids ascend, and are above every indexed id. */
  add(label: number, id: number, { frequencies, length }: Document): void {
    for (const [term, frequency] of frequencies) {
      this.#terms.push(term);
      this.#frequencies.push(frequency);
    }
    this.#heads.push(label, id, length, this.#terms.length);
  }

  begin(): void {
    this.#earlier = this.#documents;
  }

  undo(): void {
    this.#cut(this.#earlier);
  }

  flushEarlier(group: DerivedStore): void {
    this.#write(group, this.#done, this.#earlier);
    this.#done = this.#earlier;
    if (this.#earlier === this.#documents) this.#clear();
  }

  flushOwn(own: DerivedStore): void {
    this.#write(own, this.#earlier, this.#documents);
    this.#clear();
  }

  get #documents(): number {
    return this.#heads.length / headNumbers;
  }

  #clear(): void {
    this.#done = this.#earlier = 0;
    this.#cut(0);
  }

  #cut(documents: number): void {
    this.#heads.length = documents * headNumbers;
    this.#terms.length = this.#frequencies.length = this.#termsBefore(documents);
  }

  #termsBefore(document: number): number {
    return document === 0 ? 0 : this.#heads[document * headNumbers - 1]!;
  }

  #write(store: DerivedStore, from: number, to: number): void {
    const labels = new Set<number>();
    for (let document = from; document < to; document++) {
      labels.add(this.#heads[document * headNumbers]!);
    }
    for (const label of labels) this.#writeLabel(store, label, from, to);
  }

  #writeLabel(store: DerivedStore, label: number, from: number, to: number): void {
    const lists = new Map<string, NewPostings>();
    let documents = 0;
    let total = 0;
    for (let document = from; document < to; document++) {
      const head = document * headNumbers;
      if (this.#heads[head] !== label) continue;
      const id = this.#heads[head + 1]!;
      const length = this.#heads[head + 2]!;
      documents++;
      total += length;
      for (let at = this.#termsBefore(document); at < this.#heads[head + 3]!; at++) {
        const term = this.#terms[at]!;
        let list = lists.get(term);
        if (list === undefined) lists.set(term, (list = new NewPostings()));
        list.add(id, this.#frequencies[at]!, length);
      }
    }
    this.count(store, label, documents, total);
    // Sorted, because terms that are neighbours in key order share pages.
    for (const term of [...lists.keys()].sort()) {
      addNewPostings({ view: store, label, term: termBytes(term) }, lists.get(term)!);
    }
  }
}
