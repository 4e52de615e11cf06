// Maps the width of a search to the parameters of a graph search with a filter. With a filter that passes a
// share of the vectors, a search for k results finds what a search for k / share results without a filter
// finds. The calibration tells the width of that one.
import { defaultEf, effectiveEf } from './search-params.js';
import type { Segment } from './segment.js';

interface FilteredSearchParams {
  /** Number of passing nodes that must be nearer than all unexpanded ones. */
  width: number;
  /** Number of nodes of any kind that must be nearer than these. */
  minNodes: number;
  /** Number of entries of the pool, if the filter is equally selective everywhere. */
  likely: number;
}

/** Factor of the width under a filter, which hides a part of the nearest vectors. */
const filteredWidth = 1.5;

/**
 * Returns the parameters of a search for k results of width `ef`, with a filter that passes `share` of the
 * vectors. Where fewer pass, the search takes more entries. Where all pass, `minNodes` keeps it from being
 * too narrow.
 */
export function filteredSearchParams(
  ef: number,
  k: number,
  share: number,
  calibrated: Pick<Segment, 'width' | 'widthForMany'>,
): FilteredSearchParams {
  const width = Math.ceil(filteredWidth * Math.max(ef * share, k));
  const minNodes = Math.max(ef, k, effectiveEf(defaultEf, calibrated, k / share));
  return { width, minNodes, likely: Math.ceil(Math.max(minNodes, width / share)) };
}
