// Checks arguments by kind: a number, a vector, the id of an element, the endpoint of an edge or path.
import { singleMember } from '../type/visible-member.js';
import type { PropertyType } from '../../base/schema.js';
import type { Expression } from '../../plan/expression.js';
import { argument } from './call-argument.js';
import type { Argument, Call, Expr } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import { convert, idLiteral, single } from '../type/load-conversion.js';
import { innerScope, type Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import { toRows } from '../type/stream.js';
import { type TypedExpr, wholeType } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { findFamily, isNumber } from '../type/type-relation.js';
import { isUnknownOrNull } from '../type/type.js';

const vectorType: PropertyType = { kind: 'list', of: { kind: 'scalar', name: 'F64' } };

/** Returns a number; undefined after a report. `what` names it in messages. */
export function numberArgument(
  context: Context,
  value: Expr,
  scope: Scope,
  what: string,
): TypedExpr | undefined {
  const typed = single(bare(context, context.check(value, scope)), scope.miss, what);
  if (isNumber(wholeType(typed))) return typed;
  const type = printItemType(wholeType(typed));
  context.report('E205', value.span, `${what} is a number, not ${type}.`);
  return undefined;
}

/** Returns the number of results of a search, which must be an integer. */
export function resultCount(context: Context, value: Expr, scope: Scope): Expression | undefined {
  return integerArgument(context, value, scope, '`k`');
}

/** Returns a number that is no fraction, as far as the source says; undefined after a report. */
function integerArgument(
  context: Context,
  value: Expr,
  scope: Scope,
  what: string,
): Expression | undefined {
  const typed = numberArgument(context, value, scope, what);
  if (typed?.literal?.kind !== 'float' || Number.isInteger(typed.literal.value)) {
    return typed?.expression;
  }
  context.report('E205', value.span, `${what} is an integral number.`);
  return undefined;
}

/** Returns the lowest score of a search's hits, as a member of its plan. */
export function scoreArgument(
  context: Context,
  named: ReadonlyMap<string, Argument>,
  scope: Scope,
): { scoreMin?: Expression } {
  const arg = named.get('min_score');
  const typed = arg && numberArgument(context, arg.value, scope, '`min_score`');
  return typed ? { scoreMin: typed.expression } : {};
}

/** Returns the width of a vector search, as a member of its plan. */
export function widthArgument(
  context: Context,
  named: ReadonlyMap<string, Argument>,
  scope: Scope,
): { ef?: Expression } {
  const arg = named.get('ef');
  const width = arg && integerArgument(context, arg.value, scope, '`ef`');
  return width ? { ef: width } : {};
}

/**
 * Returns a vector for `type`: `[F64]`, an array of numbers, or `Embed(text)`. Undefined after a report.
 * `isQuery`: it is searched for, not stored.
 */
export function vectorArgument(
  context: Context,
  value: Expr,
  scope: Scope,
  type: string,
  isQuery = false,
): Expression | undefined {
  const typed = context.check(value, innerScope(scope, { vectorType: type, isQuery }));
  if (typed.parameter !== undefined) {
    const parameter = context.parameters[typed.parameter]!;
    const { type } = parameter;
    const isVector = type.kind === 'list' && type.of.kind === 'scalar' && type.of.name === 'F64';
    if (isVector) parameter.vector = true;
  }
  const whole = wholeType(typed);
  if (whole.kind === 'scalar' && whole.name === 'String') {
    const message = 'A vector is needed here, [F64], not String.';
    context.report('E205', value.span, message, 'Write `Embed(text)`.');
    return undefined;
  }
  return convert(context, typed, vectorType, value.span, 'the vector');
}

/** Returns an ID, an element, or a list of them; undefined after a report. */
export function identityArgument(
  context: Context,
  value: Expr,
  scope: Scope,
): TypedExpr | undefined {
  const typed = readIdentity(context, context.check(value, scope));
  if (typed.literal?.kind === 'string') {
    const id = idLiteral(typed.literal.value, value.span, context.report);
    if (id === undefined) return undefined;
    const expression: Expression = { kind: 'literal', value: id };
    return { type: { kind: 'scalar', name: 'ID' }, cardinality: 'one', expression };
  }
  const rows = toRows(typed);
  if (findFamily(rows.type) === 'ID' || isUnknownOrNull(rows.type)) return rows;
  const hint = 'Pass an element, or declare the parameter as `ID`.';
  const type = printItemType(wholeType(typed));
  context.report('E210', value.span, `An ID is needed here, not ${type}.`, hint);
  return undefined;
}

/** A one-name projection counts as its value if that is an ID, otherwise as its elements. */
function readIdentity(context: Context, typed: TypedExpr): TypedExpr {
  if (typed.shape === undefined) return typed;
  const only = singleMember(typed.shape);
  if (only !== undefined && findFamily(only.type) === 'ID') return bare(context, typed);
  const { shape: _, ...items } = typed;
  return items;
}

/** Returns the argument of `From(…)` or `To(…)`, and its value as exactly one element. */
export function endArgument(
  context: Context,
  call: Call,
  scope: Scope,
): { typed: TypedExpr; value: Expression } | undefined {
  const written = argument(context, call, `${call.name.text}(element)`);
  if (written === undefined) return undefined;
  const typed = identityArgument(context, written, scope);
  if (typed === undefined) return undefined;
  const value = single(typed, 'error', `\`${call.name.text}\``, true).expression;
  return { typed, value };
}
