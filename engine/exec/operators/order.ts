// ORDER: a stable sort by one or several keys, each with its direction; null last in both, unless
// asked for first (helixql.md 3.9, 6.4).
// Followed by a slice that is known beforehand, only the rows of that slice are kept.
import { compareValues, kindRank } from '../../base/value.js';
import { uuidOf } from '../row/element.js';
import { asRows, batchesOf, type Flow } from '../row/flow.js';
import { type Frame, rowBytes } from '../row/frame.js';
import { keep } from '../row/pull.js';
import { TopK } from './top-k.js';
import { Element, isListValue, type Value } from '../row/value.js';
import type { Evaluate } from '../row/compiled.js';

interface Keyed {
  row: Value;
  keys: Value[];
}

export interface Ordering {
  slot: number;
  keys: readonly { value: Evaluate; descending: boolean; nullsFirst: boolean }[];
}

/** What a key is ordered by: a list counts as its first item, an element as its id. */
function orderKey(frame: Frame, value: Value): Value {
  const item = isListValue(value) ? (value[0] ?? null) : value;
  return item instanceof Element ? uuidOf(frame, item) : item;
}

function compareKeys(frame: Frame, a: Value, b: Value, sign: number, nullsFirst: boolean): number {
  if (a === null || b === null) return a === b ? 0 : (a === null) === nullsFirst ? -1 : 1;
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -sign : a > b ? sign : 0;
  return (kindRank(a) - kindRank(b) || compareValues(a, b, frame)) * sign;
}

/** `most`: how many of the ordered rows anybody will read. */
export function order(input: Flow, ordering: Ordering, most?: (frame: Frame) => number): Flow {
  const { slot, keys } = ordering;
  const { open } = asRows(input);
  const comparison =
    (frame: Frame) =>
    (a: Keyed, b: Keyed): number => {
      frame.tick(1);
      for (let i = 0; i < keys.length; i++) {
        const { descending, nullsFirst } = keys[i]!;
        const sign = descending ? -1 : 1;
        const result = compareKeys(frame, a.keys[i]!, b.keys[i]!, sign, nullsFirst);
        if (result !== 0) return result;
      }
      return 0;
    };
  const keyed = (frame: Frame, row: Value): Keyed => {
    frame.slots[slot] = row;
    return { row, keys: keys.map((key) => orderKey(frame, key.value(frame))) };
  };
  return {
    kind: 'rows',
    *open(frame) {
      const k = most?.(frame);
      const sorted = k === undefined ? all(frame) : best(frame, k);
      yield* batchesOf(sorted.map((entry) => entry.row));
    },
  };

  function all(frame: Frame): Keyed[] {
    const rows: Keyed[] = [];
    for (const batch of open(frame)) {
      frame.tick(batch.length);
      frame.charge(batch.length * (1 + keys.length) * rowBytes);
      for (const row of batch) rows.push(keyed(frame, keep(frame, row)));
    }
    return rows.sort(comparison(frame));
  }

  function best(frame: Frame, k: number): Keyed[] {
    const top = new TopK<Keyed>(k, comparison(frame));
    for (const batch of open(frame)) {
      frame.tick(batch.length);
      for (const row of batch)
        if (top.offer(keyed(frame, row))) {
          frame.charge((1 + keys.length) * rowBytes);
          keep(frame, row);
        }
    }
    return top.sorted();
  }
}
