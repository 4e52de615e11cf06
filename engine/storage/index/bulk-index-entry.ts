// Index entries of elements that a load adds (property-index.ts draws them): ids rise, and nothing is
// noted for undoing.
import type { Table } from '../table/env.js';
import { indexKey } from './index-key.js';
import { isSplit, listIds } from './property-index.js';
import { isTaken } from './unique-value.js';
import { getWord, putWord } from '../table/little-endian.js';

const empty = new Uint8Array(0);
const spread = new Uint8Array(4);

/** What the value of a list's key begins with. */
const prefixIn = (key: Uint8Array): Uint8Array => key.subarray(0, -4);

/**
 * Adds an id above all others to the list under `key`, with nothing noted for undoing: what
 * `addEntry` would leave.
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
 * Adds the id of an element that is to have the value alone, whose list is under `key`; false, and
 * nothing is added, when it is taken. A value that was never seen costs a single put.
 */
export function claimValue(table: Table<Uint8Array>, key: Uint8Array, id: number): boolean {
  if (table.insertWord(key, id)) return true;
  const prefix = prefixIn(key);
  if (isTaken(table, prefix)) return false;
  table.put(indexKey(prefix, id), empty);
  return true;
}

/** Takes back what `claimValue` added. */
export function disclaimValue(table: Table<Uint8Array>, key: Uint8Array, id: number): void {
  const list = table.peek(key);
  table.remove(list !== undefined && isSplit(list) ? indexKey(prefixIn(key), id) : key);
}
