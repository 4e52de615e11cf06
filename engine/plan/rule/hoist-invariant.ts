// What a comparison asks of every item without depending on it: `_::ID::IS_IN(xs::ID)` would make
// its list anew for each. Such an operand is evaluated when it is first needed, and again only when
// a slot it reads has been filled anew, so that it yields and fails as before. Only in plans that do
// not write: in those the same slots mean the same value.
import type { Expression } from '../expression.js';
import { rewriter } from '../rewrite.js';
import { freeSlots } from './free-slots.js';

type Compare = Extract<Expression, { kind: 'compare' }>;

/**
 * `bound`: slots of variables, which stay as they are while items come and go; so an operand that
 * reads an item is not fixed for reading no variable.
 */
export function hoistInvariants<T>(value: T, bound: ReadonlySet<number>): T {
  const rewrite = rewriter((part) => (part.kind === 'compare' ? operandsOnce(part, bound) : part));
  return rewrite(value);
}

/** Cheaper to evaluate than to remember. */
const ready = new Set<Expression['kind']>(['literal', 'parameter', 'slot', 'now', 'once']);

function operandsOnce(compare: Compare, bound: ReadonlySet<number>): Compare {
  const { left, right } = compare;
  const [of, by] = [freeSlots(left), freeSlots(right)];
  if (isFixedBeside(right, by, of, bound)) {
    return { ...compare, right: { kind: 'once', of: right, slots: by } };
  }
  if (!compare.any && isFixedBeside(left, of, by, bound)) {
    return { ...compare, left: { kind: 'once', of: left, slots: of } };
  }
  return compare;
}

/** Whether it stays as it is while the other operand goes from item to item. */
const isFixedBeside = (
  operand: Expression,
  own: readonly number[],
  other: readonly number[],
  bound: ReadonlySet<number>,
): boolean =>
  !ready.has(operand.kind) && other.some((slot) => !own.includes(slot) && !bound.has(slot));
