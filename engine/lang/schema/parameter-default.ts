// Checks defaults of parameters: a literal, or a list of literals, that fits the type.
import { toFloat32 } from '../../base/float.js';
import type { GivenDefault, ParameterType, PropertyType } from '../../base/schema.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import type { Expr } from '../syntax/ast-expression.js';
import type { Literal } from '../syntax/ast-literal.js';
import type { Field } from '../syntax/ast-schema.js';
import type { Report } from '../syntax/diagnostic.js';
import { literalAs } from '../type/load-conversion.js';

/** Returns the default of a field of this type; undefined if there is none, and after a report. */
export function checkDefault(
  field: Field,
  type: ParameterType,
  report: Report,
): GivenDefault | undefined {
  const { given, optional } = field;
  if (given === undefined || given.kind === 'faulty') return undefined;
  if (optional) {
    const message = 'A parameter with a default is never null.';
    report('E712', field.name.span, message, 'Drop the `?`.');
    return undefined;
  }
  if (isNow(given) && type.kind === 'scalar' && type.name === 'Date') return { kind: 'now' };
  const value = checkLiterals(given, type, report);
  return value === undefined ? undefined : { kind: 'literal', value };
}

const isNow = (given: Expr): boolean =>
  given.kind === 'chain' &&
  given.steps.length === 0 &&
  given.head.kind === 'path' &&
  given.head.names.length === 1 &&
  given.head.names[0].text === 'NOW';

function checkLiterals(
  given: Expr,
  type: ParameterType,
  report: Report,
): Scalar | ScalarList | undefined {
  if (given.kind === 'array' && type.kind === 'list') {
    const items = given.items.map((item) => checkLiterals(item, type.of, report));
    if (items.includes(undefined)) return undefined;
    const isFloats = type.of.kind === 'scalar' && type.of.name === 'F64';
    return isFloats ? Float64Array.from(items as number[]) : (items as Scalar[]);
  }
  const isNone = given.kind === 'literal' && given.value.kind === 'none';
  if (given.kind !== 'literal' || isNone || type.kind === 'object') {
    const what = isNone ? '`NONE` is no default.' : 'A default is a literal of the type.';
    report('E712', given.span, what, isNone ? 'Write `?` behind the name.' : undefined);
    return undefined;
  }
  return checkScalar(given, type as PropertyType, report);
}

function checkScalar({ value, span }: Literal, type: PropertyType, report: Report) {
  const scalar = literalAs(value, type, span, report);
  const isSingle = type.kind === 'scalar' && type.name === 'F32';
  return isSingle && typeof scalar === 'number' ? toFloat32(scalar) : scalar;
}
