// The keyword index over the derived table of a view. All its data are in the transaction of the view, so
// they are committed and undone together with the element. Only the term cache stays in memory, and it holds
// for one commit.
//
// Every write of a posting goes through posting-list.ts; README.md lists the three callers.
import { fail } from '../base/errors.js';
import type { Limits } from '../base/limits.js';
import type { ReadView } from '../storage/table/view-types.js';
import { analyze } from './analyzer.js';
import { topDocuments } from './block-max-maxscore.js';
import type { CollectionStats } from './bm25.js';
import { RemovedDocuments } from './removed-documents.js';
import { type Document, DocumentBuffer } from './document-buffer.js';
import { type PostingStore, addPosting, removePosting, replacePosting } from './posting-list.js';
import { TermCache } from './term-cache.js';
import { TermCursor } from './term-cursor.js';
import type { TextHit, TextIndex } from './text-index-types.js';
import { termBytes, totalsKey } from './text-key.js';

/** Creates the index. Uses the limits text_bytes, text_terms and document_terms. */
export function createTextIndex(limits: Limits): TextIndex {
  const cache = new TermCache();
  return {
    add(view, label, id, texts) {
      const document = countTerms(texts, limits.document_terms);
      if (document.length === 0) return;
      const buffer = view.defer?.(() => new DocumentBuffer(changeTotals));
      if (buffer) {
        buffer.add(label, id, document);
        return;
      }
      changeTotals(view, label, 1, document.length);
      for (const [term, frequency] of document.frequencies)
        addPosting({ view, label, term: termBytes(term) }, id, frequency, document.length);
    },
    remove(view, label, id, texts) {
      const document = countTerms(texts, limits.document_terms);
      if (document.length === 0) return;
      view.flushDeferred?.();
      changeTotals(view, label, -1, -document.length);
      for (const term of document.frequencies.keys())
        removePosting({ view, label, term: termBytes(term) }, id);
    },
    removal() {
      const removed = new RemovedDocuments();
      return {
        add(label, id, texts) {
          const document = countTerms(texts, limits.document_terms);
          return document.length === 0 ? 0 : removed.add(label, id, document);
        },
        finish(view, tick) {
          view.flushDeferred?.();
          removed.remove(view, changeTotals, tick);
        },
      };
    },
    replace(view, label, id, before, after) {
      const max = limits.document_terms;
      view.flushDeferred?.();
      replaceDocument(view, label, id, countTerms(before, max), countTerms(after, max));
    },
    search(view, label, query, k, allow) {
      const terms = queryTerms(query, limits);
      view.flushDeferred?.();
      const totals = readTotals(view, label);
      if (terms.size === 0 || totals.documents === 0 || k <= 0) return [];
      return search(cache, view, label, terms, totals, k, allow);
    },
  };
}

function replaceDocument(
  view: PostingStore,
  label: number,
  id: number,
  former: Document,
  next: Document,
): void {
  const count = Number(next.length > 0) - Number(former.length > 0);
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

/** Counts the terms of a document, up to `limit` in all. */
export function countTerms(texts: readonly string[], limit: number): Document {
  const frequencies = new Map<string, number>();
  let length = 0;
  for (const text of texts) {
    const terms = analyze(text, limit - length);
    for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    length += terms.length;
  }
  return { frequencies, length };
}

/** Returns the distinct terms with their frequencies, in order of first occurrence. */
function queryTerms(query: string, limits: Limits): ReadonlyMap<string, number> {
  const size = Buffer.byteLength(query);
  if (size > limits.text_bytes)
    fail('TEXT_TOO_LONG', { size, unit: 'bytes', max: limits.text_bytes });
  const { frequencies, length } = countTerms([query], Number.POSITIVE_INFINITY);
  if (length > limits.text_terms)
    fail('TEXT_TOO_LONG', { size: length, unit: 'terms', max: limits.text_terms });
  return frequencies;
}

function search(
  cache: TermCache,
  view: ReadView,
  label: number,
  terms: ReadonlyMap<string, number>,
  totals: CollectionStats,
  k: number,
  allow: ((id: number) => boolean) | undefined,
): TextHit[] {
  cache.begin(view);
  const cursors: TermCursor[] = [];
  for (const [term, times] of terms) {
    const found = cache.get(label, termBytes(term), totals);
    if (found) cursors.push(new TermCursor(view, found, times));
  }
  return topDocuments(cursors, k, allow);
}

export function readTotals(view: Pick<ReadView, 'getDerived'>, label: number): CollectionStats {
  return totalsIn(view.getDerived(totalsKey(label)));
}

function totalsIn(bytes: Uint8Array | undefined): CollectionStats {
  if (bytes === undefined) return { documents: 0, length: 0 };
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { documents: numbers.getFloat64(0), length: numbers.getFloat64(8) };
}

export function changeTotals(
  view: PostingStore,
  label: number,
  documents: number,
  length: number,
): void {
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
