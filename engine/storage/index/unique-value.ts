// Claims values of unique indexes as an element is created, so that later elements, those of the same request
// included, find them taken. A new value costs a single put.
import type { UndoLog } from '../table/undo-log.js';
import type { Table } from '../table/env.js';
import { indexKey } from './index-key.js';
import { addEntries, idsUnder, isSplit } from './property-index.js';

/** Gives an element the value with this prefix. Returns false, and changes nothing, if an element has it. */
export function claim(
  log: UndoLog,
  table: Table<Uint8Array>,
  prefix: Uint8Array,
  id: number,
): boolean {
  const key = indexKey(prefix, 0);
  log.count(1, 4);
  if (log.insertWord(table, key, id)) return true;
  if (isTaken(table, prefix)) return false;
  addEntries(log, table, key, Uint32Array.of(id));
  return true;
}

/** Whether any element has the value. */
export function isTaken(table: Table<Uint8Array>, prefix: Uint8Array): boolean {
  const list = table.peek(indexKey(prefix, 0));
  return list !== undefined && (!isSplit(list) || idsUnder(table, prefix).length > 0);
}
