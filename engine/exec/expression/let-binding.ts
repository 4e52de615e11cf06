// Named values in a projection. Each is computed when an expression first needs it, and remembered with the
// item. Members of one projection and later steps have copies of the same value under one key, so that they
// share the result.
//
// Invariant: a remembered value is valid only while nothing was written, and while the slots it reads are
// unchanged, apart from the slots of the item and of earlier names.
import type { Expression } from '../../plan/expression.js';
import { freeSlots } from '../../plan/rule/free-slots.js';
import type { Builder } from '../runtime/build-context.js';
import type { Evaluate } from '../runtime/compiled.js';
import { type Frame, rowBytes } from '../runtime/frame.js';
import { isListValue, type Value } from '../runtime/value.js';

interface Remembered {
  value: Value;
  writes: number;
  slots: readonly number[];
  held: Value[];
}

interface Named {
  slot: number;
  key: number;
  evaluate: Evaluate;
  /** Outer slots that it reads. */
  around: readonly number[];
}

type Memory = WeakMap<object, Map<number, Remembered>>;

const memories = new WeakMap<Frame, Memory>();

/** Returns a function that fills the slots of the names for the current item. */
export function buildLets(
  builder: Builder,
  { of, lets }: Extract<Expression, { kind: 'with' }>,
): (frame: Frame) => void {
  const item = builder.value(of);
  const own = new Set([...freeSlots(of), ...lets.map(({ slot }) => slot)]);
  const named = lets.map(({ slot, key, value }): Named => {
    const around = freeSlots(value).filter((each) => !own.has(each));
    return { slot, key, evaluate: builder.value(value), around };
  });
  return (frame) => {
    const at = item(frame);
    for (const each of named) frame.slots[each.slot] = recall(frame, at, each);
  };
}

function recall(frame: Frame, item: Value, named: Named): Value {
  if (typeof item !== 'object' || item === null) return named.evaluate(frame);
  let memory = memories.get(frame);
  if (memory === undefined) memories.set(frame, (memory = new WeakMap()));
  const known = memory.get(item)?.get(named.key);
  if (known !== undefined && isValid(frame, known, named.around)) return known.value;
  const value = named.evaluate(frame);
  frame.reserveMemory(rowBytes * (isListValue(value) ? 1 + value.length : 1));
  frame.tick(1);
  let ofItem = memory.get(item);
  if (ofItem === undefined) memory.set(item, (ofItem = new Map()));
  const { around: slots } = named;
  const held = slots.map((slot) => frame.slots[slot]!);
  ofItem.set(named.key, { value, writes: frame.writes, slots, held });
  return value;
}

function isValid(frame: Frame, known: Remembered, around: readonly number[]): boolean {
  const { slots, held, writes } = known;
  if (writes !== frame.writes || slots.length !== around.length) return false;
  return slots.every((slot, i) => slot === around[i] && frame.slots[slot] === held[i]);
}
