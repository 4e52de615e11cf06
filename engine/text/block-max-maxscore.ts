// Finds the k best documents for several terms without scoring all of them: block-max MaxScore (K.
// Chakrabarti, S. Chaudhuri, V. Ganti, "Interval-based pruning for top-k processing over compressed lists",
// ICDE 2011).
//
// The ids are cut into spans in which no term changes its block. The search skips a span unread if the sum of
// its upper bounds cannot beat the k-th best score so far. In any other span, the terms with the lowest
// bounds are non-essential if their sum cannot beat that score. Only the essential terms propose documents;
// the non-essential ones are looked up for these documents. (WAND, which picks a pivot for each document,
// took three times as long: it compares bounds for every document, this algorithm once per span.)
//
// Invariant: the result is exact. Documents come by ascending id, so the oldest of equal documents stays.
import { END, type TermCursor } from './term-cursor.js';
import type { TextHit } from './text-index-types.js';
import { TopHits } from './top-k-hits.js';

/**
 * Factor for sums of upper bounds, which may be added in any order: slightly more than rounding can take
 * away.
 */
const slack = 1 + 1e-9;

type Allow = ((id: number) => boolean) | undefined;

/**
 * Returns the best k documents, best first, ties by ascending id. Scores are added in the order of `terms`.
 * `accepts` is asked about documents by ascending id, while each term is at the document if it has it.
 */
export function topDocuments(
  terms: readonly TermCursor[],
  k: number,
  allow: Allow,
  accepts: Allow = undefined,
): TextHit[] {
  const search = new MaxScoreSearch(terms, new TopHits(k), allow, accepts);
  for (let from = 0; from < END; ) {
    let bound = 0;
    let to = END;
    for (const term of terms) {
      term.enter(from);
      bound += term.bound;
      if (term.boundEnd < to) to = term.boundEnd;
    }
    if (bound > 0 && bound * slack > search.top.threshold) search.searchSpan(from, to);
    from = to + 1;
  }
  return search.top.take();
}

class MaxScoreSearch {
  /** Terms by ascending bound. The first `#nonEssential` of them are non-essential. */
  readonly #order: TermCursor[];
  #nonEssential = 0;
  /** Sum of the bounds of the non-essential terms. */
  #nonEssentialBound = 0;

  constructor(
    private readonly terms: readonly TermCursor[],
    readonly top: TopHits,
    private readonly allow: Allow,
    private readonly accepts: Allow,
  ) {
    this.#order = [...terms];
  }

  /** Offers every document of [from, to] that may be among the best. */
  searchSpan(from: number, to: number): void {
    const order = this.#order;
    sortByBound(order);
    this.#nonEssential = 0;
    this.#nonEssentialBound = 0;
    this.#extendNonEssential();
    for (let i = this.#nonEssential; i < order.length; i++) order[i]!.load(from);
    for (;;) {
      if (this.#nonEssential === order.length - 1)
        return this.#scoreSingle(order[this.#nonEssential]!, to);
      if (this.#nonEssential === order.length) return;
      let doc = END;
      for (let i = this.#nonEssential; i < order.length; i++) doc = Math.min(doc, order[i]!.doc);
      if (doc > to) return;
      let score = this.#nonEssentialBound;
      for (let i = this.#nonEssential; i < order.length; i++) {
        if (order[i]!.doc === doc) score += order[i]!.score();
      }
      const first = this.#nonEssential;
      this.#consider(doc, score);
      for (let i = first; i < order.length; i++) if (order[i]!.doc === doc) order[i]!.next();
    }
  }

  /** Finishes a span in which one term alone is essential. */
  #scoreSingle(term: TermCursor, to: number): void {
    const { ids, scores, end, queryFrequency: times } = term;
    let { threshold } = this.top;
    for (let { at } = term; at < end; at++) {
      const doc = ids[at]!;
      if (doc > to) break;
      const score = scores[at]! * times + this.#nonEssentialBound;
      if (score * slack <= threshold) continue;
      term.at = at;
      term.doc = doc;
      this.#consider(doc, score);
      threshold = this.top.threshold;
      if (this.#nonEssential === this.#order.length) return;
    }
  }

  /**
   * Offers a document that scores at most `upperBound`, unless the non-essential terms lower this bound too
   * far.
   */
  #consider(doc: number, upperBound: number): void {
    const order = this.#order;
    const { threshold } = this.top;
    if (upperBound * slack <= threshold) return;
    let bound = upperBound;
    for (let i = this.#nonEssential - 1; i >= 0; i--) {
      const term = order[i]!;
      term.load(doc);
      bound -= term.bound;
      if (term.doc === doc) bound += term.score();
      if (bound * slack <= threshold) return;
    }
    if (this.accepts !== undefined && !this.accepts(doc)) return;
    if (this.allow !== undefined && !this.allow(doc)) return;
    let score = 0;
    for (const term of this.terms) if (term.doc === doc) score += term.score();
    this.top.offer(doc, score);
    if (this.top.threshold > threshold) this.#extendNonEssential();
  }

  /** Makes more terms non-essential, as far as the threshold allows. */
  #extendNonEssential(): void {
    const order = this.#order;
    while (this.#nonEssential < order.length) {
      const { bound } = order[this.#nonEssential]!;
      if ((this.#nonEssentialBound + bound) * slack > this.top.threshold) return;
      this.#nonEssentialBound += bound;
      this.#nonEssential++;
    }
  }
}

/** Insertion sort: the order is nearly sorted already. */
function sortByBound(order: TermCursor[]): void {
  for (let i = 1; i < order.length; i++) {
    const term = order[i]!;
    let at = i;
    for (; at > 0 && order[at - 1]!.bound > term.bound; at--) order[at] = order[at - 1]!;
    order[at] = term;
  }
}
