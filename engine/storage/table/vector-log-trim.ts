// How far the vector log of this node was trimmed (key 06 of meta.ts). Each node trims its own: what stands
// here is equal on no two of them.
import { metaKey, readState, writeState } from './meta.js';
import type { Table } from './table.js';

/** Entries of the vector log up to this sequence are gone. */
export function readTrimmed(meta: Table<Uint8Array>): number {
  const own = meta.get(metaKey.trimmed);
  return own ? new DataView(own.buffer, own.byteOffset).getFloat64(0, true) : 0;
}

export function writeTrimmed(meta: Table<Uint8Array>, seq: number): void {
  const value = new Uint8Array(8);
  new DataView(value.buffer).setFloat64(0, seq, true);
  meta.put(metaKey.trimmed, value);
}

/**
 * Brings a file of format 2.0 to 2.1, in the caller's transaction; one of 2.1 stays as it is. The older one
 * has the sequence in 02, where departures are counted now.
 */
export function splitState(meta: Table<Uint8Array>): void {
  if (meta.has(metaKey.trimmed)) return;
  const state = meta.get(metaKey.state);
  const trimmed = state ? new DataView(state.buffer, state.byteOffset).getFloat64(16, true) : 0;
  writeTrimmed(meta, trimmed);
  if (state) writeState(meta, { ...readState(meta), removalCount: 0 });
}
