// Checks RANGE, FIRST, COUNT, ORDER, DEDUP, ID, GROUP_BY and AGGREGATE_BY.
import { singleMember } from '../type/visible-member.js';
import type { Expression } from '../../plan/expression.js';
import type { Groups } from '../../plan/print-form.js';
import type { Call, Expr } from '../syntax/ast-expression.js';
import type { Name } from '../syntax/ast-literal.js';
import type { ChainPosition, Context, StepChecker } from '../type/context.js';
import { groupShape } from '../type/capture-shape.js';
import { toId, single } from '../type/load-conversion.js';
import { slotExpr, unknownExpr } from '../type/make-typed.js';
import { innerScope, type Scope } from '../type/scope.js';
import { bare, hasMembers, memberNames, findMember, printed } from '../type/shape.js';
import { checkReadOnly } from './read-only.js';
import { toItem } from './step-condition.js';
import { append, type Change, toRows } from '../type/stream.js';
import { didYouMean } from '../../base/did-you-mean.js';
import { isList, type TypedExpr, wholeType } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isInteger } from '../type/type-relation.js';
import { isUnknownOrNull, type ItemType, scalarType } from '../type/type.js';

export const many = ({ type, shape }: TypedExpr): Change => ({
  type,
  cardinality: 'many',
  ...(shape && { shape }),
});

/** Reports arguments or type arguments of a step that takes none. */
function plain(context: Context, call: Call): void {
  if (call.args === undefined && call.types === undefined) return;
  // An unreadable argument has been reported.
  if (call.args?.some(({ value }) => value.kind === 'faulty')) return;
  const name = call.name.text;
  const keys = name === 'DEDUP' ? ' or `DEDUP(_::{property})`' : '';
  const message = keys
    ? '`DEDUP` takes keys of the item, or nothing.'
    : `\`${name}\` takes no arguments.`;
  context.report('E305', call.span, message, `Write \`${name}\`${keys}.`);
}

export const checkRange: StepChecker = (context, input, call, scope) => {
  const from = toRows(input);
  const args = call.args ?? [];
  if (args.length !== 2) {
    const code = args.length === 1 ? 'E631' : 'E305';
    const bounds = args.length === 1 ? 'one bound' : `${args.length} bounds`;
    const message = `\`RANGE\` has ${bounds}; it takes two.`;
    context.report(code, call.span, message, 'Write `RANGE(0, 20)`: from 0, up to but without 20.');
    return { ...from, cardinality: 'many' };
  }
  const typedExprs = args.map((arg) => checkBound(context, arg.value, scope));
  const [start, end] = typedExprs.map((typed) => typed?.literal);
  if (start?.kind === 'integer' && end?.kind === 'integer' && end.value <= start.value) {
    context.report('W106', call.span, 'This range is always empty.');
  }
  if (typedExprs.includes(undefined)) return { ...from, cardinality: 'many' };
  const [low, high] = typedExprs as [TypedExpr, TypedExpr];
  const step = { kind: 'range', start: low.expression, end: high.expression } as const;
  return append(from, step, many(from));
};

function checkBound(context: Context, written: Expr, scope: Scope): TypedExpr | undefined {
  const typed = single(bare(context, context.check(written, scope)), scope.miss, '`RANGE`');
  const isNegative = typed.literal?.kind === 'integer' && typed.literal.value < 0;
  if ((isInteger(typed.type) || isUnknownOrNull(typed.type)) && !isNegative && !isList(typed))
    return typed;
  const got = isNegative ? 'a negative number' : printItemType(wholeType(typed));
  context.report('E633', written.span, `A bound is an integer from 0 up, not ${got}.`);
  return undefined;
}

export const checkFirst: StepChecker = (context, input, call) => {
  plain(context, call);
  const from = toRows(input);
  if (!isList(from)) return from;
  const { type, shape } = from;
  return append(from, { kind: 'first' }, { type, cardinality: 'opt', ...(shape && { shape }) });
};

/** COUNT before grouping changes nothing. For a list property, COUNT is the number of its items. */
export const checkCount: StepChecker = (context, input, call, _scope, position) => {
  plain(context, call);
  const following = position.chain.steps[position.next];
  if (following?.kind === 'call' && /^(GROUP|AGGREGATE)_BY$/.test(following.name.text))
    return input;
  const only = singleMember(input.shape);
  const isListValue = only !== undefined && wholeType(only).kind === 'list' && !isList(input);
  const { shape: _, ...items } = isListValue ? bare(context, input) : input;
  const from = toRows(items);
  return append(from, { kind: 'count' }, { type: scalarType('U64'), cardinality: 'one' });
};

/** With keys, keeps the first item for each combination of their values. */
export const checkDedup: StepChecker = (context, input, call, scope) => {
  const from = toRows(input);
  const args = call.args ?? [];
  const isKeyed = args.length > 0 && call.types === undefined;
  if (!isKeyed || args.some(({ name }) => name !== undefined)) {
    plain(context, call);
    return append(from, { kind: 'dedup' }, many(from));
  }
  const slot = context.fresh();
  const item = { ...toItem(from), ...slotExpr(slot, from.type) };
  const inner = innerScope(scope, { item, miss: 'none' });
  const keys = args.map(({ value }) => {
    return printed(context, checkReadOnly(context, value, inner)).expression;
  });
  return append(from, { kind: 'dedup', by: { slot, keys } }, many(from));
};

export const checkId: StepChecker = (context, input, call) => {
  plain(context, call);
  const from = toRows(input);
  const { shape: _, ...items } = from;
  if (from.type.kind === 'element' || isUnknownOrNull(from.type)) return toId(context, items);
  const isRecord = from.type.kind === 'record' && from.type.members.has('id');
  if (isRecord && !isList(from)) return findMember(context, items, 'id')!;
  context.report('E601', call.name.span, `${printItemType(from.type)} has no id.`);
  return unknownExpr();
};

export const checkGroup: StepChecker = (context, input, call, _scope, position) => {
  const from = toRows(input);
  const data = call.name.text === 'AGGREGATE_BY';
  const names = groupNames(context, call);
  if (names === undefined) return unknownExpr();
  const slot = context.fresh();
  const item = { ...toItem(from), ...slotExpr(slot, from.type) };
  if (!hasMembers(from.type)) {
    const message = `${printItemType(from.type)} has no properties to group by.`;
    context.report('E601', call.name.span, message);
    return unknownExpr();
  }
  reportRepeated(context, names);
  const keys = names.map((name) => groupKey(context, item, name, data));
  const members = new Map<string, ItemType>(keys.map((key) => [key.name, key.type]));
  if (data) members.clear();
  members.set('count', scalarType('U64'));
  const shaped = from.shape === undefined ? undefined : printed(context, item);
  const type = shaped ? wholeType(shaped) : from.type;
  if (data) members.set('data', { kind: 'list', of: type });
  // Elements stay elements; their shape is stored separately.
  const isShapedElement = from.shape !== undefined && from.type.kind === 'element';
  const own = isShapedElement ? groupShape(context, from.shape!) : undefined;
  const step = {
    kind: 'group',
    slot,
    keys: keys.map(({ name, value }) => ({ name, value })),
    data,
    ...(shaped && (data || !own) ? { shape: shaped.expression } : {}),
    ...(own && data ? { rows: true as const } : {}),
    ...(own?.keep && { keep: own.keep }),
  } as const;
  const items = own
    ? ({ type: from.type, name: data ? '#rows' : 'data', shape: own.shape } as const)
    : ({ type, name: 'data' } as const);
  const hidden = new Map<string, ItemType>(data ? keys.map((key) => [key.name, key.type]) : []);
  const groups: Groups = { word: followsCount(position) ? 'Count' : 'Group', data };
  return append(from, step, {
    type: { kind: 'record', members, groups, hidden, items },
    cardinality: 'many',
  });
};

/** Returns true if the current step is written `COUNT::GROUP_BY`. */
function followsCount({ chain, next }: ChainPosition): boolean {
  const before = chain.steps[next - 2];
  return before?.kind === 'call' && before.name.text === 'COUNT';
}

function groupNames(context: Context, call: Call): Name[] | undefined {
  const names: Name[] = [];
  const form = `${call.name.text}(property, …)`;
  for (const { name, value } of call.args ?? []) {
    const isPath = value.kind === 'chain' && value.head.kind === 'path';
    const path = isPath && value.steps.length === 0 ? value.head : undefined;
    if (name === undefined && path?.kind === 'path' && path.names.length === 1) {
      names.push(path.names[0]);
    } else {
      const hint = `Write \`${form}\`.`;
      context.report('E206', value.span, 'Only names of properties stand here.', hint);
      return undefined;
    }
  }
  const namesMax = context.limits.group_properties;
  if (names.length === 0) {
    context.report('E305', call.span, `\`${call.name.text}\` needs a name.`, `Write \`${form}\`.`);
  } else if (names.length > namesMax) {
    const message = `${names.length} names to group by; ${namesMax} at most.`;
    context.report('E005', call.span, message, 'The limit is `limits.group_properties`.');
  } else {
    return names;
  }
  return undefined;
}

function reportRepeated(context: Context, names: readonly Name[]): void {
  const seen = new Set<string>();
  for (const { text, span } of names) {
    if (seen.has(text))
      context.report('E702', span, `\`${text}\` stands here twice.`, 'Remove one.');
    seen.add(text);
  }
}

function groupKey(
  context: Context,
  item: TypedExpr,
  name: Name,
  data: boolean,
): { name: string; value: Expression; type: ItemType } {
  const isTaken = name.text === 'count' && !data;
  if (isTaken) {
    const message = '`count` is the number of items of each group.';
    context.report('E702', name.span, message, 'Rename the property in a projection before.');
  }
  const key = { name: name.text };
  const nothing = unknownExpr();
  const member = isTaken ? nothing : findMember(context, item, name.text);
  if (member !== undefined) {
    const value = printed(context, member);
    return { ...key, value: value.expression, type: wholeType(value) };
  }
  const message = `There is no property \`${name.text}\` here.`;
  const names = memberNames(context, item);
  context.report('E202', name.span, message, didYouMean(name.text, names));
  return { ...key, value: nothing.expression, type: nothing.type };
}
