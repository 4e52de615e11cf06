// Checks arithmetic, aggregates and `Embed`.
import type { AggregateFunction, Expression } from '../../plan/expression.js';
import type { MathFunction } from '../../plan/function-name.js';
import { argument, printCount } from '../argument/call-argument.js';
import type { Call } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import { single } from '../type/load-conversion.js';
import { scalarExpr, unknownExpr } from '../type/make-typed.js';
import { innerScope, type Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import { type TypedExpr, wholeType } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isInteger, isNumber } from '../type/type-relation.js';
import { type Basic, isBasic, isUnknownOrNull, type ItemType } from '../type/type.js';

/** Result type of a function: determined by its arguments, or always F64. */
type Result = 'operand' | 'float';

interface Signature {
  min: number;
  max: number;
  result: Result;
}

const exactly = (count: number, result: Result): Signature => ({
  min: count,
  max: count,
  result,
});
const several: Signature = { min: 2, max: Number.POSITIVE_INFINITY, result: 'operand' };

const signatures: Record<MathFunction, Signature> = {
  ADD: several,
  SUB: several,
  MUL: several,
  MIN: several,
  MAX: several,
  ABS: exactly(1, 'operand'),
  MOD: exactly(2, 'operand'),
  CEIL: exactly(1, 'operand'),
  FLOOR: exactly(1, 'operand'),
  ROUND: exactly(1, 'operand'),
  DIV: exactly(2, 'float'),
  POW: exactly(2, 'float'),
  LOG: exactly(2, 'float'),
  ATAN2: exactly(2, 'float'),
  SQRT: exactly(1, 'float'),
  LN: exactly(1, 'float'),
  LOG10: exactly(1, 'float'),
  EXP: exactly(1, 'float'),
  SIN: exactly(1, 'float'),
  COS: exactly(1, 'float'),
  TAN: exactly(1, 'float'),
  ASIN: exactly(1, 'float'),
  ACOS: exactly(1, 'float'),
  ATAN: exactly(1, 'float'),
  PI: exactly(0, 'float'),
  E: exactly(0, 'float'),
};

const aggregates = new Set<string>(['SUM', 'AVG', 'MIN', 'MAX', 'COUNT']);

export function isArithmetic(name: string): boolean {
  return Object.hasOwn(signatures, name) || aggregates.has(name);
}

export function checkArithmetic(context: Context, call: Call, scope: Scope): TypedExpr {
  const name = call.name.text;
  const args = call.args ?? [];
  const isNamed = args.some((arg) => arg.name !== undefined);
  if (aggregates.has(name) && args.length === 1 && !isNamed) {
    return checkAggregate(context, call, scope);
  }
  const signature = signatures[name as MathFunction] as Signature | undefined;
  const { min, max, ...signed } = signature ?? exactly(1, 'operand');
  // [compat] The quotient of integers is an integer.
  const result = context.compat && name === 'DIV' ? 'operand' : signed.result;
  if (isNamed || args.length < min || args.length > max) {
    const wanted = min === max ? `${min}` : `${min} or more`;
    const has = printCount(args.length, 'no arguments');
    const message = `\`${name}\` has ${has}; it takes ${wanted}.`;
    const shown = ['a', 'b'].slice(0, Math.min(max, 2)).join(', ');
    context.report('E305', call.span, message, `Write \`${name}(${shown})\`.`);
    return unknownExpr();
  }
  const inner = innerScope(scope, { lenient: true });
  const typedExprs = args.map(({ value }) => {
    const typed = single(bare(context, context.check(value, inner)), scope.miss, `\`${name}\``);
    if (isNumber(typed.type)) return typed;
    const type = printItemType(typed.type);
    const hint = isBasic(typed.type, 'String') ? 'Texts are joined by `CONCAT(a, b)`.' : undefined;
    context.report('E205', value.span, `\`${name}\` takes numbers, not ${type}.`, hint);
    return unknownExpr();
  });
  const integer = result === 'operand' && typedExprs.every((typed) => isInteger(typed.type));
  const of = typedExprs.map((typed) => typed.expression);
  const known = typedExprs.every((typed) => typed.known);
  const expression: Expression = { kind: 'math', function: name as MathFunction, of, integer };
  return { ...scalarExpr(resultType(typedExprs, result, integer), expression), known };
}

/** A value that may be an integer or a float at run time has an open type. */
function resultType(typedExprs: TypedExpr[], result: Result, integer: boolean): Basic {
  if (integer) return 'Integer';
  const isOpen = result === 'operand' && typedExprs.some((typed) => isUnknownOrNull(typed.type));
  return isOpen ? 'Unknown' : 'F64';
}

function checkAggregate(context: Context, call: Call, scope: Scope): TypedExpr {
  const name = call.name.text as AggregateFunction;
  const written = argument(context, call, `${name}(list)`)!;
  const typed = bare(context, context.check(written, scope));
  const whole = wholeType(typed);
  const item = whole.kind === 'list' ? whole.of : whole;
  const of = typed.expression;
  if (name === 'COUNT') {
    return scalarExpr('U64', { kind: 'aggregate', function: name, of, integer: true });
  }
  const isExtreme = name === 'MIN' || name === 'MAX';
  if (isExtreme && (isBasic(item, 'Date') || isBasic(item, 'String')) && !isUnknownOrNull(item)) {
    const expression: Expression = { kind: 'aggregate', function: name, of, integer: false };
    return { type: item, cardinality: 'opt', expression };
  }
  if (!isNumber(item)) {
    const message = `\`${name}\` takes a list of numbers, not of ${printItemType(item)}.`;
    context.report('E205', written.span, message, 'Name a property: `x::{p}`.');
    return unknownExpr();
  }
  const integer = name !== 'AVG' && isInteger(item);
  const type = integer ? 'Integer' : isUnknownOrNull(item) && name !== 'AVG' ? 'Unknown' : 'F64';
  const expression: Expression = { kind: 'aggregate', function: name, of, integer };
  return { ...scalarExpr(type, expression), cardinality: 'opt' };
}

const embedding: ItemType = { kind: 'list', of: { kind: 'scalar', name: 'F64' } };

/** Checks `Embed(text)`, and adds the text to those that are embedded before the transaction. */
export function checkEmbed(context: Context, call: Call, scope: Scope): TypedExpr {
  const nothing = unknownExpr();
  const written = argument(context, call, 'Embed(text)');
  if (written === undefined) return nothing;
  const typed = bare(context, context.check(written, scope));
  const type = wholeType(typed);
  if (!isBasic(type, 'String') && !isBasic(type, 'Null')) {
    const message = `\`Embed\` takes a String, not ${printItemType(type)}.`;
    context.report('E660', written.span, message);
    return nothing;
  }
  if (!typed.known && !isUnknownOrNull(type)) {
    const message = 'This text is known only inside the transaction, too late to embed it.';
    context.report('E707', written.span, message, 'Pass the text as a parameter.');
    return nothing;
  }
  const text = typed.expression;
  const { vectorType, isQuery } = scope;
  const loops = [...context.loops];
  const ofType = {
    ...(vectorType && { type: vectorType }),
    ...(isQuery && { isQuery: true as const }),
  };
  context.embeds.push({ loops, text, ...ofType });
  return { type: embedding, cardinality: 'one', expression: { kind: 'embed', text, ...ofType } };
}
