// Conditions (helixql.md 3.7): WHERE, PREFILTER, and what counts as a Boolean.
import type { Expression } from '../../plan/expression.js';
import { argument } from './call-argument.js';
import type { Expr } from '../syntax/ast-expression.js';
import type { Context, StepChecker } from '../type/context.js';
import { slotTerm } from '../type/new-term.js';
import { innerScope, type Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import { append, rowsOf } from '../type/stream.js';
import type { Term } from '../type/term.js';
import { printItemType } from '../type/type-print.js';
import { isBasic } from '../type/type.js';

/**
 * A Boolean; of a stream of Booleans, whether any is true. Undefined after a report with `code`.
 */
export function booleanOf(
  context: Context,
  written: Expr,
  scope: Scope,
  code: 'E306' | 'E659',
): Expression | undefined {
  const term = bare(context, context.check(written, scope));
  if (isBasic(term.type, 'Boolean')) return anyTrue(term);
  const isStream = term.type.kind === 'element';
  const hint = isStream ? 'Ask `EXISTS(…)`.' : 'Add a comparison, such as `::EQ(…)`.';
  const message = `A condition is needed here, not ${printItemType(term.type)}.`;
  context.report(code, written.span, message, hint);
  return undefined;
}

function anyTrue(term: Term): Expression {
  const { expression: left } = term;
  if (term.cardinality === 'one' || term.cardinality === 'opt') return left;
  const right: Expression = { kind: 'literal', value: true };
  return { kind: 'compare', operator: 'EQ', left, right, any: true, f32: false };
}

export const checkWhere: StepChecker = (context, input, call, scope) => {
  const from = rowsOf(input);
  const written = argument(context, call, 'WHERE(condition)');
  if (written === undefined) return from;
  const slot = context.fresh();
  const item = { ...itemOf(from), ...slotTerm(slot, from.type) };
  const inner = innerScope(scope, { item, miss: 'none' });
  const value = booleanOf(context, written, inner, 'E659');
  if (value === undefined) return from;
  const { shape, type } = from;
  const single = from.cardinality === 'one' || from.cardinality === 'opt';
  const change = { type, cardinality: single ? 'opt' : 'many', ...(shape && { shape }) } as const;
  const condition = { slot, value };
  return append(from, { kind: 'where', condition }, change);
};

/**
 * One item of a stream as `_` sees it: its type and shape, nothing of how the stream came to be.
 */
export function itemOf(term: Term): Term {
  const { type, expression, shape } = term;
  return { type, expression, cardinality: 'one', ...(shape && { shape }) };
}

export const checkPrefilter: StepChecker = (context, input, call, scope) => {
  const { expression } = input;
  const written = argument(context, call, 'PREFILTER(condition)');
  const source = expression.kind === 'pipeline' ? expression.source : undefined;
  const isSearch = source?.kind === 'searchVector' || source?.kind === 'searchText';
  const direct = isSearch && expression.kind === 'pipeline' && expression.steps.length === 0;
  if (!direct || !input.growing || source.prefilter !== undefined || input.shape !== undefined) {
    const message = '`PREFILTER` stands directly after `SearchV<…>(…)` or `SearchBM25<…>(…)`.';
    context.report('E706', call.name.span, message, 'Use `WHERE` here.');
    return input;
  }
  if (written === undefined) return input;
  const slot = context.fresh();
  const item = slotTerm(slot, input.type);
  const value = booleanOf(context, written, innerScope(scope, { item, miss: 'none' }), 'E659');
  if (value !== undefined) source.prefilter = { slot, value };
  return input;
};
