// Checks PAGE: the next items after a position, in the order of the preceding ORDER and then of their ids.
// The ORDER becomes part of the step, so that the whole list need not be sorted.
import type { Expression, Step } from '../../plan/expression.js';
import type { Call, Expr } from '../syntax/ast-expression.js';
import type { ChainPosition, Context, StepChecker } from '../type/context.js';
import { single } from '../type/load-conversion.js';
import { slotExpr, unknownExpr } from '../type/make-typed.js';
import type { Scope } from '../type/scope.js';
import { bare, printed, projected } from '../type/shape.js';
import { append, toRows } from '../type/stream.js';
import { type TypedExpr, wholeType } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isInteger } from '../type/type-relation.js';
import { isBasic, isUnknownOrNull, type ItemType, scalarType } from '../type/type.js';
import { expectArguments } from '../argument/call-argument.js';
import { checkReadOnly } from './read-only.js';
import { toItem } from './step-condition.js';

type SortKey = Extract<Step, { kind: 'order' }>['keys'][number];

const form = 'PAGE(20, after)';

export const checkPage: StepChecker = (context, input, call, scope, position) => {
  const from = toRows(input);
  const args = (call.args ?? []).length === 1 ? 1 : 2;
  const [first, second] = expectArguments(context, call, args, form) ?? [];
  if (refuseStepAfter(context, call, position)) return unknownExpr();
  if (first === undefined || isUnknownOrNull(from.type)) return unknownExpr();
  const { type } = from;
  if (type.kind !== 'element' || type.hit !== 'none') {
    const what = type.kind === 'element' ? 'hits' : printItemType(type);
    const message = `\`PAGE\` needs elements with an order of their own, not ${what}.`;
    context.report('E714', call.name.span, message, 'Cut with `RANGE(0, 20)`.');
    return unknownExpr();
  }
  const count = checkPageCount(context, first, scope);
  const after = second && checkPosition(context, second, scope);
  if (count === undefined) return unknownExpr();
  const { rest, slot, keys } = takeOrder(context, from);
  const item = { ...toItem(from), ...slotExpr(slot, type) };
  // Shaped as RETURN prints them.
  const shaped = from.shape && (context.compat ? printed(context, item) : projected(context, item));
  const step: Step = {
    kind: 'page',
    slot,
    keys,
    order: orderText(type, keys),
    count,
    after: after ?? null,
    ...(shaped && { shape: shaped.expression }),
  };
  const items: ItemType = { kind: 'list', of: shaped ? wholeType(shaped) : type };
  const members = new Map([
    ['items', items],
    ['next', scalarType('String')],
  ]);
  return append(rest, step, { type: { kind: 'record', members }, cardinality: 'one' });
};

/** Reports a step after PAGE that is not a projection of it; returns true after a report. */
function refuseStepAfter(
  context: Context,
  { name }: Call,
  { chain, next }: ChainPosition,
): boolean {
  const step = chain.steps[next];
  if (step?.kind !== 'call') return false;
  if (/^(items|next)$/.test(step.name.text) && !step.args && !step.types) return false;
  const message = `\`${step.name.text}\` cannot follow \`${name.text}\`: a page is a record.`;
  const hint = 'Take the step first, then the page; `::{items, next}` may follow.';
  context.report('E714', step.name.span, message, hint);
  return true;
}

function checkPageCount(context: Context, written: Expr, scope: Scope): Expression | undefined {
  const typed = single(bare(context, checkReadOnly(context, written, scope)), scope.miss, '`PAGE`');
  const type = wholeType(typed);
  if (isInteger(type) || isUnknownOrNull(type)) return typed.expression;
  const message = `The number of items is an integer, not ${printItemType(type)}.`;
  context.report('E205', written.span, message, `Write \`${form}\`.`);
  return undefined;
}

function checkPosition(context: Context, written: Expr, scope: Scope): Expression | undefined {
  const typed = single(bare(context, checkReadOnly(context, written, scope)), 'none', '`PAGE`');
  const type = wholeType(typed);
  if (isBasic(type, 'String') || isUnknownOrNull(type)) return typed.expression;
  const message = `A position is the String \`next\` of the page before, not ${printItemType(type)}.`;
  context.report('E205', written.span, message, 'Declare `after?: String`.');
  return undefined;
}

interface Ordered {
  /** The stream without its ORDER, with duplicates removed. */
  rest: TypedExpr;
  slot: number;
  keys: SortKey[];
}

/** Removes the ORDER directly before the page, or before conditions. */
function takeOrder(context: Context, from: TypedExpr): Ordered {
  const { expression } = from;
  const steps = expression.kind === 'pipeline' ? expression.steps : [];
  const at = steps.findLastIndex(({ kind }) => kind !== 'where');
  const order = steps[at];
  const isOrdered = expression.kind === 'pipeline' && order?.kind === 'order';
  const rest = isOrdered
    ? { ...from, expression: { ...expression, steps: steps.toSpliced(at, 1) } }
    : from;
  const distinct = isDistinct(rest.expression)
    ? rest
    : append(rest, { kind: 'dedup' }, { ...rest, cardinality: 'many' });
  if (!isOrdered) return { rest: distinct, slot: context.fresh(), keys: [] };
  return { rest: distinct, slot: order.slot, keys: order.keys };
}

/** Returns true for elements of a type that cannot contain duplicates. */
function isDistinct(expression: Expression): boolean {
  if (expression.kind !== 'pipeline') return false;
  const { source, steps } = expression;
  const isOf = source.kind === 'scan' || source.kind === 'lookup' || source.kind === 'byId';
  return isOf && steps.every(({ kind }) => kind === 'where' || kind === 'dedup');
}

/** Returns types, keys, directions and null positions as text, independent of slot numbers. */
function orderText(type: ItemType, keys: readonly SortKey[]): string {
  const slots = new Map<unknown, number>();
  const numbered = (slot: unknown): number => {
    const known = slots.get(slot) ?? slots.size;
    slots.set(slot, known);
    return known;
  };
  const names =
    type.kind === 'element' ? type.types.map(({ kind, name }) => `${kind} ${name}`) : [];
  return JSON.stringify([names.sort(), keys], (name, value: unknown) => {
    if (name === 'slot' || name === 'key') return numbered(value);
    return typeof value === 'bigint' ? `${value}n` : value;
  });
}
