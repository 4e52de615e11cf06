// Functions of texts and dates: their parameters and result types.
import type { DateFunction, TextFunction } from '../../plan/function-name.js';
import type { Call } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import { scalarExpr, unknownExpr } from '../type/make-typed.js';
import type { Scope } from '../type/scope.js';
import type { TypedExpr } from '../type/typed-expression.js';
import { type Basic, scalarType } from '../type/type.js';
import { allKnown, checkArguments, type Parameter } from './function-call.js';

interface Signature {
  parameters: readonly Parameter[];
  /** Number of optional parameters at the end. */
  optional?: number;
  /** The last parameter may be repeated. */
  repeats?: true;
  result: Basic;
  list?: true;
  form: string;
}

const texts: Record<Exclude<TextFunction, 'GET'>, Signature> = {
  LOWER: { parameters: ['text'], result: 'String', form: 'LOWER(text)' },
  UPPER: { parameters: ['text'], result: 'String', form: 'UPPER(text)' },
  TRIM: { parameters: ['text'], result: 'String', form: 'TRIM(text)' },
  LENGTH: { parameters: ['text'], result: 'U64', form: 'LENGTH(text)' },
  CONCAT: {
    parameters: ['scalar', 'scalar'],
    repeats: true,
    result: 'String',
    form: 'CONCAT(a, b)',
  },
  SUBSTRING: {
    parameters: ['text', 'position', 'position'],
    optional: 1,
    result: 'String',
    form: 'SUBSTRING(text, 0, 20)',
  },
  REPLACE: {
    parameters: ['text', 'text', 'text'],
    result: 'String',
    form: 'REPLACE(text, from, to)',
  },
  SPLIT: {
    parameters: ['text', 'separator'],
    result: 'String',
    list: true,
    form: 'SPLIT(text, ",")',
  },
};

const dates: Record<DateFunction, Signature> = {
  YEAR: { parameters: ['date'], result: 'U16', form: 'YEAR(date)' },
  MONTH: { parameters: ['date'], result: 'U8', form: 'MONTH(date)' },
  DAY: { parameters: ['date'], result: 'U8', form: 'DAY(date)' },
  HOUR: { parameters: ['date'], result: 'U8', form: 'HOUR(date)' },
  TRUNC: { parameters: ['date', 'unit'], result: 'Date', form: 'TRUNC(date, "month")' },
  DATE_ADD: {
    parameters: ['date', 'integer', 'unit'],
    result: 'Date',
    form: 'DATE_ADD(date, 30, "day")',
  },
  DATE_DIFF: {
    parameters: ['date', 'date', 'unit'],
    result: 'I64',
    form: 'DATE_DIFF(from, to, "day")',
  },
};

export const textFunctions = Object.keys(texts) as (keyof typeof texts)[];
export const dateFunctions = Object.keys(dates) as DateFunction[];

/** Returns the parameters of a call with `count` arguments. */
function parametersFor({ parameters, optional = 0, repeats }: Signature, count: number) {
  if (repeats && count > parameters.length) {
    return Array.from({ length: count }, (_, i) => parameters[i] ?? parameters.at(-1)!);
  }
  return count >= parameters.length - optional ? parameters.slice(0, count) : parameters;
}

export function checkTextFunction(context: Context, call: Call, scope: Scope): TypedExpr {
  const name = call.name.text as keyof typeof texts;
  const made = checkScalar(context, call, scope, texts[name]);
  if (made === undefined) return unknownExpr();
  return { ...made, expression: { kind: 'text', function: name, of: made.of } };
}

export function checkDateFunction(context: Context, call: Call, scope: Scope): TypedExpr {
  const name = call.name.text as DateFunction;
  const made = checkScalar(context, call, scope, dates[name]);
  if (made === undefined) return unknownExpr();
  return { ...made, expression: { kind: 'date', function: name, of: made.of } };
}

function checkScalar(context: Context, call: Call, scope: Scope, signature: Signature) {
  const parameters = parametersFor(signature, call.args?.length ?? 0);
  const typedExprs = checkArguments(context, call, scope, parameters, signature.form);
  if (typedExprs === undefined) return undefined;
  const { type } = scalarExpr(signature.result, { kind: 'now' });
  const of = typedExprs.map(({ expression }) => expression);
  const result = signature.list ? ({ kind: 'list', of: scalarType('String') } as const) : type;
  return { type: result, cardinality: 'one' as const, known: allKnown(typedExprs), of };
}
