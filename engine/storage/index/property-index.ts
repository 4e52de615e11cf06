// Property indexes: which elements have a value, found by one exact read while they are few, in
// order of value for ranges.
//
//   key  index u32 · value (order.ts) · 0          value  ids u32 ascending, at most 128: the list of the value
//                                                  value  one zero u32: the ids are too many, see below
//   key  index u32 · value (order.ts) · id u32     value  empty: one of too many
//
// (A cursor of lmdb-js costs 8-10 us to open, an exact read 1 us. A value stays spread out once it
// was.) Invariant: a value lists exactly the elements that have it. A value's form is a prefix of
// its keys and of no other's.
import type { ChangeLog } from '../table/change-log.js';
import type { Table } from '../table/env.js';
import { above, idOfKey, indexKey, longestPrefix } from './index-key.js';
import { copyWords, getWord, joinWords, putWord } from '../table/word.js';

/** Ids in the list of a value at most. */
export const listIds = 128;
const keysPerRead = 1024;

const empty = new Uint8Array(0);
const spread = new Uint8Array(4);
const none = new Uint32Array(0);

export const isSpread = (list: Uint8Array): boolean => getWord(list, 0) === 0;

export function addEntry(
  log: ChangeLog,
  table: Table<Uint8Array>,
  prefix: Uint8Array,
  id: number,
): void {
  const key = indexKey(prefix, 0);
  const list = table.get(key);
  if (list === undefined) {
    const first = new Uint8Array(4);
    putWord(first, 0, id);
    log.insert(table, key, first);
  } else if (isSpread(list)) {
    log.insert(table, indexKey(prefix, id), empty);
  } else if (list.length === listIds * 4) {
    for (let at = 0; at < list.length; at += 4) {
      log.insert(table, indexKey(prefix, getWord(list, at)), empty);
    }
    log.insert(table, indexKey(prefix, id), empty);
    log.replace(table, key, list, spread);
  } else {
    log.replace(table, key, list, withId(list, id));
  }
}

function withId(list: Uint8Array, id: number): Uint8Array {
  let at = list.length;
  while (at > 0 && getWord(list, at - 4) > id) at -= 4;
  const longer = new Uint8Array(list.length + 4);
  longer.set(list.subarray(0, at));
  putWord(longer, at, id);
  longer.set(list.subarray(at), at + 4);
  return longer;
}

/** Both ascend. */
function withoutIds(list: Uint8Array, ids: readonly number[]): Uint8Array {
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

export function removeEntry(
  log: ChangeLog,
  table: Table<Uint8Array>,
  prefix: Uint8Array,
  id: number,
): void {
  removeEntries(log, table, prefix, [id]);
}

/** Takes elements, ascending, from under a value; a list is written once, and counts as often. */
export function removeEntries(
  log: ChangeLog,
  table: Table<Uint8Array>,
  prefix: Uint8Array,
  ids: readonly number[],
): void {
  const key = indexKey(prefix, 0);
  const list = table.get(key);
  if (list === undefined) return;
  if (isSpread(list)) {
    for (const id of ids) log.remove(table, indexKey(prefix, id));
    return;
  }
  const shorter = withoutIds(list, ids);
  if (shorter.length === 0) log.cut(table, key, list);
  else log.replace(table, key, list, shorter);
  log.count(ids.length - 1, 0);
}

/** Ids that have a value, ascending. */
export function idsUnder(table: Table<Uint8Array>, prefix: Uint8Array): Uint32Array {
  if (prefix.length > longestPrefix) return none;
  const list = table.peek(indexKey(prefix, 0));
  if (list === undefined) return none;
  if (!isSpread(list)) {
    const ids = new Uint32Array(list.length >>> 2);
    copyWords(list, 0, ids, 0);
    return ids;
  }
  return joinWords([...spreadBatches(table, prefix)]);
}

/**
 * Ids of a value that is spread out, ascending; in pieces, so that the keys of a million never lie
 * side by side.
 */
export function* spreadBatches(
  table: Table<Uint8Array>,
  prefix: Uint8Array,
): Generator<Uint32Array> {
  const end = above(prefix);
  for (let next = 1; ; ) {
    // The values are empty; reading them compares the checksums of the keys.
    const entries = table.entries({ start: indexKey(prefix, next), end, limit: keysPerRead });
    if (entries.length === 0) return;
    const ids = Uint32Array.from(entries, ({ key }) => idOfKey(key));
    yield ids;
    if (entries.length < keysPerRead) return;
    next = ids[ids.length - 1]! + 1;
  }
}

/** Whether any element has the value. */
export function isTaken(table: Table<Uint8Array>, prefix: Uint8Array): boolean {
  const list = table.peek(indexKey(prefix, 0));
  return list !== undefined && (!isSpread(list) || idsUnder(table, prefix).length > 0);
}
