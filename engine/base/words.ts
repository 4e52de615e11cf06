// Arrays of 32-bit words that grow.

/** The same words at the beginning of an array with room for twice as many. */
export function doubled(words: Uint32Array): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(2 * words.length);
  longer.set(words);
  return longer;
}
