// What a keyword search looks for: the terms that it scores, and the condition that a document must meet.
// Pure; the index is not known here.
//
// Invariant: a query finds every document that contains its text, whatever the mode.
import { analyzeWords } from '../analysis/analyzer.js';
import type { SearchMode } from '../../base/text/search-mode.js';
import { cutWords, segmentsOf } from '../analysis/cut.js';
import { fold } from '../analysis/fold.js';
import { foldCase, normalize } from '../analysis/normalize.js';
import { type WordTerms, surfaceMark } from '../analysis/word.js';
import type { Condition, Form, Query, QueryPart, QueryTerm, SearchedTexts } from './query-types.js';

/** Returns the query that a text asks. `parts`: the parts of the text, in order. */
export function buildQuery(
  parts: readonly QueryPart[],
  mode: SearchMode,
  texts: SearchedTexts,
): Query {
  const builder = new QueryBuilder(texts);
  const words = parts.map((part) => builder.wordsOf(part));
  // Stop words count if there is nothing else.
  const isAllStopWords = words.flat().every(({ isStopWord }) => isStopWord);
  const required: Condition[] = [];
  const optional: Condition[] = [];
  for (const [i, part] of parts.entries()) {
    const strict = mode === 'all' || part.isPhrase || part.role !== 'optional';
    const conditions = words[i]!.filter(({ isStopWord }) => isAllStopWords || !isStopWord).map(
      (word) => builder.add(word, part.role !== 'excluded'),
    );
    if (conditions.length === 0) continue;
    const all: Condition = { kind: 'all', of: conditions };
    // A document with these words has the phrase only perhaps, so the words alone do not exclude it.
    if (part.role === 'excluded') {
      if (!needsProof(part, words[i]!)) required.push({ kind: 'not', of: all });
    } else if (strict) required.push(all);
    else optional.push(...conditions);
  }
  const phrases = parts
    .filter((part, i) => needsProof(part, words[i]!))
    .map(({ text, role }) => ({ text, isExcluded: role === 'excluded' }));
  if (required.length === 0 && builder.hasParts) required.push({ kind: 'any', of: optional });
  else if (
    required.length > 0 &&
    optional.length > 0 &&
    required.every(({ kind }) => kind === 'not')
  )
    required.push({ kind: 'any', of: optional });
  const condition: Condition | undefined =
    required.length > 0 ? { kind: 'all', of: required } : undefined;
  return { terms: builder.terms, condition, phrases };
}

/** Returns true if the order of the terms matters, which the index does not know. */
const needsProof = ({ isPhrase }: QueryPart, words: readonly QueryWord[]): boolean =>
  isPhrase &&
  (words.length > 1 ||
    words.some(({ analyzed }) =>
      analyzed.some(({ counted, stopWords }) => counted.length + stopWords.length > 1),
    ));

/** A word of a query, analyzed in each language of the type. */
interface QueryWord {
  analyzed: readonly WordTerms[];
  isStopWord: boolean;
  /** The beginning of a surface form that stands for the word as well. */
  prefix: string | undefined;
}

/**
 * How much another spelling of a word counts: the whole of a word with segments, and the parts of a whole. On
 * Cranfield, nDCG@10 is .5342 with it, .5325 without, and .5294 with 1.
 */
const spellingWeight = 0.25;

class QueryBuilder {
  readonly terms: QueryTerm[] = [];
  /** Whether some word has parts: a document with some of them does not have the word. */
  hasParts = false;
  readonly #numbers = new Map<string, number>();

  constructor(private readonly texts: SearchedTexts) {}

  wordsOf({ text, isPrefix }: QueryPart): QueryWord[] {
    const byLanguage = this.texts.languages.map((name) => analyzeWords(text, name));
    const words = byLanguage[0]!.map((_, i) => {
      const analyzed = byLanguage.map((list) => list[i]!);
      const isStopWord = analyzed.every(
        ({ counted, stopWords }) => counted.length === 0 && stopWords.length > 0,
      );
      return { analyzed, isStopWord, prefix: undefined as string | undefined };
    });
    const last = words.at(-1);
    if (isPrefix && last !== undefined && this.texts.hasSurfaces) {
      last.prefix = prefixOf(text);
      last.isStopWord = last.isStopWord && last.prefix === undefined;
    }
    return words.filter(({ analyzed }) => analyzed.some((terms) => !isNothing(terms)));
  }

  /** Adds the terms of a word. Returns the condition that a document contains the word. */
  add({ analyzed, prefix }: QueryWord, isScored: boolean): Condition {
    const alternatives: Condition[] = [];
    const scored = isScored ? 1 : 0;
    const own = analyzed.map(({ counted, stopWords }) =>
      counted.length > 0 ? counted : stopWords,
    );
    const single = own.every((terms) => terms.length === 1);
    if (single && (prefix !== undefined || new Set(own.flat()).size > 1)) {
      const forms = [...new Set(own.flat())].map((term) => ({ term, isPrefix: false }));
      if (prefix !== undefined) forms.push({ term: surfaceMark + prefix, isPrefix: true });
      alternatives.push(this.#term(forms, scored));
    } else {
      const seen = new Set<string>();
      for (const [i, terms] of own.entries()) {
        const key = terms.join(' ');
        if (terms.length === 0 || seen.has(key)) continue;
        seen.add(key);
        const { singles } = analyzed[i]!;
        const conditions = terms.map((term) =>
          this.#term([{ term, isPrefix: singles.includes(term) }], scored),
        );
        alternatives.push(
          conditions.length === 1 ? conditions[0]! : { kind: 'all', of: conditions },
        );
      }
      if (prefix !== undefined)
        alternatives.push(this.#term([{ term: surfaceMark + prefix, isPrefix: true }], scored));
    }
    // The segments of a word with joiners carry its score already; its exact spelling decides between equals.
    const hasSegments = own.some((terms) => terms.length > 1);
    const spelling = hasSegments ? scored * spellingWeight : scored;
    const added = new Set<string>();
    for (const { forms, parts } of analyzed) {
      const isNew = (term: string): boolean => !added.has(term) && added.add(term) !== undefined;
      for (const term of forms.filter(isNew))
        alternatives.push(this.#term([{ term, isPrefix: false }], spelling));
      const conditions = parts
        .filter(isNew)
        .map((term) => this.#term([{ term, isPrefix: false }], scored * spellingWeight));
      if (conditions.length === 0) continue;
      this.hasParts = true;
      alternatives.push({ kind: 'all', of: conditions });
    }
    return alternatives.length === 1 ? alternatives[0]! : { kind: 'any', of: alternatives };
  }

  #term(forms: readonly Form[], times: number): Condition {
    const key = forms.map(({ term, isPrefix }) => `${term}${isPrefix ? '*' : ''}`).join(' ');
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.terms.push({ forms, times: 0 }) - 1;
      this.#numbers.set(key, number);
    }
    this.terms[number]!.times += times;
    return { kind: 'term', term: number };
  }
}

const isNothing = ({ counted, stopWords, forms }: WordTerms): boolean =>
  counted.length + stopWords.length + forms.length === 0;

/** Returns the surface form of the last word of a text, or undefined if it does not end with a word. */
function prefixOf(text: string): string | undefined {
  const word = cutWords(normalize(text)).at(-1);
  const segment = word && segmentsOf(word).at(-1);
  return segment && fold(foldCase(segment));
}
