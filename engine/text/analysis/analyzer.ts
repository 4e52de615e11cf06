// Analyzes texts into terms: normalizes, cuts and folds them, finds parts and stems. Documents and queries
// share it.
//
// Invariant: a query that is a piece of a document, cut at spaces, has no term that the document lacks.
import type { SearchOptions } from '../../base/text/search-options.js';
import type { DocumentText } from '../../base/text/document-text.js';
import type { LanguageName } from '../../base/text/language-name.js';
import { languageOf } from './language.js';
import type { WordTerms } from './word.js';
import { WordTable } from './word-table.js';

/** How texts become documents, besides their own marks. */
export interface DocumentRules {
  /** Largest number of terms of a document; later words are not indexed. */
  documentTerms: number;
  /** The default language. */
  language: LanguageName;
}

/** Terms of a document with their frequencies. */
export interface Document {
  frequencies: ReadonlyMap<string, number>;
  /** Number of terms, without stop words, and without the parts and further forms of words. */
  length: number;
}

/** Tables without and with surface forms. */
const tables = [new Map<LanguageName, WordTable>(), new Map<LanguageName, WordTable>()] as const;

function tableOf(name: LanguageName, hasSurfaces: boolean): WordTable {
  const known = tables[hasSurfaces ? 1 : 0];
  let table = known.get(name);
  if (table === undefined) {
    table = new WordTable({ language: languageOf(name), hasSurfaces });
    known.set(name, table);
  }
  return table;
}

/** Returns the words of a text in order. */
export function analyzeWords(text: string, language: LanguageName): WordTerms[] {
  const table = tableOf(language, false);
  table.begin();
  const count = table.cut(text);
  return Array.from(table.ids.subarray(0, count), (id) => {
    const terms = table.terms[id]!;
    return typeof terms === 'string' ? oneTerm(terms) : terms;
  });
}

const oneTerm = (term: string): WordTerms => ({
  counted: [term],
  stopWords: [],
  forms: [],
  parts: [],
  indexed: [],
  singles: [],
});

/** Returns the terms of a text that count for its length, in order. */
export const analyze = (text: string, language: LanguageName = 'english'): string[] =>
  analyzeWords(text, language).flatMap(({ counted }) => counted);

/** Number of the last text that was counted in a table. */
let counted = 0;

/**
 * Counts the terms of a document. Frequencies and the length are weighted (BM25F with weights of the
 * schema: S. Robertson, H. Zaragoza, M. Taylor, "Simple BM25 extension to multiple weighted fields", CIKM
 * 2004).
 */
export function countTerms(texts: readonly DocumentText[], rules: DocumentRules): Document {
  const frequencies = new Map<string, number>();
  let length = 0;
  let left = rules.documentTerms;
  for (const one of texts) {
    const isPlain = typeof one === 'string';
    const text = isPlain ? one : one.text;
    const { weight = 1, language = rules.language, prefix } = isPlain ? noOptions : one.search;
    const used = countText(frequencies, tableOf(language, prefix === true), text, weight, left);
    length += weight * used;
    left -= used;
  }
  return { frequencies, length };
}

const noOptions: Partial<SearchOptions> = {};

/** Adds the terms of a text, as long as `left` terms are left. Returns how many it took. */
function countText(
  frequencies: Map<string, number>,
  table: WordTable,
  text: string,
  weight: number,
  left: number,
): number {
  table.begin();
  const count = table.cut(text);
  const { ids, heads } = table;
  const distinct: number[] = [];
  counted = counted === 0xffffffff ? 1 : counted + 1;
  let length = 0;
  for (let at = 0; at < count && length < left; at++) {
    const id = ids[at]!;
    const head = 4 * id;
    length += heads[head]!;
    if (length > left) {
      for (const term of countedTerms(table, id).slice(0, left - length))
        add(frequencies, term, weight);
    } else if (heads[head + 2] === counted) heads[head + 3]!++;
    else {
      heads[head + 2] = counted;
      heads[head + 3] = 1;
      distinct.push(id);
    }
  }
  for (const id of distinct) {
    const terms = table.terms[id]!;
    const times = weight * heads[4 * id + 3]!;
    if (typeof terms === 'string') add(frequencies, terms, times);
    else {
      addAll(frequencies, terms.counted, times);
      addAll(frequencies, terms.stopWords, times);
      addAll(frequencies, terms.forms, times);
      addAll(frequencies, terms.parts, times);
      addAll(frequencies, terms.indexed, times);
    }
  }
  return Math.min(length, left);
}

function countedTerms({ terms }: WordTable, id: number): readonly string[] {
  const known = terms[id]!;
  return typeof known === 'string' ? [known] : known.counted;
}

function addAll(frequencies: Map<string, number>, terms: readonly string[], times: number): void {
  for (let at = 0; at < terms.length; at++) add(frequencies, terms[at]!, times);
}

function add(frequencies: Map<string, number>, term: string, times: number): void {
  frequencies.set(term, (frequencies.get(term) ?? 0) + times);
}
