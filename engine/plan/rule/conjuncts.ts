// Splits and joins conditions that are combined by AND or OR.
import type { Expression } from '../expression.js';
import { cannotThrow, type Parameters } from '../can-throw.js';
import { freeSlots } from './free-slots.js';

/** Returns the conditions that must all be true for the condition to be true. */
export const splitConjuncts = (value: Expression): readonly Expression[] =>
  value.kind === 'and' ? value.of.flatMap(splitConjuncts) : [value];

/** Joins conditions into one by AND or OR. */
export const joinConditions = (kind: 'and' | 'or', of: readonly Expression[]): Expression =>
  of.length === 1 ? of[0]! : { kind, of: [...of] };

/**
 * Returns true if a condition on the item in the slot either fails for no item or fails for the
 * first item tested. An item that passes was compared with every operand, so the condition may be
 * tested on few items and in any order.
 */
export function failsOnFirstRow(value: Expression, slot: number, parameters: Parameters): boolean {
  return splitConjuncts(value).every((each) => {
    if (cannotThrow(each, parameters)) return true;
    if (each.kind !== 'compare' || !cannotThrow(each.left, parameters)) return false;
    return !freeSlots(each.right).includes(slot);
  });
}
