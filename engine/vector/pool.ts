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
export const standardWidth = 128;

/**
 * Width of a search that was told none: what was found to be enough for its segment (measure.ts), but
 * where a configuration asks for less than is standard.
 */
export function standardEf(efSearch: number, measured: number): number {
  return efSearch < standardWidth ? efSearch : Math.max(efSearch, measured);
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
