// Hoists operands of comparisons that do not depend on the item: `_::ID::IS_IN(xs::ID)` would build
// its list again for each item. A hoisted operand is evaluated on first use, and again after a slot
// that it reads was refilled, so results and failures do not change. Applies only to plans without
// writes, in which equal slots mean equal values.
import type { Expression } from '../expression.js';
import { rewriter } from '../rewrite.js';
import { freeSlots } from './free-slots.js';

type Compare = Extract<Expression, { kind: 'compare' }>;

/**
 * `bound` lists the slots of variables, which do not change from item to item. An operand that
 * reads any other slot may depend on the item.
 */
export function hoistInvariants<T>(value: T, bound: ReadonlySet<number>): T {
  const rewrite = rewriter((part) => (part.kind === 'compare' ? operandsOnce(part, bound) : part));
  return rewrite(value);
}

/** Kinds that cost less to evaluate than to store. */
const ready = new Set<Expression['kind']>(['literal', 'parameter', 'slot', 'now', 'hoisted']);

function operandsOnce(compare: Compare, bound: ReadonlySet<number>): Compare {
  const { left, right } = compare;
  const [of, by] = [freeSlots(left), freeSlots(right)];
  if (isInvariantWith(right, by, of, bound)) {
    return { ...compare, right: { kind: 'hoisted', of: right, slots: by } };
  }
  if (!compare.any && isInvariantWith(left, of, by, bound)) {
    return { ...compare, left: { kind: 'hoisted', of: left, slots: of } };
  }
  return compare;
}

/** Returns true if the value does not change while the other operand varies from item to item. */
const isInvariantWith = (
  operand: Expression,
  own: readonly number[],
  other: readonly number[],
  bound: ReadonlySet<number>,
): boolean =>
  !ready.has(operand.kind) && other.some((slot) => !own.includes(slot) && !bound.has(slot));
