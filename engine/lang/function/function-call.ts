// Checks calls of functions whose arguments are single values of a declared type: texts, dates, integers.
import { printCount } from '../argument/call-argument.js';
import { checkReadOnly } from '../step/read-only.js';
import type { Call, Expr } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import { dateLiteral, single } from '../type/load-conversion.js';
import type { Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import { type TypedExpr, wholeType } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isInteger } from '../type/type-relation.js';
import { isBasic, isUnknownOrNull, type ItemType } from '../type/type.js';

/** Required type of an argument. `position`: an integer from 0; `unit`: a unit of time. */
export type Parameter = 'text' | 'separator' | 'scalar' | 'date' | 'integer' | 'position' | 'unit';

const wanted: Record<Parameter, string> = {
  text: 'a String',
  separator: 'a String',
  unit: 'a String',
  scalar: 'a single value',
  date: 'a Date',
  integer: 'an integer',
  position: 'an integer from 0 up',
};

const units = ['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second'];

function suits(parameter: Parameter, type: ItemType): boolean {
  if (isUnknownOrNull(type)) return true;
  switch (parameter) {
    case 'scalar':
      return type.kind === 'scalar';
    case 'date':
      return isBasic(type, 'Date');
    case 'integer':
    case 'position':
      return isInteger(type);
    default:
      return isBasic(type, 'String');
  }
}

/** Returns the arguments of a call, one for each of `parameters`; undefined after a report. */
export function checkArguments(
  context: Context,
  call: Call,
  scope: Scope,
  parameters: readonly Parameter[],
  form: string,
): TypedExpr[] | undefined {
  const args = call.args ?? [];
  const isPlain = call.types === undefined && args.every(({ name }) => name === undefined);
  if (!isPlain || args.length !== parameters.length) {
    const message = `\`${call.name.text}\` has ${printCount(args.length, 'no arguments')}.`;
    context.report('E305', call.span, message, `Write \`${form}\`.`);
    return undefined;
  }
  const typedExprs = args.map(({ value }, i) =>
    checkArgument(context, call, value, scope, parameters[i]!),
  );
  return typedExprs.every((typed) => typed !== undefined) ? typedExprs : undefined;
}

function checkArgument(
  context: Context,
  call: Call,
  written: Expr,
  scope: Scope,
  parameter: Parameter,
): TypedExpr | undefined {
  const name = `\`${call.name.text}\``;
  const typed = single(bare(context, checkReadOnly(context, written, scope)), scope.miss, name);
  const known = typed.known === true;
  if (parameter === 'date' && typed.literal?.kind === 'string') {
    const value = dateLiteral(typed.literal.value, written.span, context.report);
    return value && { ...typed, expression: { kind: 'literal', value } };
  }
  if (!suits(parameter, wholeType(typed))) {
    const code = parameter === 'position' ? 'E633' : 'E205';
    const got = printItemType(wholeType(typed));
    const hint = got.startsWith('[') && call.name.text === 'LENGTH' ? 'Ask `COUNT`.' : undefined;
    context.report(code, written.span, `${name} takes ${wanted[parameter]}, not ${got}.`, hint);
    return undefined;
  }
  return isRefused(context, typed, written, parameter) ? undefined : { ...typed, known };
}

/** Reports a literal that every call would reject. Returns true after a report. */
function isRefused(
  context: Context,
  typed: TypedExpr,
  { span }: Expr,
  parameter: Parameter,
): boolean {
  const { literal } = typed;
  if (parameter === 'position' && literal?.kind === 'integer' && literal.value < 0) {
    context.report('E633', span, 'A bound is an integer from 0 up, not a negative number.');
    return true;
  }
  if (literal?.kind !== 'string') return false;
  if (parameter === 'separator' && literal.value === '') {
    context.report('E206', span, 'A separator is not empty.');
    return true;
  }
  if (parameter !== 'unit' || units.includes(literal.value)) return false;
  const hint = `There are ${units.map((unit) => `"${unit}"`).join(', ')}.`;
  context.report('E206', span, `"${literal.value}" is no unit of time.`, hint);
  return true;
}

export const allKnown = (typedExprs: readonly TypedExpr[]): boolean =>
  typedExprs.every((typed) => typed.known === true);
