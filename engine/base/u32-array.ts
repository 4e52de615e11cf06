// Arrays of 32-bit words: as they grow, and as sets.

/** The same words at the beginning of an array with room for twice as many. */
export function doubled(words: Uint32Array): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(2 * words.length);
  longer.set(words);
  return longer;
}

/** Sorts words in place; each of them once, ascending, in the same memory. */
export function distinct(words: Uint32Array): Uint32Array {
  words.sort();
  let count = 0;
  for (let i = 0; i < words.length; i++) {
    if (i === 0 || words[i] !== words[i - 1]) words[count++] = words[i]!;
  }
  return words.subarray(0, count);
}
