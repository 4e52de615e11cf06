// The user's m, ef_construction and ef_search keep their HNSW meaning (Malkov & Yashunin 2018); the
// mapping to our own edge and pool sizes is here and nowhere else.
import { POOL_MAX } from '../../wasm/layout.js';

/** Hard edges of a new node. Every node has room for 32 edges, so m beyond 24 changes nothing. */
export function hardEdges(m: number): number {
  return Math.max(4, Math.min(24, m));
}

/**
 * Pool of an insertion. Insertions judge neighbours by their codes, so one place is one node, as in
 * HNSW.
 */
export function insertionPool(efConstruction: number): number {
  return Math.max(64, Math.min(POOL_MAX, efConstruction));
}

/** How a graph is walked: places of the pool, and whether the walk follows estimates. */
export interface Walk {
  pool: number;
  follow: boolean;
}

/** Dimensions (padded) up to which estimates are too noisy to follow: noise grows as 1/sqrt(D). */
const followFrom = 193;
/**
 * Widest search that is better off following estimates: beyond, their noise limits recall, the later
 * the more dimensions there are. Measured: 64 of 256 dimensions, 192 of 768.
 */
const followMax = (padded: number): number => padded >> 2;

/** The `ef_search` of whoever says nothing. */
export const defaultEf = 128;

/** Numbers of answers for which it is measured how wide a segment must be walked. */
export const few = 10;
export const many = 100;
/** Width for many as a multiple of their number, until it is measured. */
const manyTimes = 3;

/** Widths that were found to be enough, 0 before. */
interface MeasuredWidths {
  readonly width: number;
  readonly widthForMany: number;
}

/**
 * Width of a search for k that was told none: what was found to be enough for its segment (calibrate-ef.ts),
 * but where a configuration asks for less than is standard.
 */
export function effectiveEf(efSearch: number, measured: MeasuredWidths, k: number): number {
  if (efSearch < defaultEf) return efSearch;
  return Math.min(POOL_MAX, Math.max(efSearch, widthFor(measured, k)));
}

/** In between in proportion, beyond as the width for many times more. */
function widthFor({ width, widthForMany }: MeasuredWidths, k: number): number {
  if (k <= few) return width;
  const most = widthForMany || manyTimes * many;
  if (k >= many) return Math.ceil((most * k) / many);
  return Math.ceil(width + ((most - width) * (k - few)) / (many - few));
}

/**
 * Walk of a search that wants k with a width of `ef`. Estimates are noisier than distances, and one
 * node may take several places: twice ef of them are held.
 */
export function searchWalk(ef: number, k: number, estimates: boolean, padded: number): Walk {
  const least = k + (k >> 1);
  const follow = estimates && padded >= followFrom && Math.max(ef, least) <= followMax(padded);
  const pool = follow ? Math.max(ef * 2, 8 + least) : Math.max(ef, least);
  return { pool: Math.max(8, Math.min(POOL_MAX, pool)), follow };
}
