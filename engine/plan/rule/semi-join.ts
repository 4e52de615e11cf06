// Adds a semi-join to a condition that each item tests by a traversal. The reverse traversal from the far end
// builds a set of elements, in which each item is looked up. The executor evaluates the condition as written
// until it has cost as much as the reverse traversal may cost, then builds the set and uses it. Applies only
// to plans without writes.
import { type Part, rewriter } from '../rewrite.js';
import type { Expression, Step } from '../expression.js';
import type { TypeRef } from '../../base/schema.js';
import { chooseAccess } from './choose-access.js';
import type { Planning } from './planner-context.js';
import { reachedPath } from './reverse-traversal.js';
import { freeSlots } from './free-slots.js';

/**
 * `bound` lists the slots of variables. A condition that reads only those is not evaluated once per
 * item.
 */
export function planSemiJoins<T>(planning: Planning, value: T, bound: ReadonlySet<number>): T {
  const choose = (far: TypeRef, steps: readonly Step[]) => chooseAccess(planning, far, steps);
  return rewriter((part: Part): Part => {
    if (part.kind !== 'exists' && part.kind !== 'compare') return part;
    const slot = findStart(part.kind === 'exists' ? part.of : part.left);
    if (slot === undefined || bound.has(slot)) return part;
    if (part.kind === 'compare' && freeSlots(part.right).includes(slot)) return part;
    const path = reachedPath(planning, undefined, slot, part, choose);
    return path === undefined
      ? part
      : { kind: 'semiJoin', of: part, item: { kind: 'slot', slot }, path };
  })(value);
}

/** Returns the slot of the element that a traversal begins at. */
function findStart(operand: Expression): number | undefined {
  if (operand.kind === 'property') return findStart(operand.of);
  if (operand.kind !== 'pipeline' || operand.source.kind !== 'value') return undefined;
  const { of } = operand.source;
  return of.kind === 'slot' ? of.slot : undefined;
}
