// Finds the free slots of an expression: those it reads but does not fill.
import type { Expression } from '../expression.js';

interface Slots {
  read: ReadonlySet<number>;
  /** Slots that binders inside the expression fill. */
  filled: ReadonlySet<number>;
}

const none: Slots = { read: new Set(), filled: new Set() };

/**
 * Caches results by object. Parts of plans are shared, so a small plan may be exponentially large
 * when expanded.
 */
const known = new WeakMap<object, Slots>();

/** Returns the slots that an expression reads without filling them, in ascending order. */
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
