// Checks ORDER by one or more keys, each with its direction and the position of nulls.
import type { Expression, Step } from '../../plan/expression.js';
import type { Argument, Call } from '../syntax/ast-expression.js';
import type { Context, StepChecker } from '../type/context.js';
import { slotExpr } from '../type/make-typed.js';
import { innerScope, type Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import { append, toRows } from '../type/stream.js';
import { isList, type TypedExpr } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isUnknownOrNull } from '../type/type.js';
import { expectArguments } from '../argument/call-argument.js';
import { refuseWrites } from './read-only.js';
import { toItem } from './step-condition.js';
import { many } from './step-order.js';

type SortKey = Extract<Step, { kind: 'order' }>['keys'][number];

const form = 'ORDER<Asc>(_::{property})';

export const checkOrder: StepChecker = (context, input, call, scope) => {
  const from = toRows(input);
  const directions = readDirections(context, call);
  const args = call.args ?? [];
  const isMany = args.length > 0 && args.every(({ name }) => name === undefined);
  if (!isMany) {
    expectArguments(context, call, 1, form);
    return append(from, { kind: 'dedup' }, many(from));
  }
  if (directions.length > 1 && directions.length !== args.length) {
    const message = `\`ORDER\` has ${directions.length} directions and ${args.length} keys.`;
    const hint = 'As many directions as keys, or one for all.';
    context.report('E305', call.span, message, hint);
  }
  const slot = context.fresh();
  const item = { ...toItem(from), ...slotExpr(slot, from.type) };
  const inner = innerScope(scope, { item, miss: 'none' });
  const isPlain =
    args.length === 1 && call.nulls?.every((position) => position === undefined) !== false;
  const keys = args.map((arg, i): SortKey => {
    const direction = directions[i] ?? directions[0];
    const nothing = { descending: false, nullsFirst: false };
    const check = () => checkKey(context, arg, inner);
    const value = isPlain ? check() : refuseWrites(context, arg.value.span, check);
    return { value, ...(direction ?? nothing) };
  });
  return append(from, { kind: 'order', slot, keys }, many(from));
};

function readDirections(context: Context, call: Call): Omit<SortKey, 'value'>[] {
  const { types, nulls = [] } = call;
  const faulty = types?.find(({ text }) => text !== 'Asc' && text !== 'Desc');
  if (types === undefined || types.length === 0 || faulty !== undefined) {
    const code = types === undefined ? 'E305' : 'E206';
    const message = '`ORDER` takes a direction, `<Asc>` or `<Desc>`.';
    context.report(code, faulty?.span ?? call.name.span, message, `Write \`${form}\`.`);
  }
  const position = nulls.find((each) => each && each.text !== 'FIRST' && each.text !== 'LAST');
  if (position !== undefined) {
    context.report('E206', position.span, '`NULLS` come `FIRST` or `LAST`.');
  }
  return (types ?? []).map(({ text }, i) => ({
    descending: text === 'Desc',
    nullsFirst: nulls[i]?.text === 'FIRST',
  }));
}

function checkKey(context: Context, { value }: Argument, scope: Scope): Expression {
  const key = bare(context, context.check(value, scope));
  if (key.type.kind === 'record' || (key.type.kind === 'element' && !isUnknownOrNull(key.type))) {
    const message = `A key is a scalar, not ${printItemType(key.type)}.`;
    context.report('E205', value.span, message, 'Order by a property: `_::{p}`.');
  }
  return isList(key) ? firstItem(key) : key.expression;
}

/** A key that is a list counts as its first item. */
function firstItem(key: TypedExpr): Expression {
  return append(key, { kind: 'first' }, { type: key.type, cardinality: 'opt' }).expression;
}
