// Rewrites conditions as alternatives, each of which may have its own access path. Alternatives are the
// operands of an OR, the branches of an IF, the values of a COALESCE, and a count compared with at least one.
import type { Expression } from '../expression.js';
import { joinConditions } from './conjuncts.js';

type Compare = Extract<Expression, { kind: 'compare' }>;

/** At least one of `of` is true if the condition is true. `exact`: the converse also holds. */
export interface Alternatives {
  of: readonly Expression[];
  exact: boolean;
}

export function findAlternatives(condition: Expression): Alternatives | undefined {
  switch (condition.kind) {
    case 'or':
      return { of: condition.of, exact: true };
    case 'if':
      return { of: branches(condition, (value) => value), exact: true };
    case 'coalesce':
      return { of: condition.of, exact: false };
    case 'compare':
      return condition.any ? undefined : compareAlternatives(condition);
    default:
      return undefined;
  }
}

function compareAlternatives(condition: Compare): Alternatives | undefined {
  const { left } = condition;
  const compared = (value: Expression): Expression => ({ ...condition, left: value });
  if (left.kind === 'if') return { of: branches(left, compared), exact: true };
  if (left.kind === 'coalesce') return { of: left.of.map(compared), exact: false };
  return left.kind === 'pipeline' ? countAlternatives(condition) : undefined;
}

function branches(
  { condition, value, otherwise }: Extract<Expression, { kind: 'if' }>,
  of: (value: Expression) => Expression,
): Expression[] {
  return [
    joinConditions('and', [condition, of(value)]),
    joinConditions('and', [{ kind: 'not', of: condition }, of(otherwise)]),
  ];
}

/** Smallest number for which the comparison implies at least one row. */
const asksAnyFrom = new Map<string, number>([
  ['GT', 0],
  ['GTE', 1],
  ['EQ', 1],
]);

/** Returns the alternatives of a comparison with a count that implies at least one row. */
function countAlternatives({ operator, left, right }: Compare): Alternatives | undefined {
  if (left.kind !== 'pipeline' || left.steps.at(-1)?.kind !== 'count') return undefined;
  const from = asksAnyFrom.get(operator);
  if (from === undefined) return undefined;
  const any: Expression = {
    kind: 'exists',
    of: { ...left, steps: left.steps.slice(0, -1), result: 'many' },
  };
  if (right.kind === 'literal') {
    const { value } = right;
    const isNumber = typeof value === 'number' || typeof value === 'bigint';
    return isNumber && value >= from ? { of: [any], exact: false } : undefined;
  }
  const minimum: Expression = { kind: 'literal', value: from };
  const isAny: Expression = {
    kind: 'compare',
    operator: 'GTE',
    left: right,
    right: minimum,
    any: false,
    f32: false,
  };
  return { of: [any, { kind: 'not', of: isAny }], exact: false };
}
