// Which slots an expression reads of those that were filled around it.
import type { Expression } from '../expression.js';

interface Slots {
  read: ReadonlySet<number>;
  /** By binders inside: whatever names a slot and is not the reading of it. */
  filled: ReadonlySet<number>;
}

const none: Slots = { read: new Set(), filled: new Set() };

/** Plans share parts, so that a plan of a few lines may be endless when it is written out. */
const known = new WeakMap<object, Slots>();

/** The slots that an expression reads without filling them itself, ascending. */
export function freeSlots(expression: Expression): number[] {
  const { read, filled } = slotsIn(expression);
  return [...read].filter((slot) => !filled.has(slot)).sort((a, b) => a - b);
}

function slotsIn(part: unknown): Slots {
  if (typeof part !== 'object' || part === null) return none;
  const { kind, slot } = part as { kind?: string; slot?: unknown };
  if (kind === 'literal') return none;
  const before = known.get(part);
  if (before !== undefined) return before;
  const read = new Set<number>();
  const filled = new Set<number>();
  if (typeof slot === 'number') (kind === 'slot' || kind === 'test' ? read : filled).add(slot);
  for (const inner of Object.values(part)) {
    const found = slotsIn(inner);
    for (const each of found.read) read.add(each);
    for (const each of found.filled) filled.add(each);
  }
  const slots = { read, filled };
  known.set(part, slots);
  return slots;
}
