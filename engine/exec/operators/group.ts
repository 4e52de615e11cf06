// GROUP_BY and AGGREGATE_BY: one record per combination of typed keys, in order of first occurrence.
import { fail } from '../../base/errors.js';
import { batchesOf, type Flow, openRows } from '../runtime/flow.js';
import { type Frame, rowBytes } from '../runtime/frame.js';
import { keyOf, keyOfAll } from '../runtime/key.js';
import { keep } from '../runtime/collect.js';
import { Element, GroupRecord, RecordValue, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';
import type { Accumulate, Accumulator } from './accumulate.js';

export interface Grouping {
  slot: number;
  keys: readonly { name: string; value: Evaluate }[];
  /** AGGREGATE_BY: keep the items of the group, in their shape if there is one. */
  data: boolean;
  shape: Evaluate | undefined;
  /** Keep the items without their shape too. */
  rows: boolean;
  /** [compat] Records know their keys. */
  keyed: boolean;
  /** Keep keys and items in addition to what is printed. */
  whole: boolean;
  /** Captures what the shape of an item reads from outside. */
  keep: ((frame: Frame, item: Value) => void) | undefined;
  /** Accumulators in place of the items. With `rows`, they get items without a shape. */
  accumulate: readonly { rows: boolean; make: Accumulate }[] | undefined;
}

interface Group {
  keys: Value[];
  count: number;
  items: Value[];
  /**
   * Items without their shape. This is the list of items itself when there is no shape, or when no step needs
   * both.
   */
  rows: Value[];
  accumulators: readonly Accumulator[];
}

/** Member names of a group's record. */
interface Names {
  shown: string[];
  read: string[];
}

const nothing: readonly Accumulator[] = [];

export function group(input: Flow, grouping: Grouping): Flow {
  const keyNames = grouping.keys.map((key) => key.name);
  const names: Names = {
    shown: grouping.data ? ['count', 'data'] : [...keyNames, 'count'],
    // An accumulated value is read like a key.
    read: [...keyNames, ...(grouping.accumulate ?? []).map((_, i) => `#${i}`)],
  };
  return { kind: 'rows', open: (frame) => groupRows(frame, input, grouping, names) };
}

function* groupRows(
  frame: Frame,
  input: Flow,
  grouping: Grouping,
  names: Names,
): Iterable<readonly Value[]> {
  const { data, whole, keyed } = grouping;
  const groups = gather(openRows(input, frame), frame, grouping);
  const records = Array.from(groups, (each) => {
    const values = data ? [each.count, each.items] : [...each.keys, each.count];
    const read = [...each.keys, ...each.accumulators.map((one) => one.value())];
    return keyed || whole
      ? new GroupRecord(names.shown, values, names.read, read, each.rows)
      : new RecordValue(names.shown, values);
  });
  yield* batchesOf(records);
}

function gather(
  batches: Iterable<readonly Value[]>,
  frame: Frame,
  grouping: Grouping,
): Iterable<Group> {
  const { slot, keys, data, whole, accumulate } = grouping;
  const groups = new Map<string, Group>();
  const max = frame.context.limits.groups;
  for (const batch of batches) {
    frame.tick(batch.length);
    for (const row of batch) {
      frame.slots[slot] = row;
      const values = keys.map((key) => key.value(frame));
      const key = values.length === 1 ? keyOf(frame, values[0]!) : keyOfAll(frame, values);
      let found = groups.get(key);
      if (found === undefined) {
        if (groups.size === max) fail('RESULT_TOO_LARGE', { max, unit: 'groups' });
        frame.reserveMemory(3 * rowBytes + 2 * key.length);
        const accumulators = accumulate?.map(({ make }) => make(frame)) ?? nothing;
        frame.reserveMemory(accumulators.length * rowBytes);
        const items: Value[] = [];
        found = {
          keys: values,
          count: 0,
          items,
          rows: grouping.rows && whole ? [] : items,
          accumulators,
        };
        groups.set(key, found);
      }
      found.count++;
      if (data || whole) take(frame, grouping, found, row);
    }
  }
  return groups.values();
}

function take(
  frame: Frame,
  grouping: Grouping,
  { items, rows, accumulators }: Group,
  row: Value,
): void {
  const { slot, shape, accumulate } = grouping;
  let item = row;
  if (grouping.keep !== undefined && row instanceof Element) {
    // Copy the element: in other groups, it captures other values.
    item = Object.assign(new Element(row.id), row);
    frame.copyRetained(row, item);
    grouping.keep(frame, item);
  }
  frame.slots[slot] = item;
  const shaped = shape ? shape(frame) : item;
  if (accumulate === undefined) {
    items.push(keep(frame, shaped));
    if (rows !== items) rows.push(keep(frame, item));
  }
  for (let i = 0; i < accumulators.length; i++)
    accumulators[i]!.add(accumulate![i]!.rows ? item : shaped);
}
