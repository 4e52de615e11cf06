// Checks defaults of parameters: a literal, or a list of literals, that fits the type.
import { toFloat32 } from '../../base/float.js';
import type { ParameterDefault, ParameterType, PropertyType } from '../../base/schema.js';
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
): ParameterDefault | undefined {
  const { defaultExpr, optional } = field;
  if (defaultExpr === undefined || defaultExpr.kind === 'faulty') return undefined;
  if (optional) {
    const message = 'A parameter with a default is never null.';
    report('E712', field.name.span, message, 'Drop the `?`.');
    return undefined;
  }
  if (isNow(defaultExpr) && type.kind === 'scalar' && type.name === 'Date') return { kind: 'now' };
  const value = checkLiterals(defaultExpr, type, report);
  return value === undefined ? undefined : { kind: 'literal', value };
}

const isNow = (defaultExpr: Expr): boolean =>
  defaultExpr.kind === 'chain' &&
  defaultExpr.steps.length === 0 &&
  defaultExpr.head.kind === 'path' &&
  defaultExpr.head.names.length === 1 &&
  defaultExpr.head.names[0].text === 'NOW';

function checkLiterals(
  defaultExpr: Expr,
  type: ParameterType,
  report: Report,
): Scalar | ScalarList | undefined {
  if (defaultExpr.kind === 'array' && type.kind === 'list') {
    const items = defaultExpr.items.map((item) => checkLiterals(item, type.of, report));
    if (items.includes(undefined)) return undefined;
    const isFloats = type.of.kind === 'scalar' && type.of.name === 'F64';
    return isFloats ? Float64Array.from(items as number[]) : (items as Scalar[]);
  }
  const isNone = defaultExpr.kind === 'literal' && defaultExpr.value.kind === 'none';
  if (defaultExpr.kind !== 'literal' || isNone || type.kind === 'object') {
    const what = isNone ? '`NONE` is no default.' : 'A default is a literal of the type.';
    report('E712', defaultExpr.span, what, isNone ? 'Write `?` behind the name.' : undefined);
    return undefined;
  }
  return checkScalar(defaultExpr, type as PropertyType, report);
}

function checkScalar({ value, span }: Literal, type: PropertyType, report: Report) {
  const scalar = literalAs(value, type, span, report);
  const isSingle = type.kind === 'scalar' && type.name === 'F32';
  return isSingle && typeof scalar === 'number' ? toFloat32(scalar) : scalar;
}
