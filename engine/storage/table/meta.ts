// The meta table: what the store records about itself, under a few keys.
//
//   key               value
//   01                catalog, JSON (catalog-record.ts)
//   02                next id u32 · commits u32 · next sequence f64 · removals u32 · risen from u32 · newest uuid 16
//   03 · label u16    total of a label: elements u32 · dimension u32
//   04                uuid of the database, 36 characters
//   05                position in the replicated log, in the log's own form (ipc/position.ts)
//   06                trimmed sequence f64
//   07                sources of the program, deflated; cluster only
//   08                settings that all nodes of a cluster share, as the server packs them
//   09                oldest edge that lists may lack u32 (view/deferred-adjacency.ts); absent while they are complete
//
// Numbers in values are little-endian. Each node has its own 05 and 06. All other keys are equal on all nodes
// of a cluster at equal log positions.
// Invariant: state and totals are those of the last committed transaction. Maintenance of this node's files
// changes neither.
import type { Table } from './table.js';
import { getWord, putWord } from './little-endian.js';

export interface State {
  nextId: number;
  /** Commit number: counts commits that changed anything, modulo 2^32. Equal numbers mean equal data. */
  commits: number;
  /** Sequence of the next change of a vector index. */
  nextSeq: number;
  /**
   * Counts removals of elements from types, modulo 2^32 and never 0. While it is equal, the ids that existed
   * at the first reading keep their positions in their types. 0: an older version wrote last and did not
   * count.
   */
  removalCount: number;
  /** From this id on, uuids ascend with ids. 0: unknown. */
  risenFrom: number;
  /** The newest generated uuid, overwritten by the next one; 16 zeros before the first. */
  lastUuid: Uint8Array;
}

/** Totals of a label. */
export interface Total {
  count: number;
  /** For vector labels: 0 without vectors. Older versions kept the dimension of the last one. */
  dimension: number;
}

export const metaKey = {
  catalog: Uint8Array.of(1),
  state: Uint8Array.of(2),
  total: (label: number): Uint8Array => Uint8Array.of(3, label >>> 8, label & 255),
  databaseUuid: Uint8Array.of(4),
  position: Uint8Array.of(5),
  trimmed: Uint8Array.of(6),
  sources: Uint8Array.of(7),
  settings: Uint8Array.of(8),
  unlisted: Uint8Array.of(9),
};

export function readState(meta: Table<Uint8Array>): State {
  const value = meta.get(metaKey.state);
  if (!value) {
    const counts = { nextId: 1, commits: 0, nextSeq: 1, removalCount: 1, risenFrom: 0 };
    return { ...counts, lastUuid: new Uint8Array(16) };
  }
  const view = new DataView(value.buffer, value.byteOffset);
  return {
    nextId: view.getUint32(0, true),
    commits: view.getUint32(4, true),
    nextSeq: view.getFloat64(8, true),
    removalCount: view.getUint32(16, true),
    risenFrom: view.getUint32(20, true),
    lastUuid: value.slice(24, 40),
  };
}

/** Reads only the commit number, without decoding the rest. */
export function readCommits(meta: Table<Uint8Array>): number {
  const value = meta.peek(metaKey.state);
  return value === undefined ? 0 : getWord(value, 4);
}

export function writeState(meta: Table<Uint8Array>, state: State): void {
  const value = new Uint8Array(40);
  const view = new DataView(value.buffer);
  view.setUint32(0, state.nextId, true);
  view.setUint32(4, state.commits, true);
  view.setFloat64(8, state.nextSeq, true);
  view.setUint32(16, state.removalCount, true);
  view.setUint32(20, state.risenFrom, true);
  value.set(state.lastUuid, 24);
  meta.put(metaKey.state, value);
}

export function readTotal(meta: Pick<Table<Uint8Array>, 'peek'>, label: number): Total {
  const value = meta.peek(metaKey.total(label));
  if (value === undefined) return { count: 0, dimension: 0 };
  const count = getWord(value, 0);
  return { count, dimension: count === 0 ? 0 : getWord(value, 4) };
}

export function writeTotal(meta: Table<Uint8Array>, label: number, total: Total): void {
  const value = new Uint8Array(8);
  putWord(value, 0, total.count);
  putWord(value, 4, total.dimension);
  meta.put(metaKey.total(label), value);
}
