// Access paths of a property index: for a value, for bounds on the property, and for bounds derived
// from its prefix, its year or the time unit that contains it.
import { isUnit } from '../../base/calendar.js';
import type { Property } from '../../base/schema.js';
import type { AccessPath, Bound, CompareOperator, Expression } from '../expression.js';

type Compare = Extract<Expression, { kind: 'compare' }>;

const bounds: Partial<Record<CompareOperator, { end: 'low' | 'high'; inclusive: boolean }>> = {
  GT: { end: 'low', inclusive: false },
  GTE: { end: 'low', inclusive: true },
  LT: { end: 'high', inclusive: false },
  LTE: { end: 'high', inclusive: true },
};

export const isBound = (operator: CompareOperator): boolean => bounds[operator] !== undefined;

export function indexPath(
  property: Property,
  { right: value, f32 }: Compare,
  operator: CompareOperator,
): AccessPath | undefined {
  // Only the index of an F32 property rounds both sides to 32 bits.
  if (f32 && !isSingle(property)) return undefined;
  const { name } = property;
  const bound = bounds[operator];
  if (bound === undefined) {
    const unique = property.index === 'unique';
    return { kind: 'equal', property: name, value, list: operator === 'IS_IN', unique };
  }
  if (property.type.kind !== 'scalar') return undefined;
  return { kind: 'between', property: name, [bound.end]: { value, inclusive: bound.inclusive } };
}

const isSingle = ({ type }: Property): boolean => {
  let of = type;
  while (of.kind === 'list') of = of.of;
  return of.name === 'F32';
};

/**
 * Returns the path of a condition on a part of a property; `ownProperty` finds the indexed
 * properties.
 */
export function partPath(
  { operator, left, right: value, any, f32 }: Compare,
  ownProperty: (expression: Expression) => Property | undefined,
): AccessPath | undefined {
  if (any || f32) return undefined;
  const found = operator === 'STARTS_WITH' ? { of: left, part: 'beginning' } : datePart(left);
  const property = found && ownProperty(found.of);
  if (found === undefined || property?.type.kind !== 'scalar') return undefined;
  const { name, type } = property;
  if (type.name !== (operator === 'STARTS_WITH' ? 'String' : 'Date')) return undefined;
  const { part } = found;
  const bound = bounds[operator];
  if (bound !== undefined) {
    const one: Bound = { value, inclusive: bound.inclusive, part };
    return { kind: 'between', property: name, [bound.end]: one };
  }
  if (operator !== 'EQ' && operator !== 'STARTS_WITH') return undefined;
  const both: Bound = { value, inclusive: true, part };
  return { kind: 'between', property: name, low: both, high: both };
}

/**
 * Returns the part of a date if the function is monotonic: the year, or the start of a time unit.
 */
export function datePart(left: Expression): { of: Expression; part: string } | undefined {
  if (left.kind !== 'date') return undefined;
  const [of, unit] = left.of;
  if (left.function === 'YEAR') return { of: of!, part: 'YEAR' };
  if (left.function !== 'TRUNC' || unit?.kind !== 'literal') return undefined;
  const { value } = unit;
  return typeof value === 'string' && isUnit(value) ? { of: of!, part: value } : undefined;
}
