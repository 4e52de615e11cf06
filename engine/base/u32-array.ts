// Helpers for arrays of 32-bit words: growing them, sorting them into sets, and memory for short ones.

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

const chunkWords = 16 * 1024;
/** Longer lists have memory of their own. */
const listWordsMax = chunkWords / 8;

let chunk = new Uint32Array(chunkWords);
let used = 0;

/**
 * Returns a list of zeros. Reads make many short lists, and an allocation for each would take longer than to
 * fill it, so they share chunks. A chunk lives as long as any list in it: copy a list that outlives its
 * request.
 */
export function newIds(length: number): Uint32Array {
  if (length > listWordsMax) return new Uint32Array(length);
  if (used + length > chunkWords) {
    chunk = new Uint32Array(chunkWords);
    used = 0;
  }
  const start = used;
  used += length;
  return chunk.subarray(start, used);
}
