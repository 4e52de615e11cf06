// Values that one element alone may have: claimed as the element is made, so that whoever comes next, in
// the same request too, finds them taken. A value that was never seen costs a single put.
import type { UndoLog } from '../table/undo-log.js';
import type { Table } from '../table/env.js';
import { indexKey } from './index-key.js';
import { addEntries, idsUnder, isSplit } from './property-index.js';

/** Gives an element the value with this prefix; false, and nothing is done, when some element has it. */
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
