// The paths that the index of a property gives: under a value, between bounds of the property, and
// between those that its beginning, its year or the unit of time it lies in give it.
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
  // Rounding both sides to 32 bits is what an F32's own index does, and no other.
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

/** The path of a condition on a part of a property; `ownProperty` knows the indexed ones. */
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

/** Functions that rise with their date: of the year, of the beginning of a unit of time. */
export function datePart(left: Expression): { of: Expression; part: string } | undefined {
  if (left.kind !== 'date') return undefined;
  const [of, unit] = left.of;
  if (left.function === 'YEAR') return { of: of!, part: 'YEAR' };
  if (left.function !== 'TRUNC' || unit?.kind !== 'literal') return undefined;
  const { value } = unit;
  return typeof value === 'string' && isUnit(value) ? { of: of!, part: value } : undefined;
}
