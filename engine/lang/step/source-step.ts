// Checks sources: scans, selections by id and by property, vector and keyword searches.
import type { ElementType, TypeRef } from '../../base/schema.js';
import type { Expression, Source } from '../../plan/expression.js';
import { typeArgument } from '../argument/call-argument.js';
import { parentArgument } from '../argument/parent-argument.js';
import { searchArguments } from '../argument/named-argument.js';
import type { Argument, Call, ObjectLiteral } from '../syntax/ast-expression.js';
import type { Name } from '../syntax/ast-literal.js';
import { readAs, warnConstant } from './step-compare.js';
import { isJson } from '../type/type-relation.js';
import type { ChainPosition, Context } from '../type/context.js';
import { single } from '../type/load-conversion.js';
import { unknownExpr } from '../type/make-typed.js';
import {
  resultCount,
  scoreArgument,
  vectorArgument,
  widthArgument,
} from '../argument/argument-kind.js';
import type { Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import { sourceExpr } from '../type/stream.js';
import { didYouMean } from '../../base/did-you-mean.js';
import { isSearchMode, searchModes } from '../../base/text/search-mode.js';
import { type TypedExpr, wholeType } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { typeOfParameter } from '../type/parameter-type.js';
import { type Hit, isBasic, type ItemType } from '../type/type.js';

export const elements = (types: readonly TypeRef[], hit: Hit = 'none'): ItemType => ({
  kind: 'element',
  types,
  hit,
});

/** Selects the elements of one type whose named property has a value. */
export function checkLookup(
  context: Context,
  type: TypeRef,
  selector: ObjectLiteral,
  scope: Scope,
  position: ChainPosition,
): TypedExpr {
  const items = elements([type]);
  const [member, extra] = selector.members;
  if (member === undefined || extra !== undefined) {
    const hint = 'Write `{property: value}`, and `::WHERE(…)` for more.';
    context.report('E305', selector.span, 'A selection names exactly one property.', hint);
    return sourceExpr({ kind: 'scan', types: [type] }, items, 'lookup');
  }
  const property = context.schema.property(type, member.name.text);
  if (property === undefined) {
    reportProperty(context, type, member.name);
    context.check(member.value, scope);
    return sourceExpr({ kind: 'scan', types: [type] }, items, 'lookup');
  }
  const declared = typeOfParameter(property.type);
  if (isJson(declared)) {
    const hint = `Write \`N<${type.name}>::WHERE(_::{${property.name}}::GET("a.b")::EQ(x))\`.`;
    const message = `\`${property.name}\` is a Json, by which nothing is selected.`;
    context.report('E747', member.name.span, message, hint);
    return sourceExpr({ kind: 'scan', types: [type] }, items, 'lookup');
  }
  const value = lookupValue(context, declared, member, scope);
  const { index } = property;
  const first = index === 'unique' || (context.compat && index === 'index');
  // A selection before an upsert in the same chain may find nothing: the upsert then creates an element.
  const miss = upserts(position) ? 'none' : scope.miss;
  const source: Source = { kind: 'lookup', type, property: property.name, value, first, miss };
  context.sourceSpans.set(source, selector.span);
  const cardinality = !first ? 'lookup' : miss === 'none' ? 'opt' : 'one';
  const typed = sourceExpr(source, items, cardinality);
  if (index === 'unique') typed.uniqueLookup = true;
  return typed;
}

function lookupValue(
  context: Context,
  declared: ItemType,
  member: ObjectLiteral['members'][number],
  scope: Scope,
): Expression {
  const typed = bare(context, context.check(member.value, scope));
  const nothing: Expression = { kind: 'literal', value: null };
  const isArray = declared.kind === 'list';
  const one = isArray ? typed : single(typed, scope.miss, `\`${member.name.text}\``);
  const value = readAs(context, one, declared, member.value.span);
  if (value === 'misfit') {
    const [wanted, got] = [printItemType(declared), printItemType(wholeType(typed))];
    context.report('E205', member.value.span, `\`${member.name.text}\` is ${wanted}, not ${got}.`);
    return nothing;
  }
  const call: Call = { kind: 'call', name: member.name, span: member.value.span };
  warnConstant(context, { ...one, type: declared }, one, call);
  return value ?? nothing;
}

export function reportProperty(context: Context, type: TypeRef, name: Name): void {
  const names = (context.schema.find(type.kind, type.name)?.properties ?? []).map((p) => p.name);
  const message = `\`${type.name}\` has no property \`${name.text}\`.`;
  const known = names.length > 0 ? `It has ${names.slice(0, 12).join(', ')}.` : 'It has none.';
  context.report('E202', name.span, message, didYouMean(name.text, names, known));
}

function upserts(position: ChainPosition): boolean {
  return position.chain.steps.some(
    (step) => step.kind === 'call' && /^Upsert[NV]$/.test(step.name.text),
  );
}

/** Checks `SearchV<T>(vector, k, min_score: s, ef: n)`. */
export function checkVectorSearch(context: Context, call: Call, scope: Scope): TypedExpr {
  const type = typeArgument(context, call, 'vector');
  const known = ['min_score', 'ef', 'by'];
  const { positional, named } = searchArguments(context, call, known, 'SearchV<Type>(vector, k)');
  const [written, count] = positional ?? [];
  const vector = written && vectorArgument(context, written, scope, type?.text ?? '', true);
  const k = count && resultCount(context, count, scope);
  const options = {
    ...scoreArgument(context, named, scope),
    ...widthArgument(context, named, scope),
  };
  if (type === undefined) return unknownExpr();
  const ref: TypeRef = { kind: 'vector', name: type.text };
  const { items, by } = parentArgument(context, named, elements([ref], 'vector'), scope);
  if (vector === undefined || k === undefined) {
    return sourceExpr({ kind: 'scan', types: [ref] }, items, 'many');
  }
  const source: Source = { kind: 'searchVector', type: type.text, vector, k, ...options, ...by };
  return sourceExpr(source, items, 'many');
}

/**
 * Checks `SearchBM25<T>(text, k, mode: m, prefix: b, min_score: s)`, where T is a node type, otherwise a
 * vector type.
 */
export function checkTextSearch(context: Context, call: Call, scope: Scope): TypedExpr {
  const name = call.types?.[0];
  const isVector =
    name !== undefined &&
    context.schema.find('node', name.text) === undefined &&
    context.schema.find('vector', name.text) !== undefined;
  const kind: ElementType['kind'] = isVector ? 'vector' : 'node';
  const type = typeArgument(context, call, kind);
  const { positional, named } = searchArguments(
    context,
    call,
    ['mode', 'prefix', 'min_score', 'by'],
    'SearchBM25<Type>(text, k)',
  );
  const [written, count] = positional ?? [];
  const k = count && resultCount(context, count, scope);
  const text = written && textArgument(context, written, scope);
  const lowest = scoreArgument(context, named, scope);
  const mode = modeArgument(context, named, scope);
  if (type === undefined) return unknownExpr();
  const ref: TypeRef = { kind, name: type.text };
  const { items, by } = parentArgument(context, named, elements([ref], 'text'), scope);
  const options = { ...lowest, ...mode, ...prefixArgument(context, ref, named, scope) };
  if (text === undefined || k === undefined) {
    return sourceExpr({ kind: 'scan', types: [ref] }, items, 'many');
  }
  const source: Source = { kind: 'searchText', type: ref, text, k, ...options, ...by };
  return sourceExpr(source, items, 'many');
}

function modeArgument(
  context: Context,
  named: ReadonlyMap<string, Argument>,
  scope: Scope,
): { mode?: Expression } {
  const arg = named.get('mode');
  if (arg === undefined) return {};
  const typed = single(bare(context, context.check(arg.value, scope)), scope.miss, '`mode`');
  const { literal } = typed;
  if (literal?.kind === 'string' && !isSearchMode(literal.value)) {
    const hint = `There are ${searchModes.map((mode) => `"${mode}"`).join(', ')}.`;
    context.report('E206', arg.value.span, `"${literal.value}" is no mode.`, hint);
  } else if (!isBasic(wholeType(typed), 'String') && !isBasic(wholeType(typed), 'Null')) {
    const type = printItemType(wholeType(typed));
    context.report('E205', arg.value.span, `A mode is a String, not ${type}.`);
  }
  return { mode: typed.expression };
}

function prefixArgument(
  context: Context,
  ref: TypeRef,
  named: ReadonlyMap<string, Argument>,
  scope: Scope,
): { prefix?: Expression } {
  const arg = named.get('prefix');
  if (arg === undefined) return {};
  const typed = single(bare(context, context.check(arg.value, scope)), scope.miss, '`prefix`');
  const type = wholeType(typed);
  const properties = context.schema.find(ref.kind, ref.name)?.properties ?? [];
  if (!isBasic(type, 'Boolean') && !isBasic(type, 'Null')) {
    const message = `\`prefix\` is a Boolean, not ${printItemType(type)}.`;
    context.report('E205', arg.value.span, message);
  } else if (!properties.some(({ search }) => search?.prefix === true)) {
    const message = `\`${ref.name}\` keeps no beginnings of words.`;
    const hint = 'Write `SEARCH(prefix: true)` in front of a property of the type.';
    context.report('E745', arg.value.span, message, hint);
  }
  return { prefix: typed.expression };
}

function textArgument(
  context: Context,
  written: NonNullable<Call['args']>[number]['value'],
  scope: Scope,
): Expression | undefined {
  const typed = single(bare(context, context.check(written, scope)), scope.miss, 'the text');
  if (isBasic(wholeType(typed), 'String') || isBasic(wholeType(typed), 'Null')) {
    return typed.expression;
  }
  const type = printItemType(wholeType(typed));
  context.report('E205', written.span, `The text is a String, not ${type}.`);
  return undefined;
}
