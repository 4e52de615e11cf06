// Maps m, ef_construction and ef_search, which have their HNSW meaning (Malkov & Yashunin 2018), to edges and
// beam sizes of this index. No other file does.
import { POOL_MAX } from '../../wasm/layout.js';

/**
 * Returns the number of hard edges of a new node: m, between 4 and 24. Every node has 32 edges, so a larger m
 * changes nothing.
 */
export function hardEdges(m: number): number {
  return Math.max(4, Math.min(24, m));
}

/**
 * Returns the beam of an insertion. Insertions score neighbors by their codes, so one entry is one node, as
 * in HNSW.
 */
export function insertionPool(efConstruction: number): number {
  return Math.max(64, Math.min(POOL_MAX, efConstruction));
}

/** Parameters of a graph search: entries of the pool, and whether it follows estimates. */
export interface GraphSearchParams {
  pool: number;
  follow: boolean;
}

/** Padded dimension from which estimates are accurate enough to follow: their noise grows as 1/sqrt(D). */
const followFrom = 193;
/**
 * Largest width at which a search should follow estimates. Beyond it, their noise limits recall; the limit
 * grows with the dimension. Measured: 64 at 256 dimensions, 192 at 768.
 */
const followMax = (padded: number): number => padded >> 2;

/**
 * Largest number of results for which a search should follow estimates. Only the nodes that such a search
 * expands become results, so that more results would need a wider pool than a search by codes.
 */
const followK = 16;

/** Default of `ef_search`. */
export const defaultEf = 128;

/** Numbers of results for which the calibration measures the width. */
export const few = 10;
export const many = 100;
/** Width for `many` results before the calibration, as a multiple of their number. */
const manyTimes = 3;

/** Calibrated widths; 0 before the calibration. */
interface CalibratedWidths {
  readonly width: number;
  readonly widthForMany: number;
}

/**
 * Returns the width of a search for k results without an explicit `ef`: the calibrated one of the segment
 * (calibrate-ef.ts), unless the configuration asks for less than the default.
 */
export function effectiveEf(efSearch: number, calibrated: CalibratedWidths, k: number): number {
  if (efSearch < defaultEf) return efSearch;
  return Math.min(POOL_MAX, Math.max(efSearch, widthFor(calibrated, k)));
}

/** Interpolates between `few` and `many`; extrapolates beyond `many` in proportion. */
function widthFor({ width, widthForMany }: CalibratedWidths, k: number): number {
  if (k <= few) return width;
  const maxWidth = widthForMany || manyTimes * many;
  if (k >= many) return Math.ceil((maxWidth * k) / many);
  return Math.ceil(width + ((maxWidth - width) * (k - few)) / (many - few));
}

/**
 * Returns the parameters of a search for k results with width `ef`. A search that follows estimates holds 2
 * `ef` entries, because estimates are noisier than distances and a node may have several entries. The pool
 * has enough entries for k different nodes, so that a narrow search is not repeated.
 * Invariant: for one k, a narrower width costs no more than a wider one.
 */
export function graphSearchParams(
  ef: number,
  k: number,
  estimates: boolean,
  padded: number,
): GraphSearchParams {
  const isFollowed = estimates && k <= followK && padded >= followFrom;
  const follow = isFollowed && Math.max(ef, k) <= followMax(padded);
  const pool = follow ? Math.max(2 * ef, 3 * k) : Math.max(ef, k + Math.max(4, Math.ceil(k / 10)));
  return { pool: Math.max(8, Math.min(POOL_MAX, pool)), follow };
}
