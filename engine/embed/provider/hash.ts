// The `hash` model: hashes words to positions (feature hashing, K. Weinberger et al., ICML 2009, unsigned).
// It needs no provider and gives the same vector everywhere. Texts that share words have similar vectors.
import { createHash } from 'node:crypto';

/** Returns a unit vector of `dimensions` numbers; a text without words gives (1, 0, ..., 0). */
export function hashEmbedding(text: string, dimensions: number): Float64Array {
  const vector = new Float64Array(dimensions);
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  if (words === null) {
    vector[0] = 1;
    return vector;
  }
  for (const word of words) vector[hashPosition(word, dimensions)]! += 1;
  let squares = 0;
  for (const count of vector) squares += count * count;
  const norm = Math.sqrt(squares);
  for (let i = 0; i < dimensions; i++) vector[i]! /= norm;
  return vector;
}

/**
 * Returns the first 64 bits of the SHA-256 digest modulo `dimensions`, which is below 2^16, so that no
 * intermediate value exceeds 2^53.
 */
function hashPosition(word: string, dimensions: number): number {
  const digest = createHash('sha256').update(word).digest();
  const high = digest.readUInt32BE(0) % dimensions;
  return (high * (2 ** 32 % dimensions) + digest.readUInt32BE(4)) % dimensions;
}
