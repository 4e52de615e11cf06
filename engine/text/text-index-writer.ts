// Writes the keyword index. Requests, bulk loads and maintenance add, replace and remove documents here,
// and only this file calls posting-list.ts with new postings. Runs on the writer thread.
//
// Invariant: the statistics of a label and the postings of its documents change in the same transaction.
import type { DocumentText } from '../base/text/document-text.js';
import type { DerivedStore } from '../storage/table/deferred-work.js';
import type { ReadView, WriteView } from '../storage/table/view-types.js';
import { type Document, type DocumentRules, countTerms } from './analysis/analyzer.js';
import type { CollectionStats } from './bm25.js';
import { DocumentBuffer } from './document-buffer.js';
import {
  NewPostings,
  type PostingStore,
  addNewPostings,
  addPosting,
  removePosting,
  replacePosting,
} from './posting-list.js';
import { RemovedDocuments } from './removed-documents.js';
import { type TermBatch, termWords } from './term-batch.js';
import type { TextRemoval } from './text-index-types.js';
import { termBytes, totalsKey } from './text-key.js';

/** The documents of a bulk load. Postings name them by their row. */
export interface DocumentBatch {
  terms: TermBatch;
  /** [row, length] of each document. */
  documents: Uint32Array;
  /** Element of each row, 0 for a refused row. */
  ids: Uint32Array;
  labelOf(row: number): number;
}

export class TextIndexWriter {
  constructor(private readonly rules: DocumentRules) {}

  /** Adds a document, unless it has no terms. Defers the postings if the view defers work. */
  add(view: WriteView, label: number, id: number, texts: readonly DocumentText[]): void {
    const document = this.#count(texts);
    if (document.frequencies.size === 0) return;
    const buffer = view.defer?.(() => new DocumentBuffer(changeTotals));
    if (buffer) {
      buffer.add(label, id, document);
      return;
    }
    changeTotals(view, label, 1, document.length);
    for (const [term, frequency] of document.frequencies)
      addPosting({ view, label, term: termBytes(term) }, id, frequency, document.length);
  }

  /** Adds the documents of a bulk load, except those of refused rows. Each posting list is written once. */
  static addBatch(store: PostingStore, batch: DocumentBatch): void {
    const lengths = countBatch(store, batch);
    const { heads, names, postings } = batch.terms;
    const list = new NewPostings();
    let name = 0;
    let at = 0;
    for (let head = 0; head < heads.length; head += termWords) {
      const nameEnd = heads[head + 1]!;
      const end = heads[head + 2]!;
      list.count = 0;
      for (; at < end; at += 2) {
        const row = postings[at]!;
        if (batch.ids[row] === 0) continue;
        list.add(batch.ids[row]!, postings[at + 1]!, lengths[row]!);
      }
      const term = names.subarray(name, nameEnd);
      name = nameEnd;
      if (list.count > 0) addNewPostings({ view: store, label: heads[head]!, term }, list);
    }
  }

  /** Starts to add the documents of existing elements, whose postings `flush` writes. */
  bulk() {
    const buffer = new DocumentBuffer(changeTotals);
    return {
      /** Buffers a document. Ids ascend within a label. Returns false for a document without terms. */
      add: (label: number, id: number, texts: readonly DocumentText[]): boolean => {
        const document = this.#count(texts);
        if (document.frequencies.size > 0) buffer.add(label, id, document);
        return document.frequencies.size > 0;
      },
      flush: (store: DerivedStore): void => buffer.flushOwn(store),
    };
  }

  /** Replaces the texts `before`, with which the document was added, by `after`. */
  replace(
    view: DerivedStore & Pick<ReadView, 'flushDeferred'>,
    label: number,
    id: number,
    before: readonly DocumentText[],
    after: readonly DocumentText[],
  ): void {
    view.flushDeferred?.();
    replaceDocument(view, label, id, this.#count(before), this.#count(after));
  }

  /** Removes a document; `texts` are those that it was added with. */
  remove(view: WriteView, label: number, id: number, texts: readonly DocumentText[]): void {
    const document = this.#count(texts);
    if (document.frequencies.size === 0) return;
    view.flushDeferred?.();
    changeTotals(view, label, -1, -document.length);
    for (const term of document.frequencies.keys())
      removePosting({ view, label, term: termBytes(term) }, id);
  }

  /** Starts the removal of many documents. */
  removal(): TextRemoval {
    const removed = new RemovedDocuments();
    return {
      add: (label, id, texts) => {
        const document = this.#count(texts);
        return document.frequencies.size === 0 ? 0 : removed.add(label, id, document);
      },
      finish: (view, tick) => {
        view.flushDeferred?.();
        removed.remove(view, changeTotals, tick);
      },
    };
  }

  #count(texts: readonly DocumentText[]): Document {
    return countTerms(texts, this.rules);
  }
}

function replaceDocument(
  view: PostingStore,
  label: number,
  id: number,
  former: Document,
  next: Document,
): void {
  const count = Number(next.frequencies.size > 0) - Number(former.frequencies.size > 0);
  const grown = next.length - former.length;
  if (count !== 0 || grown !== 0) changeTotals(view, label, count, grown);
  for (const [term, frequency] of next.frequencies) {
    const old = former.frequencies.get(term);
    const list = { view, label, term: termBytes(term) };
    if (old === undefined) addPosting(list, id, frequency, next.length);
    else if (old !== frequency || grown !== 0) replacePosting(list, id, frequency, next.length);
  }
  for (const term of former.frequencies.keys()) {
    if (!next.frequencies.has(term)) removePosting({ view, label, term: termBytes(term) }, id);
  }
}

/** Adds the documents of a batch to the statistics of their labels. Returns their lengths by row. */
function countBatch(store: PostingStore, { documents, ids, labelOf }: DocumentBatch): Uint32Array {
  const lengths = new Uint32Array(ids.length);
  const totals = new Map<number, CollectionStats>();
  for (let at = 0; at < documents.length; at += 2) {
    const row = documents[at]!;
    if (ids[row] === 0) continue;
    lengths[row] = documents[at + 1]!;
    const label = labelOf(row);
    const total = totals.get(label) ?? { documents: 0, length: 0 };
    totals.set(label, total);
    total.documents++;
    total.length += documents[at + 1]!;
  }
  for (const [label, { documents, length }] of totals)
    changeTotals(store, label, documents, length);
  return lengths;
}

/** Returns the number of documents of a label and the sum of their lengths. */
export function readTotals(view: Pick<ReadView, 'getDerived'>, label: number): CollectionStats {
  return totalsIn(view.getDerived(totalsKey(label)));
}

function totalsIn(bytes: Uint8Array | undefined): CollectionStats {
  if (bytes === undefined) return { documents: 0, length: 0 };
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { documents: numbers.getFloat64(0), length: numbers.getFloat64(8) };
}

function changeTotals(view: PostingStore, label: number, documents: number, length: number): void {
  const key = totalsKey(label);
  const former = view.getDerived(key);
  const totals = totalsIn(former);
  if (totals.documents + documents === 0) {
    view.deleteDerived(key);
    return;
  }
  const numbers = new DataView(new ArrayBuffer(16));
  numbers.setFloat64(0, totals.documents + documents);
  numbers.setFloat64(8, totals.length + length);
  view.putDerived(key, new Uint8Array(numbers.buffer), former);
}
