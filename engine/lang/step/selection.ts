// Checks selections: `N<T>`, `E<L>(id)`, `V<T>({p: v})`, also of several types and for every value of a list.
import type { ElementKind, TypeRef } from '../../base/schema.js';
import type { Expression, Source } from '../../plan/expression.js';
import type { Argument, Call, ObjectLiteral } from '../syntax/ast-expression.js';
import type { Span } from '../syntax/source-file.js';
import type { ChainPosition, Context } from '../type/context.js';
import { listExpression, single } from '../type/load-conversion.js';
import { unknownExpr } from '../type/make-typed.js';
import type { Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import { sourceExpr } from '../type/stream.js';
import { isList, type TypedExpr, wholeType } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { comparable } from '../type/type-relation.js';
import { typeOfParameter } from '../type/parameter-type.js';
import { type ItemType, scalarType } from '../type/type.js';
import { expectArguments, isDeclared, typeArgument } from '../argument/call-argument.js';
import { readAs } from './step-compare.js';
import { identityArgument } from '../argument/argument-kind.js';
import { reportWrites } from './read-only.js';
import { checkLookup, elements, reportProperty } from './source-step.js';

const kindOf: Record<string, ElementKind> = { N: 'node', E: 'edge', V: 'vector' };

export function checkSelection(
  context: Context,
  call: Call,
  scope: Scope,
  position: ChainPosition,
): TypedExpr {
  const kind = kindOf[call.name.text]!;
  const types = call.types ?? [];
  const { args } = call;
  if (types.length === 0) {
    typeArgument(context, call, kind);
    return unknownExpr();
  }
  const declared = types.filter((name) => isDeclared(context, kind, name));
  // A type that is listed twice yields its elements once.
  const names = new Set(declared.map((name) => name.text));
  const refs = [...names].map((name): TypeRef => ({ kind, name }));
  const [type] = refs;
  if (type === undefined) {
    for (const arg of args ?? []) if (arg.value.kind !== 'object') context.check(arg.value, scope);
    return unknownExpr();
  }
  if (args === undefined) {
    const source: Source = { kind: 'scan', types: refs };
    context.sourceSpans.set(source.types, call.span);
    return sourceExpr(source, elements(refs), 'many');
  }
  const { rest, nulls } = withoutNulls(context, call);
  const [selector] = expectArguments(context, rest, 1, `${call.name.text}<${type.name}>(id)`) ?? [];
  if (selector === undefined) return unknownExpr();
  if (selector.kind === 'object') {
    const batch = checkBatch(context, refs, selector, scope, nulls);
    return batch ?? checkLookup(context, type, selector, scope, position);
  }
  if (nulls !== undefined) reportNulls(context, nulls.value.span);
  const id = identityArgument(context, selector, scope);
  if (id === undefined) return sourceExpr({ kind: 'scan', types: refs }, elements(refs), 'one');
  const { miss } = scope;
  const value = single(id, miss, `\`${call.name.text}<${type.name}>\``).expression;
  const others = refs.length > 1 ? { others: refs.slice(1) } : {};
  const source: Source = { kind: 'byId', type, ...others, id: value, miss };
  return sourceExpr(source, elements(refs), miss === 'none' ? 'opt' : 'one');
}

/** Removes `nulls: true` after an object. */
function withoutNulls(context: Context, call: Call): { rest: Call; nulls?: Argument } {
  const [first, nulls, ...more] = call.args ?? [];
  if (first?.value.kind !== 'object' || nulls === undefined || more.length > 0) {
    return { rest: call };
  }
  if (nulls.name?.text !== 'nulls') return { rest: call };
  const { value } = nulls;
  const rest = { ...call, args: [first] };
  if (value.kind === 'literal' && value.value.kind === 'boolean') {
    return value.value.value ? { rest, nulls } : { rest };
  }
  if (value.kind !== 'faulty') {
    const message = 'Whether misses are told as null is part of the query.';
    context.report('E717', value.span, message, 'Write `nulls: true`, or leave it out.');
  }
  return { rest };
}

function reportNulls(context: Context, span: Span): void {
  const message = '`nulls: true` needs `id` or a property with `UNIQUE INDEX` of one type.';
  context.report('E717', span, message, 'Declare `UNIQUE INDEX`.');
}

/** Checks a selection by a list of values, or of several types; returns undefined for an ordinary one. */
function checkBatch(
  context: Context,
  refs: readonly TypeRef[],
  selector: ObjectLiteral,
  scope: Scope,
  nulls: Argument | undefined,
): TypedExpr | undefined {
  const [member, extra] = selector.members;
  if (member === undefined || extra !== undefined) return undefined;
  const { name, value } = member;
  const declaring = refs.filter((ref) => context.schema.property(ref, name.text));
  const isId = declaring.length === 0 && name.text === 'id';
  if (declaring.length === 0 && !isId) {
    if (refs.length === 1) return undefined;
    reportProperty(context, refs[0]!, name);
    context.check(value, scope);
    return sourceExpr({ kind: 'scan', types: [...refs] }, elements(refs), 'lookup');
  }
  const property = isId ? undefined : context.schema.property(declaring[0]!, name.text)!;
  const declared = property ? typeOfParameter(property.type) : scalarType('ID');
  // The value is typed at most twice; its reports are kept once.
  const before = context.writes;
  const typed = bare(context, context.check(value, scope));
  const isBatch = declared.kind !== 'list' && typed.type.kind === 'list' && !isList(typed);
  // HelixQL 2 reads a list of rows as its only row here.
  const isMany = isBatch || ((isId || nulls !== undefined) && isList(typed));
  if (refs.length === 1 && !isMany && !isId && nulls === undefined) return undefined;
  if (context.writes > before) reportWrites(context, value.span);
  const types = isId ? [...refs] : declaring;
  const values = isMany
    ? checkList(context, typed, declared, value.span)
    : singletonList(context, typed, declared, value.span, scope);
  const isUnique = isId || (types.length === 1 && property?.index === 'unique');
  if (nulls !== undefined && (!isUnique || refs.length > 1)) reportNulls(context, nulls.value.span);
  const isSparse = nulls !== undefined;
  const source: Source = {
    kind: 'batch',
    types,
    property: name.text,
    values: values ?? { kind: 'list', items: [] },
    nulls: isSparse,
  };
  const sparse = isSparse ? ({ sparse: true } as const) : {};
  const items: ItemType = { kind: 'element', types, hit: 'none', ...sparse };
  return sourceExpr(source, items, isMany ? 'many' : 'lookup');
}

function misfit(context: Context, wanted: ItemType, typed: TypedExpr, span: Span): undefined {
  const [a, b] = [printItemType(wanted), printItemType(wholeType(typed))];
  context.report('E205', span, `${a} is needed here, not ${b}.`);
  return undefined;
}

function checkList(
  context: Context,
  typed: TypedExpr,
  declared: ItemType,
  span: Span,
): Expression | undefined {
  if (typed.items !== undefined) {
    const read = typed.items.map((item) => readAs(context, item, declared, span));
    if (read.includes('misfit')) return misfit(context, declared, typed, span);
    return read.includes(undefined) ? undefined : listExpression(read as Expression[]);
  }
  const item = isList(typed) ? typed.type : (typed.type as Extract<ItemType, { kind: 'list' }>).of;
  return comparable(declared, item) ? typed.expression : misfit(context, declared, typed, span);
}

/** Returns a list of one value. */
function singletonList(
  context: Context,
  typed: TypedExpr,
  declared: ItemType,
  span: Span,
  scope: Scope,
): Expression | undefined {
  const one = declared.kind === 'list' ? typed : single(typed, scope.miss, 'the value');
  const read = readAs(context, one, declared, span);
  if (read === 'misfit') return misfit(context, declared, typed, span);
  return read && { kind: 'list', items: [read] };
}
