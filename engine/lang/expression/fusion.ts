// Checks `RerankRRF(a, b, …, k: n, weights: [w, …])` at the head of a chain: fuses ranked lists of elements
// by reciprocal rank. Equal ids identify the same element.
import type { Expression, Source } from '../../plan/expression.js';
import type { Argument, Call, Expr } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import { unknownExpr } from '../type/make-typed.js';
import type { Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import { toRows, sourceExpr } from '../type/stream.js';
import { isList, type TypedExpr, wholeType } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isNumber, unify } from '../type/type-relation.js';
import { isUnknownOrNull, type ItemType, unknownType } from '../type/type.js';
import { parentArgument } from '../argument/parent-argument.js';
import { numberArgument } from '../argument/argument-kind.js';
import { namedArguments } from '../argument/named-argument.js';
import { checkReadOnly } from '../step/read-only.js';

const form = 'RerankRRF(a, b, k: 60, weights: [1, 1], by: _::In<EdgeType>)';

export function checkFusion(context: Context, call: Call, scope: Scope): TypedExpr {
  const args = call.args ?? [];
  const firstNamed = args.findIndex((arg) => arg.name !== undefined);
  const count = firstNamed < 0 ? args.length : firstNamed;
  if (count === 0 || call.types !== undefined) {
    const message = '`RerankRRF` fuses one or more lists here.';
    context.report('E305', call.span, message, `Write \`${form}\`.`);
    return unknownExpr();
  }
  const lists = args.slice(0, count).map(({ value }) => rankedList(context, value, scope, call));
  const known = namedArguments(context, args.slice(count), ['k', 'weights', 'by'], form);
  const constant = known.get('k');
  const k = constant && numberArgument(context, constant.value, scope, '`k`');
  const weights = checkWeights(context, known.get('weights'), count, scope);
  const found = lists.filter((list) => list !== undefined);
  if (found.length < count || (constant && k === undefined)) return unknownExpr();
  const of = found.map((list): Expression => list.expression);
  const { items, by } = parentArgument(context, known, fusedType(found), scope);
  const source: Source = { kind: 'fuse', of, k: k?.expression ?? null, weights, ...by };
  return sourceExpr(source, items, 'many');
}

function fusedType(lists: readonly TypedExpr[]): ItemType {
  const known = lists.map((list) => list.type).filter((type) => !isUnknownOrNull(type));
  const type = known.length === 0 ? unknownType : unify(known)!;
  return type.kind === 'element' ? { ...type, hit: 'reranked' } : type;
}

/** Returns a list of elements without its shape; undefined after a report. */
function rankedList(
  context: Context,
  value: Expr,
  scope: Scope,
  call: Call,
): TypedExpr | undefined {
  const { shape, ...items } = checkReadOnly(context, value, scope);
  const rows = toRows(items);
  const isElements = rows.type.kind === 'element' && isList(rows);
  if (!isElements && !isUnknownOrNull(rows.type)) {
    const what = isList(rows) ? `a list of ${printItemType(rows.type)}` : printItemType(rows.type);
    const hint = 'Give it a search or another list of elements.';
    context.report('E716', value.span, `\`RerankRRF\` fuses lists of elements, not ${what}.`, hint);
    return undefined;
  }
  if (shape !== undefined) {
    const message = `\`${call.name.text}\` drops this ${shape.form}.`;
    context.report('W108', shape.span, message, 'Shape the result.');
  }
  return rows;
}

function checkWeights(
  context: Context,
  written: Argument | undefined,
  count: number,
  scope: Scope,
): Expression | null {
  if (written === undefined) return null;
  const { value } = written;
  const typed = bare(context, checkReadOnly(context, value, scope));
  const type = wholeType(typed);
  if (!isUnknownOrNull(type) && !(type.kind === 'list' && isNumber(type.of))) {
    const message = `\`weights\` is a list of numbers, not ${printItemType(type)}.`;
    context.report('E205', value.span, message);
  } else if (value.kind === 'array' && value.items.length !== count) {
    const message = `${value.items.length} weights for ${count} lists.`;
    context.report('E716', value.span, message, 'Write one weight per list.');
  }
  return typed.expression;
}
