// Long texts cut for people. Pure.

/** Its first letters; a character that the cut would halve is left out. */
export const beginningOf = (text: string, most: number): string =>
  text.length > most ? text.slice(0, most).replace(/\p{Cs}$/u, '') : text;

/** As long as `most` allows, with a sign that there is more. */
export const shortened = (text: string, most: number): string =>
  text.length > most ? `${beginningOf(text, most - 1).trimEnd()}…` : text;
