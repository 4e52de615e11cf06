// A condition that asks of one item after another what a walk from it leads to, beside the walk back from
// where that has to end: whether the item is among what is met there. The executor asks as it is written
// until so much was spent on it that the walk back may be cheaper, and from then on looks into what that
// has met. Only in plans that do not write, like all that is asked once.
import { type Part, rewriter } from '../rewrite.js';
import type { Expression, Step } from '../expression.js';
import type { TypeRef } from '../../base/schema.js';
import { chooseAccess } from './choose-access.js';
import type { Planning } from './planner-context.js';
import { reachedPath } from './reverse-traversal.js';
import { freeSlots } from './free-slots.js';

/** `bound`: slots of variables; what is asked of those is not asked again and again. */
export function planSemiJoins<T>(planning: Planning, value: T, bound: ReadonlySet<number>): T {
  const choose = (far: TypeRef, steps: readonly Step[]) => chooseAccess(planning, far, steps);
  return rewriter((part: Part): Part => {
    if (part.kind !== 'exists' && part.kind !== 'compare') return part;
    const slot = startOf(part.kind === 'exists' ? part.of : part.left);
    if (slot === undefined || bound.has(slot)) return part;
    if (part.kind === 'compare' && freeSlots(part.right).includes(slot)) return part;
    const path = reachedPath(planning, undefined, slot, part, choose);
    return path === undefined
      ? part
      : { kind: 'among', of: part, item: { kind: 'slot', slot }, path };
  })(value);
}

/** The slot whose element a walk begins at. */
function startOf(asked: Expression): number | undefined {
  if (asked.kind === 'property') return startOf(asked.of);
  if (asked.kind !== 'pipeline' || asked.source.kind !== 'value') return undefined;
  const { of } = asked.source;
  return of.kind === 'slot' ? of.slot : undefined;
}
