// Converts values to the type of the property or argument that receives them. Literals are checked and
// converted at compile time.
import { parseDate } from '../../base/date.js';
import { parseUuid, printUuid } from '../../base/id.js';
import { integerFits, integerRange } from '../../base/integer.js';
import { printType, type PropertyType, type ScalarName } from '../../base/schema.js';
import { type Instant, type Scalar, Uuid } from '../../base/value.js';
import type { Expression } from '../../plan/expression.js';
import type { LiteralValue } from '../syntax/ast-literal.js';
import type { Context } from './context.js';
import type { Report } from '../syntax/diagnostic.js';
import { bare } from './shape.js';
import type { Span } from '../syntax/source-file.js';
import { append, toRows } from './stream.js';
import { isList, type TypedExpr, wholeType } from './typed-expression.js';
import { printItemType } from './type-print.js';
import { fits } from './type-relation.js';
import { isNullable, type ItemType } from './type.js';

const f32Max = 3.4028235677973366e38;

/**
 * Returns the value of a literal stored as `type`; undefined after a report. `NONE` is null for every type.
 * The caller must handle `NOW`.
 */
export function literalAs(
  literal: LiteralValue,
  type: PropertyType,
  span: Span,
  report: Report,
): Scalar | undefined {
  if (literal.kind === 'none') return null;
  if (type.kind === 'list' || literal.kind === 'now') return misfit(literal, type, span, report);
  const { name } = type;
  const { value } = literal;
  // Storing writes it as JSON.
  if (name === 'Json') return literal.value;
  if (literal.kind === 'string') {
    if (name === 'String') return literal.value;
    if (name === 'Date') return dateLiteral(literal.value, span, report);
    if (name === 'ID') return idLiteral(literal.value, span, report);
  } else if (literal.kind === 'boolean') {
    if (name === 'Boolean') return literal.value;
  } else if (name === 'F32' || name === 'F64') {
    const float = Number(value);
    if (name === 'F64' || Math.abs(float) < f32Max) return float;
    report('E303', span, `${value} is beyond the range of F32.`, 'F32 ends at about 3.4e38.');
    return undefined;
  } else if (literal.kind === 'integer' && integerRange[name] !== undefined) {
    if (integerFits(literal.value, name)) return literal.value;
    const { min, max } = integerRange[name];
    report('E303', span, `${value} does not fit ${name}.`, `${name} goes from ${min} to ${max}.`);
    return undefined;
  }
  return misfit(literal, type, span, report);
}

const literalTypes = {
  string: 'String',
  integer: 'an integer',
  float: 'F64',
  boolean: 'Boolean',
  none: 'NONE',
  now: 'Date',
} as const;

function misfit(literal: LiteralValue, type: PropertyType, span: Span, report: Report): undefined {
  const got = literalTypes[literal.kind];
  report('E205', span, `${printType(type)} is needed here, not ${got}.`);
  return undefined;
}

export function dateLiteral(text: string, span: Span, report: Report): Instant | undefined {
  const date = parseDate(text);
  if (date !== undefined) return date;
  const hint = 'Write `2026-03-01T08:00:00+00:00` or `2026-03-01`.';
  report('E501', span, 'This String is no date.', hint);
  return undefined;
}

export function idLiteral(text: string, span: Span, report: Report): Uuid | undefined {
  const bytes = parseUuid(text);
  if (bytes !== undefined) return new Uuid(printUuid(bytes));
  const hint = 'Write a UUID, or declare the parameter as `ID`.';
  report('E210', span, 'This String is no ID.', hint);
  return undefined;
}

/** Takes one value of a list where a single one is needed; `strict` also rejects null. */
export function single(
  typed: TypedExpr,
  miss: 'error' | 'none',
  receiver: string,
  strict = false,
): TypedExpr {
  if (!isList(typed) && !(strict && typed.cardinality === 'opt')) return typed;
  const expression: Expression = {
    kind: 'single',
    of: typed.expression,
    miss,
    valueName: receiver,
  };
  const cardinality = miss === 'none' ? 'opt' : 'one';
  return { type: typed.type, cardinality, expression };
}

/**
 * Returns the expression that yields `value` as a value of `type`; undefined after a report. Messages name
 * the `receiver`.
 */
export function convert(
  context: Context,
  value: TypedExpr,
  type: PropertyType,
  span: Span,
  receiver: string,
): Expression | undefined {
  const { report } = context;
  const typed = bare(context, value);
  if (typed.literal !== undefined) {
    const converted = literalAs(typed.literal, type, span, report);
    return converted === undefined ? undefined : { kind: 'literal', value: converted };
  }
  if (type.kind === 'list' && typed.items !== undefined) {
    return convertItems(context, typed.items, type.of, span, receiver);
  }
  const isStream =
    type.kind === 'list' && !(type.of.kind === 'scalar' && typed.type.kind === 'list');
  const one = isStream ? typed : single(typed, 'error', receiver);
  const whole = wholeType(one);
  if (!fits(whole, type)) {
    reportMisfit(context.report, whole, type, span);
    return undefined;
  }
  return convertToIds(context, one, type);
}

function convertItems(
  context: Context,
  items: TypedExpr[],
  type: PropertyType,
  span: Span,
  receiver: string,
): Expression | undefined {
  const converted = items.map((item) => convert(context, item, type, span, receiver));
  if (converted.includes(undefined)) return undefined;
  return listExpression(converted as Expression[]);
}

/** A list of literals is also a literal. */
export function listExpression(items: Expression[]): Expression {
  const values = items.flatMap((item) => (item.kind === 'literal' ? [item.value] : []));
  if (values.length < items.length) return { kind: 'list', items };
  return { kind: 'literal', value: values };
}

/** Elements stored as IDs become their ids. */
function convertToIds(context: Context, typed: TypedExpr, type: PropertyType): Expression {
  if (type.kind === 'scalar') {
    if (typed.type.kind !== 'element') return typed.expression;
    return { kind: 'property', of: typed.expression, name: 'id' };
  }
  const rows = toRows(typed);
  if (rows.type.kind !== 'element') return typed.expression;
  return toId(context, rows).expression;
}

/** Returns the id of each element. */
export function toId(context: Context, typed: TypedExpr): TypedExpr {
  const type: ItemType = {
    kind: 'scalar',
    name: 'ID',
    ...(isNullable(typed.type) && { sparse: true }),
  };
  if (!isList(typed)) {
    const expression: Expression = { kind: 'property', of: typed.expression, name: 'id' };
    return { type, cardinality: typed.cardinality, expression };
  }
  const slot = context.fresh();
  const of: Expression = { kind: 'slot', slot };
  const value = { slot, value: { kind: 'property', of, name: 'id' } as const };
  return append(typed, { kind: 'map', value }, { type, cardinality: typed.cardinality });
}

function reportMisfit(report: Report, type: ItemType, target: PropertyType, span: Span): void {
  const got = printItemType(type);
  const wanted = printType(target);
  const scalar = target.kind === 'scalar' ? target.name : undefined;
  const byText: Partial<Record<ScalarName, string>> = {
    Date: 'Only literals are read as dates: declare the parameter as `Date`.',
    ID: 'Only literals are read as ids: declare the parameter as `ID`.',
  };
  const isText = type.kind === 'scalar' && type.name === 'String';
  const hint = isText && scalar !== undefined ? byText[scalar] : undefined;
  report('E205', span, `${wanted} is needed here, not ${got}.`, hint);
}
