// UPDATE, UpsertN and UpsertV as steps, and DROP. All rows are read before anything changes.
import type { Label } from '../../storage/table/view-types.js';
import { readVector } from '../runtime/step-argument.js';
import { asRows, batchesOf, type Flow, type RowFlow } from '../runtime/flow.js';
import { collect, firstOf } from '../runtime/collect.js';
import type { Frame } from '../runtime/frame.js';
import { refreshed } from '../runtime/bound-element.js';
import { IdSet } from '../../base/id-set.js';
import {
  type Assign,
  createNode,
  createVector,
  dropElements,
  updateElements,
} from './element-writer.js';
import { Element, GroupRecord, RecordValue, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';

export interface Change {
  slot: number;
  set: readonly Assign[];
}

/**
 * Updates every distinct element once, with the values of its first row. Yields the rows after the update,
 * without deleted elements.
 */
export function update(input: Flow, change: Change): RowFlow {
  return { kind: 'rows', open: (frame) => updateRows(frame, input, change) };
}

function* updateRows(frame: Frame, input: Flow, { slot, set }: Change): Iterable<readonly Value[]> {
  const rows = collect(input, frame).filter((row): row is Element => row instanceof Element);
  const distinct = new Map<number, Element>();
  for (const row of rows) if (!distinct.has(row.id)) distinct.set(row.id, row);
  const updated = updateElements(frame, distinct.values(), slot, set);
  yield* batchesOf(rows.filter((row) => updated.has(row.id)).map(refreshed));
}

/** Updates the first row that still exists. If there is none, creates an element with `create`. */
function upsert(
  input: Flow,
  change: Change,
  create: (frame: Frame) => Element,
  changed?: (frame: Frame, element: Element) => void,
): RowFlow {
  return { kind: 'rows', open: (frame) => upsertRows(frame, input, change, create, changed) };
}

function* upsertRows(
  frame: Frame,
  input: Flow,
  { slot, set }: Change,
  create: (frame: Frame) => Element,
  changed: ((frame: Frame, element: Element) => void) | undefined,
): Iterable<readonly Value[]> {
  const row = firstOf(input, frame);
  if (row instanceof Element && updateElements(frame, [row], slot, set).size === 1) {
    const element = refreshed(row);
    changed?.(frame, element);
    yield [element];
    return;
  }
  frame.slots[slot] = null;
  yield [create(frame)];
}

export function upsertNode(input: Flow, change: Change, label: Label): RowFlow {
  return upsert(input, change, (frame) => createNode(frame, label, change.set));
}

export function upsertVector(input: Flow, change: Change, label: Label, vector: Evaluate): RowFlow {
  return upsert(
    input,
    change,
    (frame) => createVector(frame, label, readVector(frame, vector, 'UpsertV'), change.set),
    (frame, element) => {
      frame.write.replaceVector(element.id, readVector(frame, vector, 'UpsertV'));
      element.fresh = true;
    },
  );
}

/**
 * Deletes every element of a flow once. All ids are collected before the first deletion. Returns the number
 * of deleted elements.
 */
export function drop(frame: Frame, flow: Flow): number {
  const seen = new IdSet();
  const ids: number[] = [];
  const take = (id: number): void => {
    if (seen.add(id)) ids.push(id);
  };
  if (flow.kind === 'ids') for (const batch of flow.open(frame)) for (const id of batch) take(id);
  else {
    for (const batch of asRows(flow).open(frame))
      for (const row of batch) eachElement(frame, row, (element) => take(element.id));
  }
  frame.reserveMemory(8 * ids.length);
  return dropElements(frame, ids);
}

/** Visits the elements of a value, including those inside lists, records and objects. */
export function eachElement(
  frame: Frame,
  value: Value,
  visit: (element: Element) => void,
  seen = new Set<object>(),
): void {
  if (value instanceof Element) {
    visit(value);
    if (value.hit.found !== undefined) visit(value.hit.found);
  } else if (typeof value === 'object' && value !== null && !seen.has(value)) {
    const items = partsOf(value);
    if (items === undefined) return;
    // Visit a part only once when the value contains it several times.
    seen.add(value);
    frame.tick(1);
    for (const item of items) eachElement(frame, item, visit, seen);
  }
}

function partsOf(value: Value): Iterable<Value> | undefined {
  if (value instanceof GroupRecord) return [...value.values, ...value.keys, value.items];
  if (value instanceof RecordValue) return value.values;
  if (value instanceof Map) return value.values();
  return Array.isArray(value) ? value : undefined;
}
