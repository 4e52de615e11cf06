// Stage 5 of the analysis of a text: the stop words of a language, and the stems of its other words. English
// is M. Porter's ("An algorithm for suffix stripping", 1980) from the package lunr. The other languages are
// those of Snowball, from lunr-languages: it agrees with Snowball's vocabularies as the package
// snowball-stemmers does, is four times as fast, and brings the stop words.
//
// Invariant: pure. A language is loaded when it is first used.
import lunr from 'lunr';
import danish from 'lunr-languages/lunr.da.js';
import dutch from 'lunr-languages/lunr.nl.js';
import finnish from 'lunr-languages/lunr.fi.js';
import french from 'lunr-languages/lunr.fr.js';
import german from 'lunr-languages/lunr.de.js';
import hungarian from 'lunr-languages/lunr.hu.js';
import italian from 'lunr-languages/lunr.it.js';
import norwegian from 'lunr-languages/lunr.no.js';
import portuguese from 'lunr-languages/lunr.pt.js';
import romanian from 'lunr-languages/lunr.ro.js';
import russian from 'lunr-languages/lunr.ru.js';
import spanish from 'lunr-languages/lunr.es.js';
import support from 'lunr-languages/lunr.stemmer.support.js';
import swedish from 'lunr-languages/lunr.sv.js';
import turkish from 'lunr-languages/lunr.tr.js';
import type { LanguageName } from '../../base/text/language-name.js';

export interface Language {
  name: LanguageName;
  /** Words are in folded case, with their accents. */
  isStopWord(word: string): boolean;
  stem(word: string): string;
  /** Whether the accents of a word decide its stem. */
  readsAccents: boolean;
}

type Plugin = (library: object) => void;

/** A plugin adds an object with the code of its language to lunr. */
const plugins: Readonly<Record<Exclude<LanguageName, 'english' | 'none'>, [Plugin, string]>> = {
  danish: [danish, 'da'],
  dutch: [dutch, 'nl'],
  finnish: [finnish, 'fi'],
  french: [french, 'fr'],
  german: [german, 'de'],
  hungarian: [hungarian, 'hu'],
  italian: [italian, 'it'],
  norwegian: [norwegian, 'no'],
  portuguese: [portuguese, 'pt'],
  romanian: [romanian, 'ro'],
  russian: [russian, 'ru'],
  spanish: [spanish, 'es'],
  swedish: [swedish, 'sv'],
  turkish: [turkish, 'tr'],
};

type Library = Record<string, unknown>;

interface LanguageOfLunr {
  stopWordFilter: Filter;
  stemmer: Filter;
}

type Filter = (token: lunr.Token) => lunr.Token | undefined;

/** Longer words are not stemmed: no word is longer, and the time of a stemmer is not linear. */
const stemmedMax = 64;

const none: Language = {
  name: 'none',
  isStopWord: () => false,
  stem: (word) => word,
  readsAccents: false,
};

const known = new Map<LanguageName, Language>([['none', none]]);

export function languageOf(name: LanguageName): Language {
  let language = known.get(name);
  if (language === undefined) known.set(name, (language = load(name)));
  return language;
}

function load(name: LanguageName): Language {
  if (name === 'none') return none;
  if (name === 'english') {
    const stopWords = lunr.stopWordFilter as Filter;
    return build(name, stopWords, (token) => lunr.stemmer(token));
  }
  const [plugin, code] = plugins[name];
  const library: Library = { ...lunr };
  support(library);
  plugin(library);
  const { stopWordFilter, stemmer } = library[code] as LanguageOfLunr;
  return build(name, stopWordFilter, stemmer);
}

function build(name: LanguageName, filter: Filter, stemmer: Filter): Language {
  return {
    name,
    isStopWord: (word) => filter(new lunr.Token(word, {})) === undefined,
    stem(word) {
      if (word.length > stemmedMax) return word;
      return stemmer(new lunr.Token(word, {}))?.toString() || word;
    },
    readsAccents: name !== 'english',
  };
}
