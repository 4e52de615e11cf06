// Adds the index entries of elements that a load creates (property-index.ts draws them). Ids ascend, and no
// undo steps are recorded.
import type { Table } from '../table/env.js';
import { indexKey } from './index-key.js';
import { isSplit, listIds } from './property-index.js';
import { isTaken } from './unique-value.js';
import { getWord, putWord } from '../table/little-endian.js';

const empty = new Uint8Array(0);
const spread = new Uint8Array(4);

/** Returns the prefix of a list's key: index and value. */
const prefixIn = (key: Uint8Array): Uint8Array => key.subarray(0, -4);

/**
 * Adds an id, above all others, to the list under `key`, without undo steps. The result is that of
 * `addEntry`.
 */
export function addNewEntry(table: Table<Uint8Array>, key: Uint8Array, id: number): void {
  const list = table.peek(key);
  const size = list === undefined ? 0 : list.length;
  if (list !== undefined && isSplit(list)) table.put(indexKey(prefixIn(key), id), empty);
  else if (list !== undefined && size === listIds * 4) {
    const ids = list.slice();
    const prefix = prefixIn(key);
    for (let at = 0; at < size; at += 4) table.put(indexKey(prefix, getWord(ids, at)), empty);
    table.put(indexKey(prefix, id), empty);
    table.put(key, spread);
  } else {
    const longer = new Uint8Array(size + 4);
    if (list !== undefined) longer.set(list);
    putWord(longer, size, id);
    table.put(key, longer);
  }
}

/**
 * Adds the id of an element to a value of a unique index, whose list is under `key`. Returns false, and adds
 * nothing, if the value is taken. A new value costs a single put.
 */
export function claimValue(table: Table<Uint8Array>, key: Uint8Array, id: number): boolean {
  if (table.insertWord(key, id)) return true;
  const prefix = prefixIn(key);
  if (isTaken(table, prefix)) return false;
  table.put(indexKey(prefix, id), empty);
  return true;
}

/** Removes what `claimValue` added. */
export function disclaimValue(table: Table<Uint8Array>, key: Uint8Array, id: number): void {
  const list = table.peek(key);
  table.remove(list !== undefined && isSplit(list) ? indexKey(prefixIn(key), id) : key);
}
