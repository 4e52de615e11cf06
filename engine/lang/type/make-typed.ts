// Creates typed expressions: scalars, slots, values of a type, and the replacement for invalid expressions.
import type { Expression } from '../../plan/expression.js';
import type { Cardinality, TypedExpr } from './typed-expression.js';
import { type Basic, type ItemType, scalarType, unknownType } from './type.js';

export function scalarExpr(name: Basic, expression: Expression): TypedExpr {
  return { type: scalarType(name), cardinality: 'one', expression };
}

/** Replaces an invalid expression. It fits every type, so that one error is reported once. */
export function unknownExpr(): TypedExpr {
  return { type: unknownType, cardinality: 'one', expression: { kind: 'literal', value: null } };
}

export function slotExpr(
  slot: number,
  type: ItemType,
  cardinality: Cardinality = 'one',
): TypedExpr {
  return { type, cardinality, expression: { kind: 'slot', slot } };
}

/** Returns a value of this type: lists of elements or records are streams, lists of scalars are values. */
export function valueExpr(type: ItemType, expression: Expression): TypedExpr {
  const isStream = type.kind === 'list' && type.of.kind !== 'scalar' && type.of.kind !== 'list';
  if (!isStream) return { type, cardinality: 'one', expression };
  return { type: type.of, cardinality: 'many', expression };
}
