// Conditions that stand side by side.
import type { Expression } from '../expression.js';
import { cannotThrow, type Parameters } from '../can-throw.js';
import { freeSlots } from './free-slots.js';

/** What all of has to be true for the condition to be. */
export const conjunctsOf = (value: Expression): readonly Expression[] =>
  value.kind === 'and' ? value.of.flatMap(conjunctsOf) : [value];

/** All of some conditions, or any of them, as one. */
export const oneOf = (kind: 'and' | 'or', of: readonly Expression[]): Expression =>
  of.length === 1 ? of[0]! : { kind, of: [...of] };

/**
 * Whether a condition on the item in the slot fails for no item, or for whichever is the first that it is
 * asked of: what passes has been compared with every operand, so that it may be asked of few, in any order.
 */
export function failsOnFirstRow(value: Expression, slot: number, parameters: Parameters): boolean {
  return conjunctsOf(value).every((each) => {
    if (cannotThrow(each, parameters)) return true;
    if (each.kind !== 'compare' || !cannotThrow(each.left, parameters)) return false;
    return !freeSlots(each.right).includes(slot);
  });
}
