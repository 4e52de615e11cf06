// Joins the stages for one word: its terms in a language.
//
// Invariant: pure. Documents and queries take the terms of a word from here, so that they always agree.
import { type Run, dictionaryWords, pairsOf, segmentsOf, runsOf } from './cut.js';
import { fold } from './fold.js';
import type { Language } from './language.js';
import { foldCase } from './normalize.js';
import { joinedForms, partsOf } from './parts.js';

/** The terms of a word. A document that contains the word contains all of them. */
export interface WordTerms {
  /** Terms that count for the length of a document, in order. */
  readonly counted: readonly string[];
  /** Terms of stop words: indexed, but no length. */
  readonly stopWords: readonly string[];
  /** Other spellings, each of which stands for the whole word. */
  readonly forms: readonly string[];
  /** Parts, which stand for the word together. */
  readonly parts: readonly string[];
  /** Terms by which a query never asks for this word: last characters of runs, and surface forms. */
  readonly indexed: readonly string[];
  /**
   * Single characters of scripts that are indexed by pairs; they are among `counted`. A document contains
   * such a character at the beginning of a pair, or at the end of a run.
   */
  readonly singles: readonly string[];
}

/** In front of the surface form of a word, which prefixes are compared with. No term begins so. */
export const surfaceMark = '\u0001';

export interface WordRules {
  language: Language;
  /** Whether surface forms are kept too. */
  hasSurfaces: boolean;
}

/** Returns the terms of a word, given with its case. */
export function analyzeWord(word: string, rules: WordRules): WordTerms {
  const counted: string[] = [];
  const stopWords: string[] = [];
  const forms: string[] = [];
  const parts: string[] = [];
  const indexed: string[] = [];
  const singles: string[] = [];
  const segments = segmentsOf(word);
  for (const segment of segments) {
    for (const run of runsOf(segment)) {
      if (run.kind === 'pairs') {
        const characters = [...fold(run.text)];
        counted.push(...pairsOf(characters));
        if (characters.length > 1) indexed.push(characters.at(-1)!);
        else singles.push(characters[0]!);
        continue;
      }
      for (const one of wordsOf(run)) {
        const folded = foldCase(one);
        const [term, ...typed] = termsOf(folded, rules.language);
        if (term === '') continue;
        (isStopWord(folded, rules.language) ? stopWords : counted).push(term!);
        (one === word ? forms : indexed).push(...typed);
        for (const part of partsOf(one)) parts.push(...termsOf(foldCase(part), rules.language));
        if (rules.hasSurfaces) indexed.push(surfaceMark + fold(folded));
      }
    }
  }
  if (segments.length === 0) {
    counted.push(word);
    parts.push(...(word.match(pictograph) ?? []));
  }
  for (const form of joinedForms(word)) forms.push(fold(foldCase(form)));
  return distinctTerms({ counted, stopWords, forms, parts, indexed, singles });
}

/** Lists each further term of a word once, so that one occurrence of the word counts once. */
function distinctTerms({ counted, stopWords, singles, ...further }: WordTerms): WordTerms {
  const seen = new Set([...counted, ...stopWords, '']);
  const rest = (terms: readonly string[]): string[] =>
    terms.filter((term) => !seen.has(term) && seen.add(term));
  const forms = rest(further.forms);
  const parts = rest(further.parts);
  return { counted, stopWords, forms, parts, indexed: rest(further.indexed), singles };
}

const isStopWord = (word: string, language: Language): boolean =>
  language.isStopWord(language.readsAccents ? word : fold(word));

const wordsOf = ({ kind, text }: Run): readonly string[] =>
  kind === 'dictionary' ? dictionaryWords(text) : [text];

/**
 * Returns the stem of a word without its accents. Where accents decide the stem, the stem of the word as
 * people type it without accents follows, if it differs.
 */
function termsOf(word: string, language: Language): string[] {
  const folded = fold(word);
  if (folded === word || !language.readsAccents) return [language.stem(folded)];
  const term = fold(language.stem(word));
  const typed = language.stem(folded);
  return typed === term ? [term] : [term, typed];
}

const pictograph = /\p{Extended_Pictographic}/gu;
