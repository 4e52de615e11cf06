// Scans property indexes in the order of their values. Reads grow from 8 keys to 1,024, so a caller that
// stops early has read little. No cursor is open between batches.
import type { Scalar } from '../../base/value.js';
import type { Table } from '../table/env.js';
import { above, idOfKey, indexKey, indexStart, longestPrefix, prefixOf } from './index-key.js';
import { isSplit, splitBatches } from './property-index.js';
import type { IndexBounds, StoredProperty } from '../table/view-types.js';
import { copyWords } from '../table/little-endian.js';

const firstRead = 8;
const lastRead = 1024;

const none = new Uint32Array(0);

/** One key of an index with the ids under it. */
export interface IndexKey {
  /** Index and value. */
  prefix: Uint8Array;
  ids: Uint32Array;
}

function listed(value: Uint8Array): Uint32Array {
  const ids = new Uint32Array(value.length >>> 2);
  copyWords(value, 0, ids, 0);
  return ids;
}

/** Returns the number of ids of a split value. */
function countSplit(table: Table<Uint8Array>, prefix: Uint8Array): number {
  return table.countKeys({ start: indexKey(prefix, 1), end: above(prefix) });
}

/**
 * Yields the keys from `start` to `end` (exclusive). A split value yields one key without ids, then one key
 * per id.
 */
export function* indexKeys(
  table: Table<Uint8Array>,
  start: Uint8Array,
  end: Uint8Array,
): Generator<IndexKey> {
  for (let from = start, limit = firstRead; Buffer.compare(from, end) < 0; ) {
    const entries = table.entries({ start: from, end, limit });
    for (const { key, value } of entries) {
      const prefix = key.subarray(0, -4);
      if (value.length === 0) yield { prefix, ids: Uint32Array.of(idOfKey(key)) };
      else yield { prefix, ids: isSplit(value) ? none : listed(value) };
    }
    if (entries.length < limit) return;
    const last = entries[entries.length - 1]!.key;
    from = new Uint8Array(last.length + 1);
    from.set(last);
    limit = Math.min(limit * 4, lastRead);
  }
}

/**
 * Yields ids by descending value, those of one value ascending, from below `end` down to `start`, without the
 * first `skip`.
 */
function* descendingIds(
  table: Table<Uint8Array>,
  start: Uint8Array,
  end: Uint8Array,
  skip: number,
): Generator<Uint32Array> {
  let limit = firstRead;
  let left = skip;
  for (let from = end; Buffer.compare(start, from) < 0; ) {
    const entries = table.entries({ start: from, end: start, limit, reverse: true });
    let isCut = false;
    for (const { key, value } of entries) {
      // Below every key of this value, and above those of all lower values.
      from = key.subarray(0, -4);
      isCut = value.length === 0 || isSplit(value);
      if (isCut) {
        // This is the last of the many keys of a value. Read them forwards, then continue below.
        const passed = left > 0 ? Math.min(left, countSplit(table, from)) : 0;
        yield* splitBatches(table, from, undefined, passed);
        left -= passed;
        break;
      }
      const passed = Math.min(left, value.length >>> 2);
      left -= passed;
      if (passed < value.length >>> 2) yield listed(value).subarray(passed);
    }
    if (!isCut && entries.length < limit) return;
    limit = isCut ? firstRead : Math.min(limit * 4, lastRead);
  }
}

/** Yields ids by ascending value from `start` to `end` (exclusive), without the first `skip`. */
function* ascendingIds(
  table: Table<Uint8Array>,
  start: Uint8Array,
  end: Uint8Array,
  skip: number,
): Generator<Uint32Array> {
  let from = start;
  let left = skip;
  for (let limit = firstRead; left > 0; ) {
    const entries = table.entries({ start: from, end, limit });
    if (entries.length === 0) return;
    limit = Math.min(limit * 4, lastRead);
    for (const { key, value } of entries) {
      const prefix = key.subarray(0, -4);
      const isMany = isSplit(value);
      const count = isMany ? countSplit(table, prefix) : value.length >>> 2;
      // The next value begins after the highest possible key of this one.
      from = above(prefix);
      if (count > left) {
        yield* isMany
          ? splitBatches(table, prefix, undefined, left)
          : [listed(value).subarray(left)];
        left = 0;
        break;
      }
      left -= count;
      if (!isMany && left > 0) continue;
      // The other keys in this read belong to the same value, so read again with a small limit.
      limit = firstRead;
      break;
    }
  }
  yield* idsOf(indexKeys(table, from, end));
}

/** Yields ids in index order within bounds of the property's type, without the first `skip`. */
export function* idsWithin(
  table: Table<Uint8Array>,
  property: StoredProperty,
  { low, high }: IndexBounds,
  descending: boolean,
  skip = 0,
): Generator<Uint32Array> {
  const edge = (value: Scalar, afterIt: boolean): Uint8Array => {
    // A bound that is longer than any key still differs from every key before this cut.
    const prefix = prefixOf(property, value).subarray(0, longestPrefix);
    return afterIt ? above(prefix) : prefix;
  };
  const start = low ? edge(low.value, !low.inclusive) : indexStart(property.indexId);
  const end = high ? edge(high.value, high.inclusive) : indexStart(property.indexId + 1);
  const walk = descending ? descendingIds : ascendingIds;
  if (skip === 0 || property.index !== 'unique')
    return yield* joined(walk(table, start, end, skip));
  // Each value has one key, so LMDB skips keys without reading them.
  const window = { limit: 1, offset: skip };
  const [first] = descending
    ? table.keys({ start: end, end: start, reverse: true, ...window })
    : table.keys({ start, end, ...window });
  if (first === undefined) return;
  yield* joined(descending ? walk(table, start, first, 0) : walk(table, first, end, 0));
}

function* idsOf(keys: Iterable<IndexKey>): Generator<Uint32Array> {
  for (const { ids } of keys) yield ids;
}

/** Joins short lists. Batches grow like the reads that fill them. */
function* joined(lists: Iterable<Uint32Array>): Generator<Uint32Array> {
  let batch: number[] = [];
  let size = firstRead;
  for (const ids of lists) {
    for (let i = 0; i < ids.length; i++) batch.push(ids[i]!);
    if (batch.length < size) continue;
    yield Uint32Array.from(batch);
    batch = [];
    size = Math.min(size * 4, lastRead);
  }
  if (batch.length > 0) yield Uint32Array.from(batch);
}
