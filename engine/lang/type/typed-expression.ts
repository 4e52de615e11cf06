// A term: what the checker knows of an expression, together with the plan expression that computes
// it.
import type { Expression } from '../../plan/expression.js';
import type { LiteralValue } from '../syntax/ast-literal.js';
import type { Span } from '../syntax/source.js';
import type { ItemType } from './type.js';

/** helixql.md 4.1. `lookup` is a list that stands for its only item where one value is needed. */
export type Cardinality = 'one' | 'opt' | 'many' | 'lookup';

export interface TypedExpr {
  /** Of each item when the cardinality is `many` or `lookup`, else of the value. */
  type: ItemType;
  cardinality: Cardinality;
  /** Yields the list of items, or the value. */
  expression: Expression;
  /** The projection attached; `expression` yields the unshaped items. */
  shape?: Shape;
  /** The pipeline in `expression` belongs to the chain being read and may be extended in place. */
  growing?: boolean;
  literal?: LiteralValue;
  /** Items of an array literal. */
  items?: TypedExpr[];
  /** Computable from the parameters alone, so before the transaction. */
  known?: boolean;
  /** A selection by a unique property, which has failed already if there was none. */
  uniqueLookup?: boolean;
  /** Index of the parameter that this is. */
  parameter?: number;
}

/**
 * An output shape: members over the item in `slot`. It is never a step; it is applied where values
 * leave.
 */
export interface Shape {
  slot: number;
  form: 'projection' | 'closure' | 'exclusion';
  members: ShapeMember[];
  span: Span;
  /** Of items of groups, which needed it: a step that leaves it behind loses nothing. */
  isKey?: true;
}

export type ShapeMember =
  | { kind: 'value'; name: string; term: TypedExpr }
  /** Not printed: a name for the members behind it and for later steps. */
  | { kind: 'hidden'; name: string; term: TypedExpr }
  | { kind: 'spread'; except: string[] };

export function isList(term: TypedExpr): boolean {
  return term.cardinality === 'many' || term.cardinality === 'lookup';
}

/** The type of the whole value: lists included. */
export function wholeType(term: TypedExpr): ItemType {
  return isList(term) ? { kind: 'list', of: term.type } : term.type;
}

/** The cardinality after a step that keeps it: a lookup becomes a plain list. */
export function sameCardinality(term: TypedExpr): Cardinality {
  return term.cardinality === 'lookup' ? 'many' : term.cardinality;
}
