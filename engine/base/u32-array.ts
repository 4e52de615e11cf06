// Helpers for arrays of 32-bit words: growing them, and sorting them into sets.

/** Returns a copy with twice the length; the old content is at the start. */
export function doubled(words: Uint32Array): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(2 * words.length);
  longer.set(words);
  return longer;
}

/** Sorts the words in place and removes duplicates. Returns a view of the same memory. */
export function distinct(words: Uint32Array): Uint32Array {
  words.sort();
  let count = 0;
  for (let i = 0; i < words.length; i++) {
    if (i === 0 || words[i] !== words[i - 1]) words[count++] = words[i]!;
  }
  return words.subarray(0, count);
}
