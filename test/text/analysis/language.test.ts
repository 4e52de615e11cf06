// TX06: stop words and stems by language.
import { expect, it } from 'vitest';
import { type LanguageName, languageNames } from '../../../engine/base/text/language-name.js';
import { analyze, analyzeWords } from '../../../engine/text/analysis/analyzer.js';
import { languageOf } from '../../../engine/text/analysis/language.js';

/** A stop word, and two forms of a word that have one stem. */
const cases: [language: LanguageName, stopWord: string, one: string, other: string][] = [
  ['danish', 'og', 'huset', 'huse'],
  ['dutch', 'een', 'boeken', 'boek'],
  ['english', 'the', 'running', 'runs'],
  ['finnish', 'ja', 'talossa', 'talon'],
  ['french', 'les', 'continuations', 'continuation'],
  ['german', 'und', 'Häuser', 'Hauses'],
  ['hungarian', 'és', 'házak', 'ház'],
  ['italian', 'della', 'abbandonata', 'abbandonate'],
  ['norwegian', 'og', 'bilene', 'biler'],
  ['portuguese', 'não', 'meninos', 'menino'],
  ['romanian', 'este', 'copiilor', 'copii'],
  ['russian', 'и', 'книги', 'книга'],
  ['spanish', 'los', 'naciones', 'nación'],
  ['swedish', 'och', 'bilarna', 'bilar'],
  ['turkish', 've', 'kitaplar', 'kitap'],
];

it('TX06: every language has a case', () => {
  expect([...cases.map(([language]) => language), 'none']).toEqual([...languageNames]);
});

it.each(cases)('TX06: %s has stop words and stems', (language, stopWord, one, other) => {
  const { isStopWord, stem } = languageOf(language);
  expect(isStopWord(stopWord)).toBe(true);
  expect(analyze(one, language)).toEqual(analyze(other, language));
  expect(stem(one.toLowerCase())).not.toBe(one.toLowerCase());
  expect(stem('x'.repeat(65))).toBe('x'.repeat(65));
});

it('TX06: "none" has neither stop words nor stems', () => {
  expect(analyze('The running of the BULLS', 'none')).toEqual([
    'the',
    'running',
    'of',
    'the',
    'bulls',
  ]);
});

it('TX06: a word is found with and without the accents that decide its stem', () => {
  const [accented, plain] = analyzeWords('brûlée brulee', 'french');
  const all = [...accented!.counted, ...accented!.forms];
  expect(all).toContain(plain!.counted[0]);
});
