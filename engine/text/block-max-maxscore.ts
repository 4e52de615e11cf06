// The k best documents for several terms without scoring them all: block-max MaxScore (K. Chakrabarti,
// S. Chaudhuri, V. Ganti, "Interval-based pruning for top-k processing over compressed lists", ICDE
// 2011). Ids are cut into spans in which no term changes its block. A span whose bounds together
// cannot beat the k-th best score so far is passed over unread; in any other, the terms with the
// lowest bounds that cannot do it by themselves are only asked about documents of the others. (A
// WAND that picked a pivot per document took three times as long: it looks at bounds for every
// document, this once a span.)
//
// Exact. Documents come by ascending id, so of equals the oldest stay.
import { END, type TermCursor } from './term-cursor.js';
import type { TextHit } from './text-index-types.js';
import { TopHits } from './top-k-hits.js';

/** For sums of bounds in any order: a little more than rounding can take away. */
const slack = 1 + 1e-9;

type Allow = ((id: number) => boolean) | undefined;

/**
 * Best first, ties by ascending id. The order of `terms` is the order in which scores are added up.
 */
export function topDocuments(terms: readonly TermCursor[], k: number, allow: Allow): TextHit[] {
  const search = new Search(terms, new TopHits(k), allow);
  for (let from = 0; from < END; ) {
    let bound = 0;
    let to = END;
    for (const term of terms) {
      term.enter(from);
      bound += term.bound;
      if (term.boundEnd < to) to = term.boundEnd;
    }
    if (bound > 0 && bound * slack > search.top.threshold) search.span(from, to);
    from = to + 1;
  }
  return search.top.take();
}

class Search {
  /** By ascending bound: the first `asked` are asked about documents of the others only. */
  readonly #order: TermCursor[];
  #nonEssential = 0;
  /** Bounds of those that are asked. */
  #rest = 0;

  constructor(
    private readonly terms: readonly TermCursor[],
    readonly top: TopHits,
    private readonly allow: Allow,
  ) {
    this.#order = [...terms];
  }

  /** Offers what may be among the best of the documents [from, to]. */
  span(from: number, to: number): void {
    const order = this.#order;
    sortByBound(order);
    this.#nonEssential = 0;
    this.#rest = 0;
    this.#demote();
    for (let i = this.#nonEssential; i < order.length; i++) order[i]!.load(from);
    for (;;) {
      if (this.#nonEssential === order.length - 1)
        return this.#single(order[this.#nonEssential]!, to);
      if (this.#nonEssential === order.length) return;
      let doc = END;
      for (let i = this.#nonEssential; i < order.length; i++) doc = Math.min(doc, order[i]!.doc);
      if (doc > to) return;
      let score = this.#rest;
      for (let i = this.#nonEssential; i < order.length; i++) {
        if (order[i]!.doc === doc) score += order[i]!.score();
      }
      const first = this.#nonEssential;
      this.#consider(doc, score);
      for (let i = first; i < order.length; i++) if (order[i]!.doc === doc) order[i]!.next();
    }
  }

  /** The rest of a span in which only one term can bring in documents. */
  #single(term: TermCursor, to: number): void {
    const { ids, scores, end, times } = term;
    let { threshold } = this.top;
    for (let { at } = term; at < end; at++) {
      const doc = ids[at]!;
      if (doc > to) break;
      const score = scores[at]! * times + this.#rest;
      if (score * slack <= threshold) continue;
      term.at = at;
      term.doc = doc;
      this.#consider(doc, score);
      threshold = this.top.threshold;
      if (this.#nonEssential === this.#order.length) return;
    }
  }

  /** Offers a document that scores at most `most`, unless those that are asked take it too low. */
  #consider(doc: number, most: number): void {
    const order = this.#order;
    const { threshold } = this.top;
    if (most * slack <= threshold) return;
    let bound = most;
    for (let i = this.#nonEssential - 1; i >= 0; i--) {
      const term = order[i]!;
      term.load(doc);
      bound -= term.bound;
      if (term.doc === doc) bound += term.score();
      if (bound * slack <= threshold) return;
    }
    if (this.allow !== undefined && !this.allow(doc)) return;
    let score = 0;
    for (const term of this.terms) if (term.doc === doc) score += term.score();
    this.top.offer(doc, score);
    if (this.top.threshold > threshold) this.#demote();
  }

  /** Finds more terms that cannot bring in documents by themselves. */
  #demote(): void {
    const order = this.#order;
    while (this.#nonEssential < order.length) {
      const { bound } = order[this.#nonEssential]!;
      if ((this.#rest + bound) * slack > this.top.threshold) return;
      this.#rest += bound;
      this.#nonEssential++;
    }
  }
}

/** Nearly sorted already: insertion sort. */
function sortByBound(order: TermCursor[]): void {
  for (let i = 1; i < order.length; i++) {
    const term = order[i]!;
    let at = i;
    for (; at > 0 && order[at - 1]!.bound > term.bound; at--) order[at] = order[at - 1]!;
    order[at] = term;
  }
}
