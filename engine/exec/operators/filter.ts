// Steps that look at rows one by one: WHERE, map (also `::ID`), DEDUP and INTERSECT.
import { asRows, type Flow, rowsOf } from '../row/flow.js';
import { rowBytes } from '../row/frame.js';
import { IdSet } from '../../base/id-set.js';
import { keyOf, keyOfAll } from '../row/key.js';
import { Element, type Value } from '../row/value.js';
import type { Evaluate } from '../row/compiled.js';

/** Rows for which the condition, evaluated with the row in `slot`, is true. */
export function where(input: Flow, slot: number, condition: Evaluate): Flow {
  const { open } = asRows(input);
  return {
    kind: 'rows',
    *open(frame) {
      const { slots } = frame;
      for (const batch of open(frame)) {
        frame.tick(batch.length);
        const kept: Value[] = [];
        for (let i = 0; i < batch.length; i++) {
          const row = batch[i]!;
          slots[slot] = row;
          if (condition(frame) === true) kept.push(row);
        }
        if (kept.length > 0) yield kept;
      }
    },
  };
}

/** The value of the expression for every row. */
export function map(input: Flow, slot: number, value: Evaluate): Flow {
  const { open, count } = asRows(input);
  return {
    kind: 'rows',
    *open(frame) {
      const { slots } = frame;
      for (const batch of open(frame)) {
        frame.tick(batch.length);
        const values: Value[] = new Array(batch.length);
        for (let i = 0; i < batch.length; i++) {
          slots[slot] = batch[i]!;
          values[i] = value(frame);
        }
        yield values;
      }
    },
    ...(count && { count }),
  };
}

/** The first of equal rows: elements by id, other values by their typed key. */
export function dedup(input: Flow): Flow {
  if (input.kind === 'ids') {
    const { open } = input;
    return {
      kind: 'ids',
      *open(frame) {
        const seen = new IdSet();
        for (const ids of open(frame)) {
          frame.tick(ids.length);
          const kept = ids.filter((id) => seen.add(id));
          if (kept.length > 0) yield kept;
        }
      },
    };
  }
  const { open } = input;
  return {
    kind: 'rows',
    *open(frame) {
      const ids = new IdSet();
      const keys = new Set<string>();
      for (const batch of open(frame)) {
        frame.tick(batch.length);
        const kept: Value[] = [];
        for (const row of batch) {
          if (row instanceof Element) {
            if (ids.add(row.id)) kept.push(row);
            continue;
          }
          const key = keyOf(frame, row);
          if (keys.has(key)) continue;
          frame.charge(rowBytes + 2 * key.length);
          keys.add(key);
          kept.push(row);
        }
        if (kept.length > 0) yield kept;
      }
    },
  };
}

/** The first of the rows that have the same keys; null is a key like others. */
export function dedupBy(input: Flow, slot: number, by: readonly Evaluate[]): Flow {
  const { open } = asRows(input);
  return {
    kind: 'rows',
    *open(frame) {
      const { slots } = frame;
      const seen = new Set<string>();
      for (const batch of open(frame)) {
        frame.tick(batch.length);
        const kept: Value[] = [];
        for (const row of batch) {
          const values = by.map((each) => {
            slots[slot] = row;
            return each(frame);
          });
          const key = keyOfAll(frame, values);
          if (seen.has(key)) continue;
          frame.charge(rowBytes + 2 * key.length);
          seen.add(key);
          kept.push(row);
        }
        if (kept.length > 0) yield kept;
      }
    },
  };
}

/** What `reached` yields for every row, each once, in the order of the first row. */
export function intersect(input: Flow, slot: number, reached: Evaluate): Flow {
  const { open } = asRows(input);
  return {
    kind: 'rows',
    *open(frame) {
      let common: Map<string, Value> | undefined;
      for (const batch of open(frame)) {
        for (const row of batch) {
          frame.tick(1);
          frame.slots[slot] = row;
          const next = new Map<string, Value>();
          for (const item of rowsOf(reached(frame))) {
            const key = item instanceof Element ? `e${item.id}` : keyOf(frame, item);
            if (!next.has(key)) next.set(key, item);
          }
          frame.charge(common === undefined ? next.size * 2 * rowBytes : 0);
          if (common === undefined) common = next;
          else for (const key of common.keys()) if (!next.has(key)) common.delete(key);
          if (common.size === 0) return;
        }
      }
      if (common !== undefined) yield [...common.values()];
    },
  };
}
