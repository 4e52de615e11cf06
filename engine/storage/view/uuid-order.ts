// Determines whether uuids ascend with the ids of elements. Generated uuids do; those that a load brings may
// not. Where they do, ids alone give the order of uuids, and no record is read for it.
import type { Table } from '../table/table.js';
import { metaKey } from '../table/meta.js';
import { getWord } from '../table/little-endian.js';

type Uuids = Table<Uint8Array>;

const lowest = new Uint8Array(16);
const greatest = new Uint8Array(17).fill(255);

/** Returns `risenFrom` of the state; infinity if it is unknown. */
export function readRisenFrom(meta: Table<Uint8Array>): number {
  const value = meta.peek(metaKey.state);
  return (value === undefined ? 0 : getWord(value, 20)) || Number.POSITIVE_INFINITY;
}

export const greatestUuid = (table: Uuids): Uint8Array | undefined =>
  table.keys({ start: greatest, end: lowest, reverse: true, limit: 1 })[0];

/** Up to this many elements of older versions are checked, which takes 50 ms. */
const checkedMax = 100_000;
const entriesPerRead = 4096;

/** Returns the id from which uuids ascend with ids, for data without a stored one: 1 or `nextId`. */
export function risenFromOf(table: Uuids, nextId: number): number {
  if (nextId > checkedMax) return nextId;
  let last = 0;
  for (let start = lowest; ; ) {
    const entries = table.entries({ start, end: greatest, limit: entriesPerRead });
    for (const { value } of entries) {
      const id = getWord(value, 0);
      if (id < last) return nextId;
      last = id;
    }
    if (entries.length < entriesPerRead) return 1;
    start = new Uint8Array(17);
    start.set(entries[entries.length - 1]!.key);
  }
}
