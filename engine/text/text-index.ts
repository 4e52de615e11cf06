// The keyword index over the derived table of a view. All its data are in the transaction of the view, so
// they are committed and undone together with the element. Only the term cache stays in memory, and it holds
// for one commit.
//
// text-index-writer.ts writes the index.
import { fail } from '../base/errors.js';
import type { Limits } from '../base/limits.js';
import type { ReadView } from '../storage/table/view-types.js';
import { countTerms } from './analyzer.js';
import { topDocuments } from './block-max-maxscore.js';
import type { CollectionStats } from './bm25.js';
import { TermCache } from './term-cache.js';
import { TermCursor } from './term-cursor.js';
import type { TextHit, TextIndex } from './text-index-types.js';
import { TextIndexWriter, readTotals } from './text-index-writer.js';
import { termBytes } from './text-key.js';

/** Creates the index. Uses the limits text_bytes, text_terms and document_terms. */
export function createTextIndex(limits: Limits): TextIndex {
  return new KeywordIndex(limits);
}

class KeywordIndex extends TextIndexWriter implements TextIndex {
  readonly #cache = new TermCache();

  constructor(private readonly limits: Limits) {
    super(limits.document_terms);
  }

  search(
    view: ReadView,
    label: number,
    query: string,
    k: number,
    allow?: (id: number) => boolean,
  ): TextHit[] {
    const terms = queryTerms(query, this.limits);
    view.flushDeferred?.();
    const totals = readTotals(view, label);
    if (terms.size === 0 || totals.documents === 0 || k <= 0) return [];
    return search(this.#cache, view, label, terms, totals, k, allow);
  }
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
