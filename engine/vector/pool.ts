// The user's m, ef_construction and ef_search keep their HNSW meaning (Malkov & Yashunin 2018); the
// mapping to our own edge and pool sizes is here and nowhere else.
import { HAS_EDGE_CODES, POOL_MAX, SIEVE_DIMENSION_MAX } from '../../wasm/layout.js';

/** Hard edges of a new node. Every node has room for 32 edges, so m beyond 24 changes nothing. */
export function hardEdges(m: number): number {
  return Math.max(4, Math.min(24, m));
}

/** Whether walks of a segment follow estimates (wasm/walk.ts) and not code distances. */
export function followsEstimates(layout: number, padded: number): boolean {
  return (layout & HAS_EDGE_CODES) !== 0 && padded > SIEVE_DIMENSION_MAX;
}

/**
 * Pool of an insertion. A pool place may hold an estimate, and one node take several; 1.8 places
 * are taken for one then.
 */
export function insertionPool(efConstruction: number, estimates: boolean): number {
  const pool = Math.round(efConstruction * (estimates ? 1.8 : 1));
  return Math.max(64, Math.min(POOL_MAX, pool));
}

/** Pool of a search that wants k. Estimates are noisier than distances: twice ef of them are held. */
export function searchPool(ef: number, k: number, estimates: boolean): number {
  const pool = estimates ? Math.max(ef * 2, 8 + k + (k >> 1)) : Math.max(ef, k + (k >> 1));
  return Math.max(8, Math.min(POOL_MAX, pool));
}
