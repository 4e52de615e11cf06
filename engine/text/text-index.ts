// The keyword index over the derived table of a view. All its data are in the transaction of the view, so
// they are committed and undone together with the element. Only the term cache stays in memory, and it holds
// for one commit.
//
// text-index-writer.ts writes the index.
import { fail } from '../base/errors.js';
import type { Limits } from '../base/limits.js';
import type { LanguageName } from '../base/text/language-name.js';
import type { ReadView } from '../storage/table/view-types.js';
import { topDocuments } from './block-max-maxscore.js';
import type { CollectionStats } from './bm25.js';
import { hasPhrase } from './query/phrase.js';
import type { Condition, Query } from './query/query-types.js';
import { buildQuery } from './query/query.js';
import { readTypedQuery } from './query/typed-query.js';
import { TermCache } from './term-cache.js';
import { TermCursor } from './term-cursor.js';
import type { SearchRequest, TextHit, TextIndex } from './text-index-types.js';
import { TextIndexWriter, readTotals } from './text-index-writer.js';

/**
 * Creates the index. Uses the limits text_bytes, text_terms and document_terms. `language`: that of texts
 * whose property names none.
 */
export function createTextIndex(limits: Limits, language: LanguageName = 'english'): TextIndex {
  return new KeywordIndex(limits, language);
}

class KeywordIndex extends TextIndexWriter implements TextIndex {
  readonly #cache = new TermCache();

  constructor(
    private readonly limits: Limits,
    private readonly language: LanguageName,
  ) {
    super({ documentTerms: limits.document_terms, language });
  }

  search(
    view: ReadView,
    label: number,
    text: string,
    k: number,
    allow?: (id: number) => boolean,
    request: SearchRequest = {},
  ): TextHit[] {
    const size = Buffer.byteLength(text);
    const max = this.limits.text_bytes;
    if (size > max) fail('TEXT_TOO_LONG', { size, unit: 'bytes', max });
    view.flushDeferred?.();
    const totals = readTotals(view, label);
    const query = this.#query(text, request);
    if (query.terms.length === 0 || totals.documents === 0 || k <= 0) return [];
    this.#cache.begin(view);
    const search = (count: number): TextHit[] =>
      this.#search(view, label, query, totals, count, allow);
    const { phrases } = query;
    if (phrases.length === 0) return search(k);
    const proves = (id: number): boolean =>
      phrases.every(({ text: phrase, isExcluded }) => {
        const isThere = request.textsOf!(id).some((one) =>
          typeof one === 'string'
            ? hasPhrase(one, phrase, this.language)
            : hasPhrase(one.text, phrase, one.search.language ?? this.language),
        );
        return isThere !== isExcluded;
      });
    return firstProven(search, k, proves);
  }

  #query(text: string, { mode = 'any', prefix = false, marks = [] }: SearchRequest): Query {
    const languages = new Set(marks.map(({ language }) => language ?? this.language));
    if (languages.size === 0) languages.add(this.language);
    const hasSurfaces = marks.some((one) => one.prefix === true);
    const isPhrase = mode === 'phrase';
    const role = isPhrase ? 'required' : 'optional';
    const parts =
      mode === 'query'
        ? readTypedQuery(text)
        : [{ text, role, isPhrase, isPrefix: false } as const];
    const last = parts.at(-1);
    if (prefix && last && !last.isPhrase) parts[parts.length - 1] = { ...last, isPrefix: true };
    return buildQuery(parts, mode, { languages: [...languages], hasSurfaces });
  }

  #search(
    view: ReadView,
    label: number,
    { terms, condition }: Query,
    totals: CollectionStats,
    k: number,
    allow: ((id: number) => boolean) | undefined,
  ): TextHit[] {
    const found = terms.map(({ forms }) => this.#cache.get(label, forms, totals));
    const isCut = rarest(found, this.limits.text_terms);
    const cursors: (TermCursor | undefined)[] = [];
    const scored: TermCursor[] = [];
    for (const [i, { times }] of terms.entries()) {
      const postings = isCut?.[i] ? undefined : found[i];
      const cursor = postings && new TermCursor(view, postings, times);
      cursors.push(cursor);
      if (cursor && times > 0) scored.push(cursor);
    }
    if (scored.length === 0) return [];
    if (condition === undefined) return topDocuments(scored, k, allow);
    const has = (doc: number, term: number): boolean => {
      if (isCut?.[term]) return true;
      const cursor = cursors[term];
      if (cursor === undefined) return false;
      if (terms[term]!.times === 0) {
        cursor.enter(doc);
        cursor.load(doc);
      }
      return cursor.doc === doc;
    };
    return topDocuments(scored, k, allow, (doc) => meets(condition, (term) => has(doc, term)));
  }
}

function meets(condition: Condition, has: (term: number) => boolean): boolean {
  switch (condition.kind) {
    case 'term':
      return has(condition.term);
    case 'not':
      return !meets(condition.of, has);
    case 'all':
      return condition.of.every((one) => meets(one, has));
    case 'any':
      return condition.of.some((one) => meets(one, has));
  }
}

/**
 * Marks the terms of a long query that are left out: all but the rarest `max` that are in the index. Returns
 * undefined for a query of at most `max` terms.
 */
function rarest(
  found: readonly ({ df: number } | undefined)[],
  max: number,
): boolean[] | undefined {
  if (found.length <= max) return undefined;
  const order = found
    .flatMap((one, i) => (one === undefined ? [] : [{ i, df: one.df }]))
    .sort((a, b) => a.df - b.df || a.i - b.i);
  const isCut = found.map(() => true);
  for (const { i } of order.slice(0, max)) isCut[i] = false;
  return isCut;
}

/** Returns the k best candidates that are proven, asking for more candidates as long as there are any. */
function firstProven(
  search: (count: number) => TextHit[],
  k: number,
  proves: (id: number) => boolean,
): TextHit[] {
  const hits: TextHit[] = [];
  let done = 0;
  for (let count = 4 * k; ; count *= 4) {
    const candidates = search(count);
    for (; done < candidates.length && hits.length < k; done++)
      if (proves(candidates[done]!.id)) hits.push(candidates[done]!);
    if (hits.length === k || candidates.length < count) return hits;
  }
}
