// Checks expressions: literals, arrays, objects, negation. Chains are in check-chain.ts.
import { unreachable } from '../../base/assert.js';
import type { Expression } from '../../plan/expression.js';
import type { Expr, ObjectLiteral } from '../syntax/ast-expression.js';
import type { LiteralValue } from '../syntax/ast-literal.js';
import { checkChain } from './check-chain.js';
import type { Context } from '../type/context.js';
import { listExpression } from '../type/load-conversion.js';
import { scalarExpr, unknownExpr } from '../type/make-typed.js';
import type { Scope } from '../type/scope.js';
import { checkDropped } from '../step/drop-target.js';
import { printed } from '../type/shape.js';
import { toBoolean } from '../step/step-condition.js';
import { type TypedExpr, wholeType } from '../type/typed-expression.js';
import { unify } from '../type/type-relation.js';
import { type Basic, type ItemType, unknownType } from '../type/type.js';

export function checkExpression(context: Context, expr: Expr, scope: Scope): TypedExpr {
  context.spend();
  switch (expr.kind) {
    case 'literal':
      return literalTerm(expr.value);
    case 'faulty':
      return unknownExpr();
    case 'not': {
      const of = toBoolean(context, expr.of, scope, 'E306');
      return of === undefined ? unknownExpr() : scalarExpr('Boolean', { kind: 'not', of });
    }
    case 'array':
      return arrayTerm(context, expr, scope);
    case 'object':
      return objectTerm(context, expr, scope);
    case 'drop':
      return dropExpr(context, expr, scope);
    case 'chain':
      return checkChain(context, expr, scope);
    default:
      return unreachable(expr);
  }
}

const literalTypes: Record<LiteralValue['kind'], Basic> = {
  string: 'String',
  integer: 'Integer',
  float: 'F64',
  boolean: 'Boolean',
  none: 'Null',
  now: 'Date',
};

function literalTerm(literal: LiteralValue): TypedExpr {
  const value = 'value' in literal ? literal.value : null;
  const expression: Expression =
    literal.kind === 'now' ? { kind: 'now' } : { kind: 'literal', value };
  // Texts to embed are collected before the clock is read, so NOW is not known then.
  const known = literal.kind !== 'now';
  return { ...scalarExpr(literalTypes[literal.kind], expression), literal, known };
}

function arrayTerm(
  context: Context,
  expr: Extract<Expr, { kind: 'array' }>,
  scope: Scope,
): TypedExpr {
  const items = expr.items.map((item) => printed(context, context.check(item, scope)));
  const of = unify(items.map(wholeType));
  if (of === undefined) {
    const hint = 'All items of an array are of one type.';
    context.report('E303', expr.span, 'This array mixes types.', hint);
  }
  const expression = listExpression(items.map((item) => item.expression));
  const known = items.every((item) => item.known);
  const type: ItemType = { kind: 'list', of: markSparse(context, of ?? unknownType, items) };
  return { type, cardinality: 'one', expression, items, known };
}

/** Returns the type of the items, marked as sparse if some may be null. */
function markSparse({ drops }: Context, of: ItemType, items: readonly TypedExpr[]): ItemType {
  if (of.kind !== 'element' && of.kind !== 'record') return of;
  const isSure = ({ cardinality, type }: TypedExpr) =>
    cardinality !== 'opt' && type.kind !== 'scalar' && drops === 0;
  return items.every(isSure) ? of : { ...of, sparse: true };
}

/** Checks the DROP expression, whose value is the number of deleted elements. */
function dropExpr(
  context: Context,
  expr: Extract<Expr, { kind: 'drop' }>,
  scope: Scope,
): TypedExpr {
  return scalarExpr('U64', { kind: 'drop', of: checkDropped(context, expr.of, scope) });
}

function objectTerm(context: Context, expr: ObjectLiteral, scope: Scope): TypedExpr {
  const types = new Map<string, ItemType>();
  const members = expr.members.map(({ name, value }) => {
    if (types.has(name.text)) {
      context.report('E702', name.span, `Member \`${name.text}\` stands here twice.`, 'Rename it.');
    }
    const typed = printed(context, context.check(value, scope));
    types.set(name.text, wholeType(typed));
    return { name: name.text, value: typed.expression };
  });
  const expression: Expression = { kind: 'record', members };
  return { type: { kind: 'record', members: types }, cardinality: 'one', expression };
}
