// Shortens long texts for people. Pure.

/** Returns the first characters, without half of a surrogate pair at the end. */
export const beginningOf = (text: string, most: number): string =>
  text.length > most ? text.slice(0, most).replace(/\p{Cs}$/u, '') : text;

/** Returns at most `most` characters, with a mark if the text is longer. */
export const shortened = (text: string, most: number): string =>
  text.length > most ? `${beginningOf(text, most - 1).trimEnd()}…` : text;
