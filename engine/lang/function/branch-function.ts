// Checks IF and COALESCE: the value of one of several branches, which must share a type.
import type { Expression } from '../../plan/expression.js';
import { printCount } from '../argument/call-argument.js';
import { checkReadOnly } from '../step/read-only.js';
import { toBoolean } from '../step/step-condition.js';
import type { Call, Expr } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import { unknownExpr } from '../type/make-typed.js';
import { innerScope, type Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import { withOrigins } from '../type/edge-origin.js';
import { toRows, sourceExpr } from '../type/stream.js';
import { type Cardinality, isList, type TypedExpr } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { findFamily, unify } from '../type/type-relation.js';
import { isBasic, isUnknownOrNull, type ItemType, scalarType, unknownType } from '../type/type.js';

/** Checks `IF(c, a, b)` and `IF(c, a)`. */
export function checkIf(context: Context, call: Call, scope: Scope): TypedExpr {
  const args = checkValues(context, call, 2, 3, 'IF(condition, a, b)');
  if (args === undefined) return unknownExpr();
  const [conditionExpr, ...written] = args as [Expr, ...Expr[]];
  if (conditionExpr.kind === 'literal' && conditionExpr.value.kind === 'boolean')
    reportUnreached(context, conditionExpr, 'This condition is always the same.');
  const before = context.writes;
  const condition = toBoolean(context, conditionExpr, scope, 'E659');
  if (context.writes > before) checkReadOnly(context, conditionExpr, scope);
  const branches = withOrigins(written.map((expr) => checkBranch(context, expr, scope)));
  const typed = joined(context, call, branches);
  if (condition === undefined || typed === undefined) return unknownExpr();
  const [value, otherwise] = branches;
  const nothing: Expression = { kind: 'literal', value: null };
  const expression: Expression = {
    kind: 'if',
    condition,
    value: value!.expression,
    otherwise: otherwise?.expression ?? nothing,
  };
  const isSure = otherwise !== undefined && branches.every((each) => isNeverNull(context, each));
  return finished(context, typed, expression, isSure);
}

/** Checks `COALESCE(a, …)`. A lookup without a result inside an argument counts as null. */
export function checkCoalesce(context: Context, call: Call, scope: Scope): TypedExpr {
  const args = checkValues(context, call, 1, Number.POSITIVE_INFINITY, 'COALESCE(a, b)');
  if (args === undefined) return unknownExpr();
  const inner = innerScope(scope, { miss: 'none' });
  const branches = withOrigins(args.map((expr) => checkBranch(context, expr, inner)));
  const sure = branches.findIndex((each) => isNeverNull(context, each));
  const unreached = sure < 0 ? undefined : args[sure + 1];
  if (unreached !== undefined) {
    reportUnreached(context, unreached, 'The value before this is never null.');
  }
  const typed = joined(context, call, branches);
  if (typed === undefined) return unknownExpr();
  const of = branches.map(({ expression }) => expression);
  return finished(context, typed, { kind: 'coalesce', of }, isNeverNull(context, branches.at(-1)!));
}

function checkValues(context: Context, call: Call, min: number, max: number, form: string) {
  const args = call.args ?? [];
  const isPlain = call.types === undefined && args.every(({ name }) => name === undefined);
  if (isPlain && args.length >= min && args.length <= max) return args.map((arg) => arg.value);
  const message = `\`${call.name.text}\` has ${printCount(args.length, 'no arguments')}.`;
  context.report('E305', call.span, message, `Write \`${form}\`.`);
  return undefined;
}

function reportUnreached(context: Context, expr: Expr, message: string): void {
  context.report('W118', expr.span, message, 'Remove it.');
}

function checkBranch(context: Context, expr: Expr, scope: Scope): TypedExpr {
  const typed = bare(context, checkReadOnly(context, expr, scope));
  if (typed.shape === undefined) return typed;
  const { shape: _, ...items } = typed;
  context.report('W108', expr.span, 'The projection is dropped here.', 'Shape the result.');
  return items;
}

const isNone = (typed: TypedExpr): boolean => typed.literal?.kind === 'none';

/** Returns the type and the cardinality that all branches share; undefined after a report. */
function joined(
  context: Context,
  call: Call,
  branches: readonly TypedExpr[],
): TypedExpr | undefined {
  const values = branches.filter((typed) => !isNone(typed));
  const isAny = (typed: TypedExpr) => isList(typed) || typed.type.kind === 'list';
  const known = values.filter((typed) => isList(typed) || !isUnknownOrNull(typed.type));
  const lists = known.filter(isAny);
  if (lists.length > 0 && lists.length < known.length) {
    return refused(context, call, 'a list', 'a single value');
  }
  const isStream = values.some(isList);
  const types = isStream
    ? known.map((typed) => toRows(typed).type)
    : known.map((typed) => typed.type);
  const type = types.length === 0 ? (values[0]?.type ?? scalarType('Null')) : joinedType(types);
  if (type === undefined) {
    const [first, ...rest] = types as [ItemType, ...ItemType[]];
    const other = rest.find((each) => joinedType([first, each]) === undefined) ?? rest.at(-1)!;
    return refused(context, call, printItemType(first), printItemType(other));
  }
  const cardinality: Cardinality = isStream ? 'many' : 'opt';
  const isKnown = branches.every((typed) => typed.known);
  const expression: Expression = { kind: 'literal', value: null };
  return { type, cardinality, expression, ...(isKnown && { known: true }) };
}

function refused(context: Context, call: Call, a: string, b: string): undefined {
  const message = `\`${call.name.text}\` would be ${a} or ${b}.`;
  context.report('E710', call.span, message, 'Make them one type.');
  return undefined;
}

const sameType = (a: ItemType, b: ItemType): boolean => printed(a) === printed(b);
const printed = (type: ItemType): string =>
  JSON.stringify(type, (_, value: unknown) =>
    value instanceof Map || value instanceof Set ? [...value] : value,
  );

/** Returns one type for several; undefined if their kinds differ. */
function joinedType(types: readonly ItemType[]): ItemType | undefined {
  const [first, ...rest] = types.filter((type) => !isUnknownOrNull(type));
  if (first === undefined) return unknownType;
  if (rest.every((type) => sameType(first, type))) return first;
  if (rest.some((type) => type.kind !== first.kind)) return undefined;
  if (first.kind === 'list') {
    const of = joinedType([first, ...rest].map((type) => (type as typeof first).of));
    return of && { kind: 'list', of };
  }
  if (first.kind === 'scalar' && rest.some((type) => findFamily(type) !== findFamily(first))) {
    return undefined;
  }
  return unify([first, ...rest]);
}

/** Records of several shapes get the members of all of them; a list that is absent is empty. */
function finished(
  context: Context,
  typed: TypedExpr,
  made: Expression,
  isSure: boolean,
): TypedExpr {
  const type = withAll(typed.type);
  const expression =
    type.kind === 'record' ? withMembers(context, made, type.members.keys()) : made;
  if (isList(typed)) {
    const source = { kind: 'value', of: expression } as const;
    const { expression: rows } = sourceExpr(source, type, 'many');
    return { ...typed, type, expression: rows };
  }
  const cardinality = typed.cardinality === 'opt' && isSure ? 'one' : typed.cardinality;
  return { ...typed, type, cardinality, expression };
}

function withAll(type: ItemType): ItemType {
  if (type.kind !== 'record') return type;
  const { partial: _, ...whole } = type;
  return whole;
}

function withMembers(context: Context, of: Expression, names: Iterable<string>): Expression {
  const slot = context.fresh();
  const item: Expression = { kind: 'slot', slot };
  const members = Array.from(names, (name) => {
    return { kind: 'value', name, value: { kind: 'property', of: item, name } } as const;
  });
  return { kind: 'project', of, slot, members };
}

/** Returns true if a value is never null; a property may be unset. */
function isNeverNull(context: Context, typed: TypedExpr): boolean {
  if (isList(typed)) return !isNullable(context, typed.expression);
  if (typed.cardinality === 'opt' || isNone(typed)) return false;
  const { type, expression } = typed;
  if (type.kind === 'element') return expression.kind === 'slot' || isOne(expression);
  return !isNullable(context, expression) && !isBasic(type, 'Null');
}

const isOne = (expression: Expression): boolean =>
  expression.kind === 'pipeline' && expression.result === 'one';

function isNullable(context: Context, expression: Expression): boolean {
  switch (expression.kind) {
    case 'literal':
      return expression.value === null;
    case 'parameter':
      return context.parameters[expression.index]?.optional !== false;
    case 'pipeline': {
      if (expression.result === 'many') return false;
      const last = expression.steps.at(-1);
      return last?.kind !== 'count';
    }
    case 'aggregate':
      return expression.function !== 'COUNT' && expression.function !== 'SUM';
    case 'now':
    case 'list':
    case 'record':
    case 'compare':
    case 'and':
    case 'or':
    case 'not':
    case 'exists':
      return false;
    default:
      return true;
  }
}
