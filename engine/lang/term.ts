// A term: what the checker knows of an expression together with the plan expression that computes it. Owns the
// growing of pipelines and the reading of a term as a stream, as one value, or as a list.
import type { Expression, Pipeline } from '../plan/expression.js';
import type { Source, Step } from '../plan/step.js';
import type { LiteralValue } from './ast.js';
import type { Span } from './source.js';
import { type Basic, type ItemType, scalarType, unknownType } from './type.js';

/** helixql.md 4.1. `lookup` is a list that stands for its only item where one value is needed. */
export type Cardinality = 'one' | 'opt' | 'many' | 'lookup';

export interface Term {
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
  items?: Term[];
  /** Computable from the parameters alone, so before the transaction. */
  known?: boolean;
  /** A selection by a unique property, which has failed already if there was none. */
  uniqueLookup?: boolean;
  /** Index of the parameter that this is. */
  parameter?: number;
}

/** An output shape: members over the item in `slot`. It is never a step; it is applied where values leave. */
export interface Shape {
  slot: number;
  form: 'projection' | 'closure' | 'exclusion';
  members: ShapeMember[];
  span: Span;
}

export type ShapeMember =
  | { kind: 'value'; name: string; term: Term }
  | { kind: 'spread'; except: string[] };

export function scalarTerm(name: Basic, expression: Expression): Term {
  return { type: scalarType(name), cardinality: 'one', expression };
}

/** Stands for a faulty expression: goes with everything, so that one fault is reported once. */
export function unknownTerm(): Term {
  return { type: unknownType, cardinality: 'one', expression: { kind: 'literal', value: null } };
}

export function slotTerm(slot: number, type: ItemType, cardinality: Cardinality = 'one'): Term {
  return { type, cardinality, expression: { kind: 'slot', slot } };
}

export function isList(term: Term): boolean {
  return term.cardinality === 'many' || term.cardinality === 'lookup';
}

/** The type of the whole value: lists included. */
export function wholeType(term: Term): ItemType {
  return isList(term) ? { kind: 'list', of: term.type } : term.type;
}

/** A value of this type: lists of elements or records are streams, lists of scalars are values. */
export function valueTerm(type: ItemType, expression: Expression): Term {
  const isStream = type.kind === 'list' && type.of.kind !== 'scalar' && type.of.kind !== 'list';
  if (!isStream) return { type, cardinality: 'one', expression };
  return { type: type.of, cardinality: 'many', expression };
}

const resultOf = (cardinality: Cardinality): Pipeline['result'] =>
  cardinality === 'one' || cardinality === 'opt' ? cardinality : 'many';

export function sourceTerm(source: Source, type: ItemType, cardinality: Cardinality): Term {
  const result = resultOf(cardinality);
  const expression: Pipeline = { kind: 'pipeline', source, steps: [], result };
  return { type, cardinality, expression, growing: true };
}

/** The term as rows: a list of scalars that is one value opens into its items. */
export function rowsOf(term: Term): Term {
  if (isList(term) || term.type.kind !== 'list') return term;
  const { type, expression } = term;
  // The row of a pipeline is the list itself, so that a further step needs a source that opens it.
  if (expression.kind === 'pipeline') {
    return sourceTerm({ kind: 'value', of: expression }, type.of, 'many');
  }
  return { type: type.of, cardinality: 'many', expression };
}

/** What a step makes of the rows before it; `shape` is kept only when named. */
export type Change = Pick<Term, 'type' | 'cardinality' | 'shape'>;

/** Adds a step. `input` must not be used afterwards while it is growing. */
export function append(input: Term, step: Step, change: Change): Term {
  return { ...change, expression: grow(input, step, change.cardinality), growing: true };
}

function grow(input: Term, step: Step, cardinality: Cardinality): Pipeline {
  const { expression } = input;
  const result = resultOf(cardinality);
  if (expression.kind !== 'pipeline') {
    const source: Source = { kind: 'value', of: expression };
    return { kind: 'pipeline', source, steps: [step], result };
  }
  if (!input.growing) return { ...expression, steps: [...expression.steps, step], result };
  expression.steps.push(step);
  expression.result = result;
  return expression;
}

/** The cardinality after a step that keeps it: a lookup becomes a plain list. */
export function sameCardinality(term: Term): Cardinality {
  return term.cardinality === 'lookup' ? 'many' : term.cardinality;
}
