// ORDER: a stable sort by one or several keys, each with its direction. Null comes last in both directions
// unless requested first. If a slice with known bounds follows, only the rows of that slice are kept.
import { compareValues, kindRank } from '../../base/value.js';
import { uuidOf } from '../runtime/element.js';
import { batchesOf, type Flow, openRows } from '../runtime/flow.js';
import { type Frame, rowBytes } from '../runtime/frame.js';
import { keep } from '../runtime/collect.js';
import { TopK } from './top-k.js';
import { Element, isListValue, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';

interface Keys {
  keys: readonly Value[];
}

export interface Keyed extends Keys {
  row: Value;
}

export interface Ordering {
  slot: number;
  keys: readonly { value: Evaluate; descending: boolean; nullsFirst: boolean }[];
  /** Returns true if rows are known to come in the order of the first key. */
  sorted?: (() => boolean) | undefined;
}

/** Returns the sort value of a key: the first item of a list, the id of an element. */
function orderKey(frame: Frame, value: Value): Value {
  const item = isListValue(value) ? (value[0] ?? null) : value;
  return item instanceof Element ? uuidOf(frame, item) : item;
}

function compareKeys(frame: Frame, a: Value, b: Value, sign: number, nullsFirst: boolean): number {
  if (a === null || b === null) return a === b ? 0 : (a === null) === nullsFirst ? -1 : 1;
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -sign : a > b ? sign : 0;
  return (kindRank(a) - kindRank(b) || compareValues(a, b, frame)) * sign;
}

/** Returns how to compute and compare the keys of rows. */
export function keyedBy(frame: Frame, { slot, keys }: Ordering) {
  return {
    keyed(row: Value): Keyed {
      frame.slots[slot] = row;
      return { row, keys: keys.map((key) => orderKey(frame, key.value(frame))) };
    },
    compare(a: Keys, b: Keys): number {
      frame.tick(1);
      for (let i = 0; i < keys.length; i++) {
        const { descending, nullsFirst } = keys[i]!;
        const sign = descending ? -1 : 1;
        const result = compareKeys(frame, a.keys[i]!, b.keys[i]!, sign, nullsFirst);
        if (result !== 0) return result;
      }
      return 0;
    },
  };
}

/** `limit` returns how many of the ordered rows later steps read. */
export function order(input: Flow, ordering: Ordering, limit?: (frame: Frame) => number): Flow {
  return { kind: 'rows', open: (frame) => orderRows(frame, input, ordering, limit) };
}

function* orderRows(
  frame: Frame,
  input: Flow,
  ordering: Ordering,
  limit: ((frame: Frame) => number) | undefined,
): Iterable<readonly Value[]> {
  const k = limit?.(frame);
  const rows = openRows(input, frame);
  const sorted = k === undefined ? all(frame, rows, ordering) : best(frame, rows, ordering, k);
  yield* batchesOf(sorted.map((entry) => entry.row));
}

type Batches = Iterable<readonly Value[]>;

function all(frame: Frame, batches: Batches, ordering: Ordering): Keyed[] {
  const rows: Keyed[] = [];
  const { keyed, compare } = keyedBy(frame, ordering);
  for (const batch of batches) {
    frame.tick(batch.length);
    frame.reserveMemory(batch.length * (1 + ordering.keys.length) * rowBytes);
    for (const row of batch) rows.push(keyed(keep(frame, row)));
  }
  return rows.sort(compare);
}

function best(frame: Frame, batches: Batches, ordering: Ordering, k: number): Keyed[] {
  const { keys } = ordering;
  const { keyed, compare } = keyedBy(frame, ordering);
  const first = keyedBy(frame, { slot: ordering.slot, keys: keys.slice(0, 1) });
  const top = new TopK<Keyed>(k, compare);
  const isSorted = ordering.sorted ?? (() => false);
  // With a single key, a later row with an equal key is not needed either.
  const lastOrder = keys.length === 1 ? -1 : 0;
  let offered = 0;
  let last: Keyed | undefined;
  for (const batch of batches) {
    frame.tick(batch.length);
    for (const row of batch) {
      const entry = keyed(row);
      // After the last kept value of the first key, no row can come before the kept ones.
      const isAfterLast = last !== undefined && first.compare(entry, last) > lastOrder;
      if (isAfterLast && isSorted()) return top.sorted();
      if (!top.offer(entry)) continue;
      if (++offered === k && isSorted()) last = entry;
      frame.reserveMemory((1 + keys.length) * rowBytes);
      keep(frame, row);
    }
  }
  return top.sorted();
}
