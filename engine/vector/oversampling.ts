// How many candidates to ask an index for where k answers are wanted. An index tells vectors apart by
// sums of 32-bit floats, or (compact) of 16 bits a number, or (not resident) of 4; whoever asks scores
// what it gives by the vectors themselves. Among near-duplicates, above all under dot, where what is
// the same for all is most of every sum, more than k share the last place: all are to be looked at.
// Invariant: data that the index can tell apart cost one search.
import type { Candidates, IndexOptions, SearchOptions, VectorIndex } from './index.js';
import { chosenLayout, isHalf } from './options.js';

/** Parts of a distance that the sums leave open: rounding of 2^-24, over some hundred numbers. */
const resolution = 2 ** -18;
/** So many more than k are looked at, and as many whatever k is: equal vectors have no end. */
const mostTimes = 16;
const most = 640;
/** Where codes leave much open. */
const mostBlurred = 4096;

/** What to ask for first. */
export function numCandidates(options: IndexOptions, dimension: number, k: number): number {
  if (isHalf(options, dimension)) return 3 * k + 2;
  return k + 2 + (k >> (chosenLayout(options, dimension) === 'compact' ? 1 : 3));
}

/**
 * What to ask for next, of `found` for `want` of which `useful` may be an answer; 0 when nothing
 * more would come, or matter.
 */
export function nextCandidateCount(
  found: Candidates,
  want: number,
  k: number,
  useful: number,
): number {
  // The index has given all it has when it answers less than it was asked for.
  if (found.count < want) return 0;
  if (useful < k) return want * 2;
  const limit = found.distanceError > 0 ? mostBlurred : Math.min(mostTimes * k, most);
  return want < limit && isUndecided(found, k) ? want * 4 : 0;
}

/** Whether the last of `found` may be as near as its k-th. */
function isUndecided({ count, distances, distanceError: blur }: Candidates, k: number): boolean {
  if (count <= k) return false;
  const kth = distances[k - 1]!;
  return distances[count - 1]! - kth < Math.max(resolution * Math.abs(kth), blur);
}

/** All that may be among the k nearest, as far as the index can tell: at least k, where it has them. */
export function searchWithMargin(
  index: VectorIndex,
  query: Float64Array,
  k: number,
  options: SearchOptions,
): Candidates {
  for (let want = numCandidates(index.options, index.dimension, k); ; ) {
    const found = index.search(query, want, options);
    want = nextCandidateCount(found, want, k, found.count);
    if (want === 0) return found;
  }
}
