// How far the vector log of this node is trimmed (key 06 of meta.ts). Each node trims its own log, so this
// value differs between nodes.
import { metaKey, readState, writeState } from './meta.js';
import type { Table } from './table.js';

/** Returns the sequence up to which log entries are deleted. */
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
 * Upgrades a file of format 2.0 to 2.1 in the caller's transaction; leaves a file of 2.1 unchanged. Format
 * 2.0 has the sequence in 02, where 2.1 counts removals.
 */
export function splitState(meta: Table<Uint8Array>): void {
  if (meta.has(metaKey.trimmed)) return;
  const state = meta.get(metaKey.state);
  const trimmed = state ? new DataView(state.buffer, state.byteOffset).getFloat64(16, true) : 0;
  writeTrimmed(meta, trimmed);
  if (state) writeState(meta, { ...readState(meta), removalCount: 0 });
}
