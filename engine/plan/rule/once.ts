// What a comparison asks of every item without depending on it: `_::ID::IS_IN(xs::ID)` would make
// its list anew for each. Such an operand is evaluated when it is first needed, and again only when
// a slot it reads has been filled anew, so that it yields and fails as before. Only in plans that do
// not write: in those the same slots mean the same value.
import type { Expression } from '../expression.js';
import { rewriter } from '../rewrite.js';
import { slotsOf } from './slots.js';

type Compare = Extract<Expression, { kind: 'compare' }>;

export const evaluateOnce: <T>(value: T) => T = rewriter((part) =>
  part.kind === 'compare' ? operandsOnce(part) : part,
);

/** Cheaper to evaluate than to remember. */
const ready = new Set<Expression['kind']>(['literal', 'parameter', 'slot', 'now', 'once']);

function operandsOnce(compare: Compare): Compare {
  const { left, right } = compare;
  const [of, by] = [slotsOf(left), slotsOf(right)];
  if (isFixedBeside(right, by, of)) {
    return { ...compare, right: { kind: 'once', of: right, slots: by } };
  }
  if (!compare.any && isFixedBeside(left, of, by)) {
    return { ...compare, left: { kind: 'once', of: left, slots: of } };
  }
  return compare;
}

/** Whether it stays as it is while the other operand goes from item to item. */
const isFixedBeside = (
  operand: Expression,
  own: readonly number[],
  other: readonly number[],
): boolean => !ready.has(operand.kind) && other.some((slot) => !own.includes(slot));
