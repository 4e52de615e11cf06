// A typed expression: the checker's information about an expression, together with the plan expression that
// computes it.
import type { Expression } from '../../plan/expression.js';
import type { LiteralValue } from '../syntax/ast-literal.js';
import type { Span } from '../syntax/source-file.js';
import type { ItemType } from './type.js';

/** `lookup` is a list that stands for its only item where one value is needed. */
export type Cardinality = 'one' | 'opt' | 'many' | 'lookup';

export interface TypedExpr {
  /** Type of each item if the cardinality is `many` or `lookup`, otherwise of the value. */
  type: ItemType;
  cardinality: Cardinality;
  /** Yields the list of items, or the value. */
  expression: Expression;
  /** The attached projection; `expression` yields the unshaped items. */
  shape?: Shape;
  /** The pipeline in `expression` belongs to the chain being checked and may be extended in place. */
  growing?: boolean;
  literal?: LiteralValue;
  /** Items of an array literal. */
  items?: TypedExpr[];
  /** True if the parameters alone determine the value, so that it can be computed before the transaction. */
  known?: boolean;
  /** A selection by a unique property. It has failed before if there was no element. */
  uniqueLookup?: boolean;
  /** Index of the parameter that the expression reads. */
  parameter?: number;
}

/**
 * An output shape: members over the item in `slot`. It is not a step; it is applied where values leave the
 * query.
 */
export interface Shape {
  slot: number;
  form: 'projection' | 'closure' | 'exclusion';
  members: ShapeMember[];
  span: Span;
  /** The shape of the items of groups: a step that drops it loses nothing. */
  isKey?: true;
}

export type ShapeMember =
  | { kind: 'value'; name: string; typed: TypedExpr }
  /** Not printed: a name for later members and later steps. */
  | { kind: 'hidden'; name: string; typed: TypedExpr }
  | { kind: 'spread'; except: string[] };

export function isList(typed: TypedExpr): boolean {
  return typed.cardinality === 'many' || typed.cardinality === 'lookup';
}

/** Returns the type of the whole value, including lists. */
export function wholeType(typed: TypedExpr): ItemType {
  return isList(typed) ? { kind: 'list', of: typed.type } : typed.type;
}

/** Returns the cardinality after a step that preserves it: a lookup becomes a plain list. */
export function sameCardinality(typed: TypedExpr): Cardinality {
  return typed.cardinality === 'lookup' ? 'many' : typed.cardinality;
}
