// Whether uuids rise with the ids of elements: those that a database gives do, those that a load brings may
// not. Where they do, ids alone tell the order of uuids, and no record is read for it.
import type { Table } from '../table/table.js';
import { metaKey } from '../table/meta.js';
import { getWord } from '../table/little-endian.js';

type Uuids = Table<Uint8Array>;

const least = new Uint8Array(16);
const greatest = new Uint8Array(17).fill(255);

/** As `risenFrom` of the state; beyond all ids where nobody knows. */
export function readRisenFrom(meta: Table<Uint8Array>): number {
  const value = meta.peek(metaKey.state);
  return (value === undefined ? 0 : getWord(value, 20)) || Number.POSITIVE_INFINITY;
}

export const greatestUuid = (table: Uuids): Uint8Array | undefined =>
  table.keys({ start: greatest, end: least, reverse: true, limit: 1 })[0];

/** Elements of data that earlier builds have written are looked at, up to so many; it takes 50 ms. */
const lookedMax = 100_000;
const entriesPerRead = 4096;

/** From which id on uuids rise with ids, where nobody has noted it: from the first, or from the next on. */
export function risenFromOf(table: Uuids, nextId: number): number {
  if (nextId > lookedMax) return nextId;
  let last = 0;
  for (let start = least; ; ) {
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
