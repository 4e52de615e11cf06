// Checks comparisons: which types compare, literals converted to the type of the other operand,
// streams on the left ("any item"), lists on the right.
//
// Emits `compare` with `left` a value, or with `any` a list of which one item must satisfy it.
// IS_IN has a list on the right. CONTAINS has on the left a string, an array, the list of a stream
// of elements, or with `any` the list of a stream of strings or arrays.
import { integerFits } from '../../base/integer.js';
import type { CompareOperator, Expression } from '../../plan/expression.js';
import { argument } from '../argument/call-argument.js';
import { checkReadOnly } from './read-only.js';
import type { Call } from '../syntax/ast-expression.js';
import type { ChainPosition, Context } from '../type/context.js';
import { dateLiteral, idLiteral, listExpression, single } from '../type/load-conversion.js';
import { scalarExpr, unknownExpr } from '../type/make-typed.js';
import type { Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import type { Span } from '../syntax/source-file.js';
import { isList, type TypedExpr } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { comparable, findFamily, isInteger, isJson } from '../type/type-relation.js';
import { isBasic, isUnknownOrNull, type ItemType } from '../type/type.js';

export function checkComparison(
  context: Context,
  input: TypedExpr,
  call: Call,
  scope: Scope,
  position: ChainPosition,
): TypedExpr {
  if (++position.comparisons > context.limits.source_depth) {
    const message = `A chain has at most ${context.limits.source_depth} comparisons.`;
    context.report('E005', call.span, message, 'The limit is `limits.source_depth`.');
    return unknownExpr();
  }
  const operator = call.name.text as CompareOperator;
  const form = operator === 'IS_IN' ? '[a, b]' : 'value';
  const written = argument(context, call, `${operator}(${form})`);
  if (written === undefined) return unknownExpr();
  const left = bare(context, input);
  const isAffix = operator === 'STARTS_WITH' || operator === 'ENDS_WITH';
  const operand = isAffix ? checkReadOnly(context, written, scope) : context.check(written, scope);
  const right = bare(context, operand);
  const pair = { context, operator, left, right, scope, call, span: written.span };
  if (operator === 'CONTAINS') return contains(pair);
  if (operator === 'IS_IN') return isIn(pair);
  if (isAffix) return affix(pair);
  return relation(pair);
}

interface Pair {
  context: Context;
  operator: CompareOperator;
  left: TypedExpr;
  right: TypedExpr;
  scope: Scope;
  call: Call;
  /** Range of the operand. */
  span: Span;
}

function relation(pair: Pair): TypedExpr {
  const { context, operator, left, right, scope, call, span } = pair;
  const ordered = operator !== 'EQ' && operator !== 'NEQ';
  // Every value can be compared with NONE.
  if (!ordered && right.literal?.kind === 'none')
    return comparison(pair, right.expression, isList(left));
  if (left.type.kind === 'record' || (ordered && left.type.kind === 'element')) {
    return left.type.kind === 'element' ? nothingBefore(pair) : noComparison(pair);
  }
  const isText = right.literal?.kind === 'string';
  if (left.type.kind === 'element' && !isText && !comparable(left.type, right.type)) {
    return nothingBefore(pair);
  }
  const one = left.type.kind === 'list' ? right : single(right, scope.miss, `\`${operator}\``);
  const operand = readAs(context, one, left.type, span);
  if (operand === undefined) return unknownExpr();
  if (operand === 'misfit') return misfit(pair, left.type, right.type);
  warnConstant(context, left, one, call);
  return comparison(pair, operand, isList(left));
}

function isIn(pair: Pair): TypedExpr {
  const { context, left, right, span } = pair;
  if (left.type.kind === 'record') return noComparison(pair);
  const item = isList(right) ? right.type : right.type.kind === 'list' ? right.type.of : undefined;
  if (item === undefined && !isUnknownOrNull(right.type) && !isJson(right.type))
    return misfit(pair, left.type, right.type);
  if (item !== undefined && !comparable(left.type, item)) {
    const wantsText = left.type.kind === 'element' || isReadable(left.type);
    const literals = right.items?.map((typed) => readAs(context, typed, left.type, span));
    if (literals === undefined || !wantsText || literals.includes('misfit')) {
      return misfit(pair, left.type, item);
    }
    if (literals.includes(undefined)) return unknownExpr();
    return comparison(pair, listExpression(literals as Expression[]), isList(left));
  }
  const items = right.items ?? [];
  const isNever = items.length > 0 && items.every((typed) => neverHolds(left.type, typed));
  if (isNever) warnConstant(context, left, items[0]!, pair.call);
  return comparison(pair, right.expression, isList(left));
}

function contains(pair: Pair): TypedExpr {
  const { context, left, right, scope, span } = pair;
  const { type } = left;
  const elements = isList(left) && type.kind === 'element';
  const item = elements ? type : type.kind === 'list' ? type.of : undefined;
  const isText = isBasic(type, 'String') || isBasic(type, 'Null') || isJson(type);
  if (item === undefined && !isText) {
    return noComparison(pair);
  }
  const one = single(right, scope.miss, '`CONTAINS`');
  const operand = readAs(context, one, item ?? type, span);
  if (operand === undefined) return unknownExpr();
  if (operand === 'misfit') return misfit(pair, item ?? type, right.type);
  return comparison(pair, operand, isList(left) && !elements);
}

/** Compares the beginning or the end of a String; of a stream of Strings, at least one must match. */
function affix(pair: Pair): TypedExpr {
  const { context, operator, left, right, scope } = pair;
  const isText = isBasic(left.type, 'String') || isBasic(left.type, 'Null') || isJson(left.type);
  if (!isText) return noComparison(pair);
  const one = single(right, scope.miss, `\`${operator}\``);
  const operand = readAs(context, one, left.type, pair.span);
  if (operand === undefined) return unknownBoolean();
  if (operand === 'misfit' || one.type.kind === 'element')
    return misfit(pair, left.type, right.type);
  return comparison(pair, operand, isList(left));
}

function comparison(pair: Pair, right: Expression, any: boolean): TypedExpr {
  const { operator, left } = pair;
  const f32 = isSingle(left.type) || isSingle(pair.right.type);
  const kind = 'compare';
  return scalarExpr('Boolean', { kind, operator, left: left.expression, right, any, f32 });
}

const isSingle = (type: ItemType): boolean =>
  type.kind === 'list' ? isSingle(type.of) : type.kind === 'scalar' && type.name === 'F32';

const isReadable = (type: ItemType): boolean =>
  type.kind === 'scalar' && (type.name === 'Date' || type.name === 'ID');

/**
 * Returns the operand compared with a value of `type`; undefined after a report. String literals are read as
 * dates and ids.
 */
export function readAs(
  context: Context,
  typed: TypedExpr,
  type: ItemType,
  span: Span,
): Expression | 'misfit' | undefined {
  if (typed.literal?.kind === 'string') {
    const text = typed.literal.value;
    const isDate = type.kind === 'scalar' && type.name === 'Date';
    if (isDate || findFamily(type) === 'ID') {
      const read = isDate ? dateLiteral : idLiteral;
      const value = read(text, span, context.report);
      return value === undefined ? undefined : { kind: 'literal', value };
    }
  }
  const right: ItemType = isList(typed) ? { kind: 'list', of: typed.type } : typed.type;
  return comparable(type, right) ? typed.expression : 'misfit';
}

/** Returns true if no value of the type equals the literal: it is out of range, or a fraction. */
function neverHolds(type: ItemType, { literal }: TypedExpr): boolean {
  if (type.kind !== 'scalar' || type.name === 'Integer' || !isInteger(type)) return false;
  if (literal?.kind === 'float') return !Number.isInteger(literal.value);
  return literal?.kind === 'integer' && !integerFits(literal.value, type.name as 'I8');
}

/** Warns of a literal that the type never contains. A fraction is still useful in an ordered comparison. */
export function warnConstant(
  context: Context,
  left: TypedExpr,
  right: TypedExpr,
  call: Call,
): void {
  const { literal } = right;
  if (literal?.kind !== 'integer' && literal?.kind !== 'float') return;
  const isOrdered = /^[GL]TE?$/.test(call.name.text);
  if (!neverHolds(left.type, right) || (isOrdered && literal.kind === 'float')) return;
  const type = printItemType(left.type);
  const message = `${type} never holds ${literal.value}, so this is always the same.`;
  context.report('W109', call.span, message);
}

function misfit(pair: Pair, left: ItemType, right: ItemType): TypedExpr {
  const [a, b] = [printItemType(left), printItemType(right)];
  const isText = right.kind === 'scalar' && right.name === 'String' && isReadable(left);
  const hint = isText ? `Declare the parameter as \`${a}\`.` : `The value before it is ${a}.`;
  pair.context.report('E622', pair.span, `${a} does not compare with ${b}.`, hint);
  return unknownBoolean();
}

function noComparison(pair: Pair): TypedExpr {
  const type = printItemType(pair.left.type);
  pair.context.report('E621', pair.call.span, `${type} has no \`${pair.operator}\`.`);
  return unknownBoolean();
}

function nothingBefore(pair: Pair): TypedExpr {
  const { operator, call, context } = pair;
  const message = `\`${operator}\` has no value before it.`;
  context.report('E657', call.span, message, `Name a property: \`_::{p}::${operator}(…)\`.`);
  return unknownBoolean();
}

const unknownBoolean = (): TypedExpr => scalarExpr('Boolean', { kind: 'literal', value: null });
