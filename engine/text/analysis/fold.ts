// Stage 4 of the analysis of a text: one form for a word with and without its accents, as readers type both.
// Latin, Greek and Cyrillic letters lose their marks (`é` is `e`, `ё` is `е`; `й` stays).
// Hebrew loses its points, Arabic its vowel signs, and the forms of its alef and yeh become one.
// Scripts of India and South-East Asia stay as they are, because a mark is a letter there.
//
// Invariant: pure, and a folded word does not change again.
import { isAscii } from './normalize.js';

const marked = /([\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Hebrew}\p{sc=Arabic}])\p{M}+/gu;
const shortI = '\u0438\u0306';

/** Letters that Unicode does not take apart, and what people type for them. */
const letters: Readonly<Record<string, string>> = {
  ø: 'o',
  đ: 'd',
  ł: 'l',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ð: 'd',
  ŋ: 'n',
  // Arabic: tatweel, alef wasla, alef maksura, and the Persian yeh and kaf.
  ـ: '',
  ٱ: 'ا',
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
};
const special = new RegExp(`[${Object.keys(letters).join('')}]`, 'g');

/** The zeros of the decimal digits that NFKC leaves alone; nine more follow each. */
const zeros = [
  0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20,
  0x1040, 0x17e0, 0x1810,
];

/** Folds a word of folded case. */
export function fold(word: string): string {
  if (isAscii(word)) return word;
  return word
    .normalize('NFD')
    .replace(marked, (all, base: string) => (all.startsWith(shortI) ? shortI : base))
    .normalize('NFC')
    .replace(special, (letter) => letters[letter]!)
    .replace(/(?![0-9])\p{Nd}/gu, asciiDigit);
}

function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  const zero = zeros.find((first) => code >= first && code < first + 10);
  return zero === undefined ? digit : String(code - zero);
}
