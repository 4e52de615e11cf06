// Stage 1 of the analysis of a text: one form for what readers take for the same character. Full-width,
// superscript and composed forms become plain ones (NFKC), invisible characters go, and typographic
// apostrophes and hyphens become those of the keyboard. Case is kept until stage 3 has read it.
//
// Invariant: pure. ASCII comes back as it is, and a normalized text does not change again.

const ascii = /^[\0-\x7f]*$/;

/** Returns true if the text needs no normalization, because it has ASCII characters only. */
export const isAscii = (text: string): boolean => ascii.test(text);

const apostrophes = /[\u2018\u2019\u201B\u02B9\u02BC\u05F3\uFF07]/g;
/** Quotation marks between two Hebrew letters abbreviate: they join, as an apostrophe does. */
const gershayim = /(?<=\p{sc=Hebrew})["\u05F4](?=\p{sc=Hebrew})/gu;
const hyphens = /[\u2010\u2011]/g;
const ignorable = /(?![\u200C\u200D])\p{Default_Ignorable_Code_Point}/gu;
/** Joiners decide how letters of Indic scripts look, and which emoji are one. Elsewhere they are noise. */
const indic = 'Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh'
  .replace(/\w+/g, '\\p{sc=$&}')
  .replaceAll(' ', '');
const joiners = new RegExp(
  `(?<![${indic}])(?:\\u200C|\\u200D(?!\\p{Extended_Pictographic}))`,
  'gu',
);

export function normalize(text: string): string {
  if (isAscii(text)) return text;
  return text
    .normalize('NFKC')
    .replace(ignorable, '')
    .replace(joiners, '')
    .replace(apostrophes, "'")
    .replace(gershayim, "'")
    .replace(hyphens, '-')
    .normalize('NFKC');
}

/**
 * Folds the case of a normalized word (Unicode, full case folding): `ß` and `SS` become `ss`, `ς` and `Σ`
 * become `σ`, `İ` becomes `i`.
 */
export function foldCase(word: string): string {
  if (isAscii(word)) return word.toLowerCase();
  return word
    .toUpperCase()
    .toLowerCase()
    .replace(/ς/g, 'σ')
    .replace(/i\u0307/g, 'i')
    .normalize('NFC');
}
