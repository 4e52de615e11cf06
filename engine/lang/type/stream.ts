// Typed expressions as streams of rows: sources, lists expanded into rows, and appending to pipelines.
import type { Pipeline, Source, Step } from '../../plan/expression.js';
import { type Cardinality, isList, type TypedExpr } from './typed-expression.js';
import type { ItemType } from './type.js';

const pipelineResult = (cardinality: Cardinality): Pipeline['result'] =>
  cardinality === 'one' || cardinality === 'opt' ? cardinality : 'many';

export function sourceExpr(source: Source, type: ItemType, cardinality: Cardinality): TypedExpr {
  const result = pipelineResult(cardinality);
  const expression: Pipeline = { kind: 'pipeline', source, steps: [], result };
  return { type, cardinality, expression, growing: true };
}

/** Returns the expression as rows: a list of scalars that is one value is expanded into its items. */
export function toRows(typed: TypedExpr): TypedExpr {
  if (isList(typed) || typed.type.kind !== 'list') return typed;
  const { type, expression } = typed;
  // The row of this pipeline is the list, so a source must expand it before the next step.
  if (expression.kind === 'pipeline') {
    return sourceExpr({ kind: 'value', of: expression }, type.of, 'many');
  }
  return { type: type.of, cardinality: 'many', expression };
}

/** The effect of a step on its input rows; the shape is dropped unless given. */
export type Change = Pick<TypedExpr, 'type' | 'cardinality' | 'shape'>;

/** Appends a step. `input` must not be used afterwards if its pipeline is extended in place. */
export function append(input: TypedExpr, step: Step, change: Change): TypedExpr {
  return { ...change, expression: grow(input, step, change.cardinality), growing: true };
}

function grow(input: TypedExpr, step: Step, cardinality: Cardinality): Pipeline {
  const { expression } = input;
  const result = pipelineResult(cardinality);
  if (expression.kind !== 'pipeline') {
    const source: Source = { kind: 'value', of: expression };
    return { kind: 'pipeline', source, steps: [step], result };
  }
  if (!input.growing) return { ...expression, steps: [...expression.steps, step], result };
  expression.steps.push(step);
  expression.result = result;
  return expression;
}
