// Accumulators of groups, in place of all their items: sums, counts, extremes, and the first few in an order.
// Invariant: a reader gets the value that the list of all items would give.
import { better, Sum } from '../expression/aggregate.js';
import { type Frame, rowBytes } from '../runtime/frame.js';
import { keep } from '../runtime/collect.js';
import { type Keyed, keyedBy, type Ordering } from './order.js';
import { TopK } from './top-k.js';
import type { Evaluate } from '../runtime/compiled.js';
import type { Value } from '../runtime/value.js';

/** State of one group. */
export interface Accumulator {
  add(item: Value): void;
  value(): Value;
}

export type Accumulate = (frame: Frame) => Accumulator;

export interface Total {
  /** Slot from which the value reads the item. */
  slot: number;
  function: 'SUM' | 'MIN' | 'MAX' | 'COUNT';
  integer: boolean;
  value: Evaluate;
}

export function total({ slot, function: name, integer, value: read }: Total): Accumulate {
  const readItem = (frame: Frame, item: Value): Value => {
    frame.slots[slot] = item;
    return read(frame);
  };
  if (name === 'SUM') {
    return (frame) => {
      const sum = new Sum(integer);
      return {
        add(one) {
          const item = readItem(frame, one);
          if (item !== null) sum.add(item as number | bigint);
        },
        value: () => sum.value,
      };
    };
  }
  if (name === 'COUNT') {
    return (frame) => {
      let count = 0;
      const add = (one: Value): void => {
        if (readItem(frame, one) !== null) count++;
      };
      return { add, value: () => count };
    };
  }
  const sign = name === 'MIN' ? -1 : 1;
  return (frame) => {
    let best: Value = null;
    const add = (one: Value): void => {
      const item = readItem(frame, one);
      if (item !== null) best = best === null ? item : better(best, item, sign);
    };
    return { add, value: () => best };
  };
}

/** Keeps the first `max` items, ordered by keys if there are any. */
export function firstOnes(ordering: Ordering, max: number): Accumulate {
  return (frame) => {
    const { keyed, compare } = keyedBy(frame, ordering);
    const top = new TopK<Keyed>(max, compare);
    return {
      add(item) {
        if (!top.offer(keyed(item))) return;
        frame.reserveMemory((1 + ordering.keys.length) * rowBytes);
        keep(frame, item);
      },
      value: () => top.sorted().map(({ row }) => row),
    };
  };
}

/** Passes on only the items that satisfy the condition. */
export function accumulateWhere(of: Accumulate, slot: number, condition: Evaluate): Accumulate {
  return (frame) => {
    const { add, value } = of(frame);
    return {
      add(item) {
        frame.slots[slot] = item;
        if (condition(frame) === true) add(item);
      },
      value,
    };
  };
}
