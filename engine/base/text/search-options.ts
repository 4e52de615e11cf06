// The options of `SEARCH` in front of a property.
import type { LanguageName } from './language-name.js';

/** How keyword search reads a property that bears `SEARCH`. */
export interface SearchOptions {
  /** What an occurrence of a word counts, from 1 to 100 (BM25F). */
  weight: number;
  /** Undefined: the language of the configuration. */
  language?: LanguageName;
  /** Whether the index also keeps words as they are written, so that beginnings of words find them. */
  prefix?: true;
}

/** Returns the mark as a source writes it. */
export function printSearch({ weight, language, prefix }: SearchOptions): string {
  const options = [
    ...(weight === 1 ? [] : [`weight: ${weight}`]),
    ...(language === undefined ? [] : [`language: "${language}"`]),
    ...(prefix === undefined ? [] : ['prefix: true']),
  ];
  return options.length === 0 ? 'SEARCH' : `SEARCH(${options.join(', ')})`;
}
