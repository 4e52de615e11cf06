// Proves phrases on texts: whether the words of a phrase occur in a text in their order, each directly after
// the one before. The words are compared as the index compares them, stop words included.
//
// Invariant: pure. A text contains each phrase that was cut out of it at spaces.
import type { LanguageName } from '../../base/text/language-name.js';
import { type Run, cutWords, dictionaryWords, segmentsOf, runsOf } from '../analysis/cut.js';
import { fold } from '../analysis/fold.js';
import { languageOf } from '../analysis/language.js';
import { foldCase, normalize } from '../analysis/normalize.js';

/** A word of a text: the forms in which it can agree with another. */
type WordForms = readonly string[];

/** Returns true if a text contains the phrase. */
export function hasPhrase(text: string, phrase: string, language: LanguageName): boolean {
  const wanted = formsByWord(phrase, language);
  const words = formsByWord(text, language);
  for (let start = 0; start + wanted.length <= words.length; start++)
    if (wanted.every((word, i) => agree(word, words[start + i]!))) return true;
  return false;
}

const agree = (a: WordForms, b: WordForms): boolean => a.some((form) => b.includes(form));

/** Returns the words of a text in order. Each character of a script without spaces is a word here. */
function formsByWord(text: string, language: LanguageName): WordForms[] {
  const { stem } = languageOf(language);
  const words: WordForms[] = [];
  for (const written of cutWords(normalize(text))) {
    const segments = segmentsOf(written);
    if (segments.length === 0) words.push([written]);
    for (const segment of segments)
      for (const run of runsOf(segment))
        for (const one of wordsOf(run)) {
          const folded = foldCase(one);
          const plain = fold(folded);
          if (plain !== '') words.push([...new Set([fold(stem(folded)), stem(plain)])]);
        }
  }
  return words;
}

function wordsOf({ kind, text }: Run): readonly string[] {
  if (kind === 'pairs') return [...fold(text)];
  return kind === 'dictionary' ? dictionaryWords(text) : [text];
}
