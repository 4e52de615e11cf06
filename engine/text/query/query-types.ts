// The data of a query: its terms, the condition on a document, and phrases.
import type { LanguageName } from '../../base/text/language-name.js';

/** A term, or all terms that begin so. */
export interface Form {
  term: string;
  isPrefix: boolean;
}

/** One clause of the score: a document contains it in any of its forms, and the best one counts. */
export interface QueryTerm {
  forms: readonly Form[];
  /** How much it counts: how often the query contains it, or 0 for a term that only the condition reads. */
  times: number;
}

/** `term`: the number of a query term. */
export type Condition =
  | { kind: 'term'; term: number }
  | { kind: 'all' | 'any'; of: readonly Condition[] }
  | { kind: 'not'; of: Condition };

/** A sequence of words that a text must contain, or must not. */
export interface Phrase {
  text: string;
  isExcluded: boolean;
}

export interface Query {
  /** Terms in the order of their first occurrence. */
  terms: readonly QueryTerm[];
  /** Undefined: any of the terms. */
  condition: Condition | undefined;
  /** What the stored texts of a document are read for; the index holds no positions. */
  phrases: readonly Phrase[];
}

/** How the texts of a type are indexed. */
export interface SearchedTexts {
  /** Languages of its texts, each once. */
  languages: readonly LanguageName[];
  hasSurfaces: boolean;
}

/** A part of a query: its words, and what they decide. */
export interface QueryPart {
  text: string;
  role: 'optional' | 'required' | 'excluded';
  isPhrase: boolean;
  /** Whether the last word may be the beginning of a word. */
  isPrefix: boolean;
}
