// How far the vector log of this node was trimmed (key 06 of meta.ts). Each node trims its own: what stands
// here is equal on no two of them.
import { metaKey, readState, writeState } from './meta.js';
import type { Table } from './table.js';

/** Entries of the vector log up to this sequence are gone. Of older files, 02 says it. */
export function readTrimmed(meta: Table<Uint8Array>): number {
  const own = meta.get(metaKey.trimmed);
  if (own) return new DataView(own.buffer, own.byteOffset).getFloat64(0, true);
  const state = meta.get(metaKey.state);
  return state ? new DataView(state.buffer, state.byteOffset).getFloat64(16, true) : 0;
}

export function writeTrimmed(meta: Table<Uint8Array>, seq: number): void {
  const value = new Uint8Array(8);
  new DataView(value.buffer).setFloat64(0, seq, true);
  meta.put(metaKey.trimmed, value);
}

/** Brings a file of format 2.0 to 2.1, in the caller's transaction; one of 2.1 stays as it is. */
export function splitState(meta: Table<Uint8Array>): void {
  writeTrimmed(meta, readTrimmed(meta));
  if (meta.has(metaKey.state)) writeState(meta, readState(meta));
}
