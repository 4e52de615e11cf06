// Chooses how many candidates to request from an index for k results. An index compares sums of 32-bit
// floats over codes of 16 bits per number, or 4 (not resident); the caller then scores the candidates by the
// stored vectors. Among near-duplicates, more than k candidates can share the last position, and all of them
// must be scored. This is frequent under dot, where a common part dominates every sum.
// Invariant: data that the index can distinguish cost one search.
import type { Candidates, IndexOptions, SearchOptions, VectorIndex } from './index.js';
import { isInt4 } from './options.js';

/** Relative error of a distance: rounding of 2^-24, over some hundred numbers. */
const resolution = 2 ** -18;
/**
 * Largest number of candidates, as a multiple of k and as a total: there may be any number of equal vectors.
 */
const maxMultiple = 16;
const maxCandidates = 640;
/** Largest number of candidates for 4-bit codes. */
const maxCandidatesInt4 = 4096;

/** Returns the number of candidates to request first. */
export function numCandidates(options: IndexOptions, dimension: number, k: number): number {
  if (isInt4(options, dimension)) return 3 * k + 2;
  return k + 2 + (k >> 3);
}

/**
 * Returns the number of candidates to request next, after `want` were requested, `found` came and `useful` of
 * them may be a result. Returns 0 if more candidates would not come or not matter.
 */
export function nextCandidateCount(
  { options, dimension }: Pick<VectorIndex, 'options' | 'dimension'>,
  found: Candidates,
  want: number,
  k: number,
  useful: number,
): number {
  // An index that returns fewer than requested has no more.
  if (found.count < want) return 0;
  if (useful < k) return want * 2;
  const limit = isInt4(options, dimension)
    ? maxCandidatesInt4
    : Math.min(maxMultiple * k, maxCandidates);
  return want < limit && isUndecided(found, k) ? want * 4 : 0;
}

/** Whether the last candidate may be as near as the k-th. */
function isUndecided({ count, distances, distanceError: blur }: Candidates, k: number): boolean {
  if (count <= k) return false;
  const kth = distances[k - 1]!;
  return distances[count - 1]! - kth < Math.max(resolution * Math.abs(kth), blur);
}

/**
 * Returns all candidates that may be among the k nearest, as far as the index can tell: at least k if it has
 * them.
 */
export function searchWithMargin(
  index: VectorIndex,
  query: Float64Array,
  k: number,
  options: SearchOptions,
): Candidates {
  for (let want = numCandidates(index.options, index.dimension, k); ; ) {
    const found = index.search(query, want, options);
    want = nextCandidateCount(index, found, want, k, found.count);
    if (want === 0) return found;
  }
}
