// Checks conditions: WHERE, PREFILTER, and which values count as a Boolean.
import type { TypeRef } from '../../base/schema.js';
import type { Expression, ItemExpression, Source } from '../../plan/expression.js';
import { argument } from '../argument/call-argument.js';
import type { Expr } from '../syntax/ast-expression.js';
import type { Context, StepChecker } from '../type/context.js';
import { slotExpr } from '../type/make-typed.js';
import { innerScope, type Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import { append, toRows } from '../type/stream.js';
import { substitute } from '../type/substitute.js';
import type { TypedExpr } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isBasic, type ItemType } from '../type/type.js';

/** Returns a Boolean; for a stream of Booleans, whether any is true. Undefined after a report with `code`. */
export function toBoolean(
  context: Context,
  written: Expr,
  scope: Scope,
  code: 'E306' | 'E659',
): Expression | undefined {
  const typed = bare(context, context.check(written, scope));
  if (isBasic(typed.type, 'Boolean')) return anyTrue(typed);
  const isStream = typed.type.kind === 'element';
  const hint = isStream ? 'Ask `EXISTS(…)`.' : 'Add a comparison, such as `::EQ(…)`.';
  const message = `A condition is needed here, not ${printItemType(typed.type)}.`;
  context.report(code, written.span, message, hint);
  return undefined;
}

function anyTrue(typed: TypedExpr): Expression {
  const { expression: left } = typed;
  if (typed.cardinality === 'one' || typed.cardinality === 'opt') return left;
  const right: Expression = { kind: 'literal', value: true };
  return { kind: 'compare', operator: 'EQ', left, right, any: true, f32: false };
}

export const checkWhere: StepChecker = (context, input, call, scope) => {
  const from = toRows(input);
  const isSeveral = (call.args ?? []).length > 1;
  const form = isSeveral ? 'WHERE(AND(a, b))' : 'WHERE(condition)';
  const written = argument(context, call, form);
  if (written === undefined) return from;
  const slot = context.fresh();
  const item = { ...toItem(from), ...slotExpr(slot, from.type) };
  const inner = innerScope(scope, { item, miss: 'none' });
  const value = toBoolean(context, written, inner, 'E659');
  if (value === undefined) return from;
  const { shape, type } = from;
  const single = from.cardinality === 'one' || from.cardinality === 'opt';
  const change = { type, cardinality: single ? 'opt' : 'many', ...(shape && { shape }) } as const;
  const condition = { slot, value };
  return append(from, { kind: 'where', condition }, change);
};

/** Returns one item of a stream, as `_` reads it: with its type and shape only. */
export function toItem(typed: TypedExpr): TypedExpr {
  const { type, expression, shape } = typed;
  return { type, expression, cardinality: 'one', ...(shape && { shape }) };
}

type Search = Extract<Source, { kind: 'searchVector' | 'searchText' }>;

/** Returns the search if the expression is only a search without a filter; otherwise undefined. */
function bareSearch(expression: Expression): Search | undefined {
  if (expression.kind !== 'pipeline' || expression.steps.length > 0) return undefined;
  const { source } = expression;
  const isSearch = source.kind === 'searchVector' || source.kind === 'searchText';
  return isSearch && source.prefilter === undefined ? source : undefined;
}

/** Returns the searches that a filter directly after them applies to: one, or all that are fused. */
function findSearches(input: TypedExpr): (Search | undefined)[] {
  const { expression, growing, shape } = input;
  if (!growing || shape !== undefined || expression.kind !== 'pipeline') return [undefined];
  const { source, steps } = expression;
  const isFusion = source.kind === 'fuse' && steps.length === 0;
  return isFusion ? source.of.map(bareSearch) : [bareSearch(expression)];
}

/** Returns the type of what is searched, which with `by` is not the type of the rows. */
function searchedType(type: ItemType, searches: readonly (Search | undefined)[]): ItemType {
  if (type.kind !== 'element' || type.best === undefined) return type;
  const types = searches.map((search): TypeRef => {
    return search!.kind === 'searchText' ? search!.type : { kind: 'vector', name: search!.type };
  });
  const distinct = new Map(types.map((each) => [`${each.kind} ${each.name}`, each]));
  return { kind: 'element', types: [...distinct.values()], hit: 'none' };
}

export const checkPrefilter: StepChecker = (context, input, call, scope) => {
  const written = argument(context, call, 'PREFILTER(condition)');
  const searches = findSearches(input);
  if (searches.includes(undefined)) {
    const message =
      '`PREFILTER` stands directly after `SearchV<…>(…)`, `SearchBM25<…>(…)` or their fusion.';
    context.report('E706', call.name.span, message, 'Use `WHERE` here.');
    return input;
  }
  if (written === undefined) return input;
  const slot = context.fresh();
  const item = slotExpr(slot, searchedType(input.type, searches));
  const value = toBoolean(context, written, innerScope(scope, { item, miss: 'none' }), 'E659');
  if (value === undefined) return input;
  for (const [at, search] of searches.entries())
    search!.prefilter = at === 0 ? { slot, value } : copyCondition(context, { slot, value });
  return input;
};

/** Copies a condition to another slot; its binders get their own slots. */
function copyCondition(context: Context, { slot, value }: ItemExpression): ItemExpression {
  const own = context.fresh();
  const values = new Map([[slot, { kind: 'slot', slot: own } as const]]);
  return { slot: own, value: substitute(value, values, context) };
}
