// Shortens long texts for people. Pure.

/** Returns the first characters, without half of a surrogate pair at the end. */
export const beginningOf = (text: string, max: number): string =>
  text.length > max ? text.slice(0, max).replace(/\p{Cs}$/u, '') : text;

/** Returns at most `max` characters, with a mark if the text is longer. */
export const shortened = (text: string, max: number): string =>
  text.length > max ? `${beginningOf(text, max - 1).trimEnd()}…` : text;
