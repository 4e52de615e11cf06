// Property indexes: the ids of the elements that have a value. One exact read finds them while they are few;
// ranges are scanned in the order of values.
//
//   key  index u32 · value (order.ts) · 0          value  ids u32 ascending, at most 128: the list of the value
//                                                  value  one zero u32: the value is split, see below
//   key  index u32 · value (order.ts) · id u32     value  empty: one id of a split value
//
// (Opening a cursor of lmdb-js costs 8-10 us, an exact read 1 us. A split value stays split.)
// Invariant: a value lists exactly the elements that have it. The encoding of a value is a prefix of its keys
// and of no other key.
import type { UndoLog } from '../table/undo-log.js';
import type { Table } from '../table/env.js';
import { above, idOfKey, indexKey, longestPrefix } from './index-key.js';
import { copyWords, getWord, joinWords, putWord } from '../table/little-endian.js';

/** Largest number of ids in the list of a value. */
export const listIds = 128;
const keysPerRead = 1024;
/** Size of the first batch for a caller that may stop early. */
const firstRead = 64;

const allIds = { skip: 0, max: Number.POSITIVE_INFINITY };

const empty = new Uint8Array(0);
const spread = new Uint8Array(4);
const none = new Uint32Array(0);

export const isSplit = (list: Uint8Array): boolean => getWord(list, 0) === 0;

/** Adds an element to those that have a value, and counts the put. */
export function addEntry(
  log: UndoLog,
  table: Table<Uint8Array>,
  prefix: Uint8Array,
  id: number,
): void {
  log.count(1, 4);
  addEntries(log, table, indexKey(prefix, 0), Uint32Array.of(id));
}

/**
 * Adds elements, ascending, to the value whose list is under `key`. The caller has counted them; a list is
 * written once. Returns whether no element had the value.
 */
export function addEntries(
  log: UndoLog,
  table: Table<Uint8Array>,
  key: Uint8Array,
  ids: Uint32Array,
): boolean {
  const list = table.peek(key);
  if (list !== undefined && isSplit(list)) putSplit(log, table, key, ids);
  else if (list !== undefined && list.length + 4 * ids.length > 4 * listIds) {
    const former = new Uint32Array(list.length >>> 2);
    copyWords(list, 0, former, 0);
    log.count(former.length + 1, 4);
    log.overwrite(table, key, list, spread);
    putSplit(log, table, key, former);
    putSplit(log, table, key, ids);
  } else if (list === undefined && ids.length > listIds) {
    log.count(1, 4);
    log.overwrite(table, key, undefined, spread);
    putSplit(log, table, key, ids);
  } else log.overwrite(table, key, list, withIds(list, ids));
  return list === undefined;
}

function putSplit(log: UndoLog, table: Table<Uint8Array>, key: Uint8Array, ids: Uint32Array): void {
  const own = key.slice();
  for (const id of ids) {
    putId(own, id);
    log.overwrite(table, own, undefined, empty);
  }
}

/** Replaces the id in a key of a value. */
function putId(key: Uint8Array, id: number): void {
  const at = key.length - 4;
  key[at] = id >>> 24;
  key[at + 1] = id >>> 16;
  key[at + 2] = id >>> 8;
  key[at + 3] = id;
}

/** Merges ids into a list, which may be undefined; both ascend, and share no id. */
function withIds(list: Uint8Array | undefined, ids: Uint32Array): Uint8Array {
  const former = list?.length ?? 0;
  const longer = new Uint8Array(former + 4 * ids.length);
  if (list !== undefined) longer.set(list);
  let from = former;
  let to = longer.length;
  for (let i = ids.length - 1; i >= 0; i--) {
    const id = ids[i]!;
    while (from > 0 && getWord(longer, from - 4) > id) {
      from -= 4;
      to -= 4;
      longer.copyWithin(to, from, from + 4);
    }
    to -= 4;
    putWord(longer, to, id);
  }
  return longer;
}

/** Returns the list without the given ids; both ascend. */
function withoutIds(list: Uint8Array, ids: Uint32Array): Uint8Array {
  const left = new Uint8Array(list.length);
  let size = 0;
  let next = 0;
  for (let at = 0; at < list.length; at += 4) {
    const id = getWord(list, at);
    while (next < ids.length && ids[next]! < id) next++;
    if (ids[next] === id) continue;
    putWord(left, size, id);
    size += 4;
  }
  return left.slice(0, size);
}

/**
 * Removes elements, ascending, from the value whose list is under `key`. A list is written once; every
 * element counts as a write.
 */
export function removeEntries(
  log: UndoLog,
  table: Table<Uint8Array>,
  key: Uint8Array,
  ids: Uint32Array,
): void {
  const list = table.peek(key);
  if (list === undefined) return;
  if (isSplit(list)) {
    const own = key.slice();
    for (const id of ids) {
      putId(own, id);
      log.removeEmpty(table, own);
    }
    return;
  }
  if (list.length === 4 && ids.length === 1 && getWord(list, 0) === ids[0]) {
    log.cut(table, key, list);
    return;
  }
  const shorter = withoutIds(list, ids);
  if (shorter.length === 0) log.cut(table, key, list);
  else log.replace(table, key, list, shorter);
  log.count(ids.length - 1, 0);
}

/** Returns the ids that have a value, ascending. */
export function idsUnder(table: Table<Uint8Array>, prefix: Uint8Array): Uint32Array {
  const list = listUnder(table, prefix);
  return list === 'spread' ? joinWords([...splitBatches(table, prefix)]) : list;
}

/** Yields the ids that have a value in batches, the first of them small, without the first `skip`. */
export function batchesUnder(
  table: Table<Uint8Array>,
  prefix: Uint8Array,
  { skip, max } = allIds,
): Iterable<Uint32Array> {
  const list = listUnder(table, prefix);
  if (list !== 'spread') return [skip > 0 ? list.subarray(skip) : list];
  return splitBatches(table, prefix, Math.min(Math.max(max, 1), firstRead), skip);
}

function listUnder(table: Table<Uint8Array>, prefix: Uint8Array): Uint32Array | 'spread' {
  if (prefix.length > longestPrefix) return none;
  const list = table.peek(indexKey(prefix, 0));
  if (list === undefined) return none;
  if (isSplit(list)) return 'spread';
  const ids = new Uint32Array(list.length >>> 2);
  copyWords(list, 0, ids, 0);
  return ids;
}

/**
 * Yields the ids of a split value, ascending, without the first `skip`. Each batch is four times as large as
 * the one before, up to 1,024, so that the keys of a million ids are never in memory together.
 */
export function* splitBatches(
  table: Table<Uint8Array>,
  prefix: Uint8Array,
  first = keysPerRead,
  skip = 0,
): Generator<Uint32Array> {
  const end = above(prefix);
  let limit = first;
  let offset = skip;
  for (let next = 1; ; limit = Math.min(limit * 4, keysPerRead)) {
    // The values are empty. Reading them verifies the checksums of the keys.
    const entries = table.entries({ start: indexKey(prefix, next), end, limit, offset });
    offset = 0;
    if (entries.length === 0) return;
    const ids = Uint32Array.from(entries, ({ key }) => idOfKey(key));
    yield ids;
    if (entries.length < limit) return;
    next = ids[ids.length - 1]! + 1;
  }
}
