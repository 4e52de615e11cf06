// Terms as streams of rows: sources, lists opened into rows, and the growing of pipelines.
import type { Pipeline, Source, Step } from '../../plan/expression.js';
import { type Cardinality, isList, type TypedExpr } from './typed-expression.js';
import type { ItemType } from './type.js';

const resultOf = (cardinality: Cardinality): Pipeline['result'] =>
  cardinality === 'one' || cardinality === 'opt' ? cardinality : 'many';

export function sourceTerm(source: Source, type: ItemType, cardinality: Cardinality): TypedExpr {
  const result = resultOf(cardinality);
  const expression: Pipeline = { kind: 'pipeline', source, steps: [], result };
  return { type, cardinality, expression, growing: true };
}

/** The term as rows: a list of scalars that is one value opens into its items. */
export function rowsOf(term: TypedExpr): TypedExpr {
  if (isList(term) || term.type.kind !== 'list') return term;
  const { type, expression } = term;
  // The row of a pipeline is the list itself, so that a further step needs a source that opens it.
  if (expression.kind === 'pipeline') {
    return sourceTerm({ kind: 'value', of: expression }, type.of, 'many');
  }
  return { type: type.of, cardinality: 'many', expression };
}

/** What a step makes of the rows before it; `shape` is kept only when named. */
export type Change = Pick<TypedExpr, 'type' | 'cardinality' | 'shape'>;

/** Adds a step. `input` must not be used afterwards while it is growing. */
export function append(input: TypedExpr, step: Step, change: Change): TypedExpr {
  return { ...change, expression: grow(input, step, change.cardinality), growing: true };
}

function grow(input: TypedExpr, step: Step, cardinality: Cardinality): Pipeline {
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
