// Pulls a flow: all rows, the first row, whether there is any, how many. Each function reads no more than it
// needs.
import { type Flow, openRows } from './flow.js';
import { type Frame, rowBytes } from './frame.js';
import { Element, type Value } from './value.js';

/**
 * Charges the memory of a row that a list will hold, including its record, whether it is read already or not.
 */
export function keep(frame: Frame, row: Value): Value {
  frame.reserveMemory(rowBytes);
  if (row instanceof Element && !row.isRetained) {
    row.isRetained = true;
    if (row.record !== undefined) frame.reserveMemory(row.record.length);
  }
  return row;
}

/** Returns all rows, charged as memory of the query. */
export function collect(flow: Flow, frame: Frame): Value[] {
  const rows: Value[] = [];
  for (const batch of openRows(flow, frame)) {
    frame.tick(batch.length);
    for (let i = 0; i < batch.length; i++) rows.push(keep(frame, batch[i]!));
  }
  return rows;
}

/** Returns the first row, or null. Reads no further. */
export function firstOf(flow: Flow, frame: Frame): Value {
  for (const batch of openRows(flow, frame)) if (batch.length > 0) return batch[0]!;
  return null;
}

/** Returns true if there is any row. Reads at most one. */
export function isInhabited(flow: Flow, frame: Frame): boolean {
  if (flow.inhabited) return flow.inhabited(frame);
  for (const batch of flow.open(frame)) if (batch.length > 0) return true;
  return false;
}

export function countOf(flow: Flow, frame: Frame): number {
  if (flow.count) return flow.count(frame);
  let count = 0;
  for (const batch of flow.open(frame)) {
    count += batch.length;
    frame.tick(1);
  }
  return count;
}
