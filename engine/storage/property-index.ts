// Property indexes: one entry per element that has the property set, ordered by value, then by id.
//
//   key  index u32 · value (order.ts) · id u32      value  empty
//
// Invariant: an entry exists exactly for each set value of an indexed property. A value's form is a prefix of its entries'
// keys and of no other value's.
import { ByteWriter } from '../base/bytes.js';
import type { Scalar, ScalarList } from '../base/value.js';
import type { ChangeLog } from './change-log.js';
import type { Table } from './env.js';
import { writeOrdered } from './order.js';
import type { IndexBounds, StoredProperty } from './store.js';

const idsPerRead = 1024;

/** Longer than any stored prefix (limits.index_key_bytes), short enough for a key of lmdb. */
const longestPrefix = 1940;

const empty = new Uint8Array(0);
const writer = new ByteWriter(256);

function startIndex(indexId: number): void {
  writer.length = 0;
  for (let shift = 24; shift >= 0; shift -= 8) writer.byte((indexId >>> shift) & 255);
}

/** Bytes of the value in a prefix, as users count them: a text without its end mark. */
export function valueSize(prefix: Uint8Array, property: StoredProperty): number {
  const isText = property.type.kind === 'scalar' && property.type.name === 'String';
  return prefix.length - (isText ? 6 : 4);
}

/** What all entries of a value begin with. */
export function prefixOf(property: StoredProperty, value: Scalar | ScalarList): Uint8Array {
  startIndex(property.indexId);
  writeOrdered(writer, value, property.type);
  return writer.take();
}

/** The prefix followed by `tail`. */
function extended(prefix: Uint8Array, ...tail: number[]): Uint8Array {
  const key = new Uint8Array(prefix.length + tail.length);
  key.set(prefix);
  key.set(tail, prefix.length);
  return key;
}

const entryKey = (prefix: Uint8Array, id: number): Uint8Array =>
  extended(prefix, id >>> 24, (id >>> 16) & 255, (id >>> 8) & 255, id & 255);

/** Above every entry that begins with the prefix, below everything else above it. */
const above = (prefix: Uint8Array): Uint8Array => extended(prefix, 255, 255, 255, 255, 255);

const idOfEntry = (key: Uint8Array): number => {
  const at = key.length - 4;
  return ((key[at]! << 24) | (key[at + 1]! << 16) | (key[at + 2]! << 8) | key[at + 3]!) >>> 0;
};

export function addEntry(log: ChangeLog, table: Table<Uint8Array>, prefix: Uint8Array, id: number): void {
  log.insert(table, entryKey(prefix, id), empty);
}

export function removeEntry(
  log: ChangeLog,
  table: Table<Uint8Array>,
  prefix: Uint8Array,
  id: number,
): void {
  log.remove(table, entryKey(prefix, id));
}

/** Ids under a value, ascending. */
export function idsUnder(table: Table<Uint8Array>, prefix: Uint8Array, limit?: number): Uint32Array {
  if (prefix.length > longestPrefix) return new Uint32Array(0);
  const keys = table.keys({ start: prefix, end: above(prefix), limit });
  return Uint32Array.from(keys, idOfEntry);
}

/** Ids in index order within bounds of the property's type. No cursor is open while the caller works. */
export function* idsWithin(
  table: Table<Uint8Array>,
  property: StoredProperty,
  { low, high }: IndexBounds,
): Generator<Uint32Array> {
  const edge = (value: Scalar, afterIt: boolean): Uint8Array => {
    // A bound longer than any entry is told from every entry before the cut.
    const prefix = prefixOf(property, value).subarray(0, longestPrefix);
    return afterIt ? above(prefix) : prefix;
  };
  let start = low ? edge(low.value, !low.inclusive) : indexStart(property.indexId);
  const end = high ? edge(high.value, high.inclusive) : indexStart(property.indexId + 1);
  while (Buffer.compare(start, end) < 0) {
    const keys = table.keys({ start, end, limit: idsPerRead });
    if (keys.length > 0) yield Uint32Array.from(keys, idOfEntry);
    if (keys.length < idsPerRead) return;
    start = extended(keys[keys.length - 1]!, 0);
  }
}

/** The first possible key of an index: its entries are those below that of the next index id. */
export function indexStart(indexId: number): Uint8Array {
  startIndex(indexId);
  return writer.take();
}
