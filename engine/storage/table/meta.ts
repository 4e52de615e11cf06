// What the store knows about itself: one table of few keys.
//
//   key               value
//   01                catalog, JSON (catalog-record.ts)
//   02                next id u32 · commits u32 · next sequence f64 · departures u32 · risen from u32 · newest uuid 16
//   03 · label u16    total of a label: elements u32 · dimension u32
//   04                uuid of the database, 36 characters
//   05                how far a replicated log is followed: the log's own (ipc/position.ts)
//   06                trimmed sequence f64
//   07                sources of the program, deflated: of a database in a cluster
//   08                what all nodes of a cluster are to know beside the data, as the server packs it
//   09                oldest edge that lists may lack u32 (view/deferred-adjacency.ts); absent while they are whole
//
// Numbers in values are little-endian. 05 and 06 are this node's alone: all others are equal on all
// nodes of a cluster that are equally far. Invariant: state and totals are those of the last committed
// transaction; what is done to this node's files alone changes none of them.
import type { Table } from './table.js';
import { getWord, putWord } from './little-endian.js';

export interface State {
  nextId: number;
  /** Counts commits that changed anything, modulo 2^32: equal counts, equal data. */
  commits: number;
  /** Sequence of the next change of a vector index. */
  nextSeq: number;
  /**
   * Counts how often elements have left a type, modulo 2^32 and never 0: equal counts, and ids below the
   * next one of then stand in their types where they stood. 0: whoever wrote last did not count.
   */
  removalCount: number;
  /** Among elements from this id on, whoever has the greater id has the greater uuid. 0: nobody knows. */
  risenFrom: number;
  /** The newest uuid given out, written over by the next; 16 zeros before the first. */
  lastUuid: Uint8Array;
}

/** What is counted per label. */
export interface Total {
  count: number;
  /** Of vector labels: 0 before the first vector. */
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

/** The count of commits alone, without the cost of the rest. */
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
  return { count: getWord(value, 0), dimension: getWord(value, 4) };
}

export function writeTotal(meta: Table<Uint8Array>, label: number, total: Total): void {
  const value = new Uint8Array(8);
  putWord(value, 0, total.count);
  putWord(value, 4, total.dimension);
  meta.put(metaKey.total(label), value);
}
