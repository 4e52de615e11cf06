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
import { Element, isListValue, type Value } from '../runtime/value.js';

interface Named {
  slot: number;
  key: number;
  evaluate: Evaluate;
  /** Outer slots that it reads. */
  around: readonly number[];
}

type NamedValue = NonNullable<Element['named']>;

/** What is remembered with items that are no elements, by execution. */
const memories = new WeakMap<Frame, WeakMap<object, NamedValue>>();
const none: readonly Value[] = [];

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
  const { key, around: slots } = named;
  let known = namedOf(frame, item);
  while (known !== undefined && known.key !== key) known = known.next;
  if (known !== undefined && isValid(frame, known, slots)) return known.value;
  const value = named.evaluate(frame);
  frame.reserveMemory(rowBytes * (isListValue(value) ? 1 + value.length : 1));
  frame.tick(1);
  const held = slots.length === 0 ? none : slots.map((slot) => frame.slots[slot]!);
  if (known !== undefined) Object.assign(known, { value, writes: frame.writes, slots, held });
  else remember(frame, item, { key, value, writes: frame.writes, slots, held, next: undefined });
  return value;
}

function namedOf(frame: Frame, item: object): NamedValue | undefined {
  return item instanceof Element ? item.named : memories.get(frame)?.get(item);
}

/** Adds a value to those of its item, which its computation may have changed. */
function remember(frame: Frame, item: object, named: NamedValue): void {
  named.next = namedOf(frame, item);
  if (item instanceof Element) {
    item.named = named;
    return;
  }
  let memory = memories.get(frame);
  if (memory === undefined) memories.set(frame, (memory = new WeakMap()));
  memory.set(item, named);
}

function isValid(frame: Frame, known: NamedValue, around: readonly number[]): boolean {
  const { slots, held, writes } = known;
  if (writes !== frame.writes || slots.length !== around.length) return false;
  return slots.every((slot, i) => slot === around[i] && frame.slots[slot] === held[i]);
}
