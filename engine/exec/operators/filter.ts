// Steps that process rows one by one: WHERE, map (also `::ID`), DEDUP and INTERSECT.
import { type Flow, type IdFlow, openRows, type RowFlow, rowsOf } from '../runtime/flow.js';
import { type Frame, rowBytes } from '../runtime/frame.js';
import { IdSet } from '../../base/id-set.js';
import { keyOf, keyOfAll } from '../runtime/key.js';
import { Element, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';

/** Yields the rows for which the condition, evaluated with the row in `slot`, is true. */
export function where(input: Flow, slot: number, condition: Evaluate): Flow {
  return { kind: 'rows', open: (frame) => whereRows(frame, input, slot, condition) };
}

export function* whereRows(
  frame: Frame,
  input: Flow,
  slot: number,
  condition: Evaluate,
): Iterable<readonly Value[]> {
  const { slots } = frame;
  for (const batch of openRows(input, frame)) {
    frame.tick(batch.length);
    const passing: Value[] = [];
    for (let i = 0; i < batch.length; i++) {
      const row = batch[i]!;
      slots[slot] = row;
      if (condition(frame) === true) passing.push(row);
    }
    if (passing.length > 0) yield passing;
  }
}

/** Yields the value of the expression for every row. */
export function map(input: Flow, slot: number, value: Evaluate): Flow {
  const { count } = input;
  return {
    kind: 'rows',
    open: (frame) => mapRows(frame, input, slot, value),
    ...(count && { count }),
  };
}

function* mapRows(
  frame: Frame,
  input: Flow,
  slot: number,
  value: Evaluate,
): Iterable<readonly Value[]> {
  const { slots } = frame;
  for (const batch of openRows(input, frame)) {
    frame.tick(batch.length);
    const values: Value[] = new Array(batch.length);
    for (let i = 0; i < batch.length; i++) {
      slots[slot] = batch[i]!;
      values[i] = value(frame);
    }
    yield values;
  }
}

/** Yields the first of equal rows: elements by id, other values by their typed key. */
export function dedup(input: Flow): Flow {
  return input.kind === 'ids'
    ? { kind: 'ids', open: (frame) => dedupIds(frame, input) }
    : { kind: 'rows', open: (frame) => dedupRows(frame, input) };
}

function* dedupIds(frame: Frame, input: IdFlow): Iterable<Uint32Array> {
  const seen = new IdSet();
  for (const ids of input.open(frame)) {
    frame.tick(ids.length);
    const passing = ids.filter((id) => seen.add(id));
    if (passing.length > 0) yield passing;
  }
}

function* dedupRows(frame: Frame, input: RowFlow): Iterable<readonly Value[]> {
  const ids = new IdSet();
  const keys = new Set<string>();
  for (const batch of input.open(frame)) {
    frame.tick(batch.length);
    const passing: Value[] = [];
    for (const row of batch) {
      if (row instanceof Element) {
        if (ids.add(row.id)) passing.push(row);
        continue;
      }
      const key = keyOf(frame, row);
      if (keys.has(key)) continue;
      frame.reserveMemory(rowBytes + 2 * key.length);
      keys.add(key);
      passing.push(row);
    }
    if (passing.length > 0) yield passing;
  }
}

/** Yields the first of the rows with the same keys. Null is a key like any other. */
export function dedupBy(input: Flow, slot: number, by: readonly Evaluate[]): Flow {
  return { kind: 'rows', open: (frame) => dedupByRows(frame, input, slot, by) };
}

function* dedupByRows(
  frame: Frame,
  input: Flow,
  slot: number,
  by: readonly Evaluate[],
): Iterable<readonly Value[]> {
  const { slots } = frame;
  const seen = new Set<string>();
  for (const batch of openRows(input, frame)) {
    frame.tick(batch.length);
    const passing: Value[] = [];
    for (const row of batch) {
      const values = by.map((each) => {
        slots[slot] = row;
        return each(frame);
      });
      const key = keyOfAll(frame, values);
      if (seen.has(key)) continue;
      frame.reserveMemory(rowBytes + 2 * key.length);
      seen.add(key);
      passing.push(row);
    }
    if (passing.length > 0) yield passing;
  }
}

/** Yields the values that `reached` returns for every row, each once, in the order of the first row. */
export function intersect(input: Flow, slot: number, reached: Evaluate): Flow {
  return { kind: 'rows', open: (frame) => intersectRows(frame, input, slot, reached) };
}

function* intersectRows(
  frame: Frame,
  input: Flow,
  slot: number,
  reached: Evaluate,
): Iterable<readonly Value[]> {
  let common: Map<string, Value> | undefined;
  for (const batch of openRows(input, frame)) {
    for (const row of batch) {
      frame.tick(1);
      frame.slots[slot] = row;
      const next = new Map<string, Value>();
      for (const item of rowsOf(reached(frame))) {
        const key = item instanceof Element ? `e${item.id}` : keyOf(frame, item);
        if (!next.has(key)) next.set(key, item);
      }
      frame.reserveMemory(common === undefined ? next.size * 2 * rowBytes : 0);
      if (common === undefined) common = next;
      else for (const key of common.keys()) if (!next.has(key)) common.delete(key);
      if (common.size === 0) return;
    }
  }
  if (common !== undefined) yield [...common.values()];
}
