// The k best documents for several terms without scoring them all: block-max WAND (S. Ding, T.
// Suel, "Faster top-k document retrieval using block-max indexes", SIGIR 2011). Exact: a document
// is only passed over when the bounds of its terms cannot beat the k-th best score so far.
// Documents come by ascending id, so of equals the oldest stay.
import { END, type TermCursor } from './term-cursor.js';
import type { TextHit } from './text-index.js';
import { TopHits } from './top-hits.js';

/**
 * Best first, ties by ascending id. The order of `terms` is the order in which scores are added up.
 */
export function bestDocuments(
  terms: readonly TermCursor[],
  k: number,
  allow: ((id: number) => boolean) | undefined,
): TextHit[] {
  const top = new TopHits(k);
  const cursors = [...terms];
  for (;;) {
    sortByDoc(cursors);
    const pivot = pivotOf(cursors, top.threshold);
    if (pivot < 0) return top.take();
    const { doc } = cursors[pivot]!;
    if (boundAt(terms, doc, doc) <= top.threshold) {
      skip(terms, cursors, pivot, top.threshold);
    } else if (cursors[0]!.doc < doc) {
      cursors[0]!.seek(doc);
    } else {
      if (allow === undefined || allow(doc)) top.offer(doc, scoreOf(terms, doc));
      for (let i = 0; i <= pivot; i++) cursors[i]!.seek(doc + 1);
    }
  }
}

/** Nearly sorted already: insertion sort. */
function sortByDoc(cursors: TermCursor[]): void {
  for (let i = 1; i < cursors.length; i++) {
    const cursor = cursors[i]!;
    let at = i;
    for (; at > 0 && cursors[at - 1]!.doc > cursor.doc; at--) cursors[at] = cursors[at - 1]!;
    cursors[at] = cursor;
  }
}

/**
 * The last cursor at the first document that could beat the threshold: no document before it holds
 * enough terms. -1 when none is left.
 */
function pivotOf(cursors: readonly TermCursor[], threshold: number): number {
  let bound = 0;
  for (let i = 0; i < cursors.length; i++) {
    const { doc } = cursors[i]!;
    if (doc === END) return -1;
    bound += cursors[i]!.bound;
    if (bound <= threshold) continue;
    while (i + 1 < cursors.length && cursors[i + 1]!.doc === doc) i++;
    return i;
  }
  return -1;
}

/**
 * No document of the current blocks from `id` on scores above this, if only the terms that stand at
 * `doc` or before it hold it. Added up in the order of scores, so that rounding cannot put it below
 * them.
 */
function boundAt(terms: readonly TermCursor[], doc: number, id: number): number {
  let bound = 0;
  for (const term of terms) if (term.doc <= doc) bound += term.boundAt(id);
  return bound;
}

/**
 * Goes on at the first document after the current blocks that could beat the threshold, or where
 * another term joins.
 */
function skip(
  terms: readonly TermCursor[],
  cursors: readonly TermCursor[],
  pivot: number,
  threshold: number,
): void {
  const { doc } = cursors[pivot]!;
  const joins = pivot + 1 < cursors.length ? cursors[pivot + 1]!.doc : END;
  let next: number;
  do {
    next = joins;
    for (let i = 0; i <= pivot; i++) next = Math.min(next, cursors[i]!.boundEnd + 1);
  } while (next < joins && boundAt(terms, doc, next) <= threshold);
  for (let i = 0; i <= pivot; i++) cursors[i]!.seek(next);
}

function scoreOf(terms: readonly TermCursor[], doc: number): number {
  let score = 0;
  for (const term of terms) if (term.doc === doc) score += term.score();
  return score;
}
