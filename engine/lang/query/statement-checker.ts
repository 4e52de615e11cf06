// Checks statements with their scopes: bindings, effects, DROP and FOR.
import { singleMember } from '../type/visible-member.js';
import { unreachable } from '../../base/assert.js';
import type { Statement as PlanStatement } from '../../plan/plan.js';
import type { Name } from '../syntax/ast-literal.js';
import type { Statement } from '../syntax/ast-query.js';
import type { Context } from '../type/context.js';
import { captureExpr } from '../type/capture-shape.js';
import { slotExpr, unknownExpr, valueExpr } from '../type/make-typed.js';
import { checkName, isWord } from '../schema/parameter-checker.js';
import { findName, innerScope, type Scope } from '../type/scope.js';
import { bare, hasMembers, memberNames, findMember } from '../type/shape.js';
import { toItem } from '../step/step-condition.js';
import { toRows, sourceExpr } from '../type/stream.js';
import { didYouMean } from '../../base/did-you-mean.js';
import { checkDropped } from '../step/drop-target.js';
import { isList, type TypedExpr, wholeType } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isUnknownOrNull } from '../type/type.js';

type For = Extract<Statement, { kind: 'for' }>;

/** Checks statements in order; bindings are added to `scope`. */
export function checkStatements(
  context: Context,
  statements: readonly Statement[],
  scope: Scope,
): PlanStatement[] {
  return statements.flatMap((statement) => checkStatement(context, statement, scope) ?? []);
}

function checkStatement(
  context: Context,
  statement: Statement,
  scope: Scope,
): PlanStatement | undefined {
  switch (statement.kind) {
    case 'bind':
      return checkBinding(context, statement, scope);
    case 'effect': {
      const before = context.writes;
      const { expression, type } = context.check(statement.value, scope);
      // An unknown expression has been reported.
      if (context.writes === before && !isUnknownOrNull(type)) {
        const message = 'This statement changes nothing and its value is not used.';
        context.report('W115', statement.value.span, message, 'Bind it: `x <- …`.');
      }
      return { kind: 'effect', value: expression };
    }
    case 'drop':
      return { kind: 'drop', value: checkDropped(context, statement.value, scope) };
    case 'for':
      return checkLoop(context, statement, scope);
    default:
      return unreachable(statement);
  }
}

function checkBinding(
  context: Context,
  { name, value }: Extract<Statement, { kind: 'bind' }>,
  scope: Scope,
): PlanStatement | undefined {
  const { typed, keep } = captureExpr(context, context.check(value, scope));
  if (!checkName(context, name, scope)) return undefined;
  const slot = context.fresh();
  const { type, cardinality, shape, uniqueLookup } = typed;
  context.bound.set(slot, typed.expression);
  scope.names.set(name.text, {
    type,
    cardinality,
    expression: { kind: 'slot', slot },
    ...(shape && { shape }),
    ...(uniqueLookup && { uniqueLookup }),
  });
  return { kind: 'bind', slot, value: typed.expression, ...(keep && { keep }) };
}

function checkLoop(context: Context, loop: For, scope: Scope): PlanStatement {
  const written = context.check(loop.in, scope);
  // A loop over values reads the values themselves; destructuring may need the elements.
  const isValue = !loop.destructured && singleMember(written.shape) !== undefined;
  const looped = toRows(isValue ? bare(context, written) : written);
  const { typed: list, keep } = captureExpr(context, looped);
  // [compat] A selection that is a list here is one element in HelixDB; both can be looped over.
  const isRow = context.compat && list.type.kind === 'element';
  if (!isList(list) && !isUnknownOrNull(list.type) && !isRow) {
    const message = `\`FOR\` runs over lists; this is ${printItemType(wholeType(list))}.`;
    context.report('E651', loop.in.span, message);
  }
  const inner = innerScope(scope);
  const rows = { kind: 'value', of: list.expression } as const;
  const within =
    isRow && !isList(list) ? sourceExpr(rows, list.type, 'many').expression : list.expression;
  const prelude: PlanStatement[] = [];
  const bound = bindItems(
    context,
    loop,
    { ...list, known: written.known === true },
    inner,
    prelude,
  );
  const { slots, members } = bound;
  const heading = { slots, ...(members && { members }), in: within };
  if (written.known) context.loops.push(heading);
  const body = [...prelude, ...checkStatements(context, loop.body, inner)];
  if (written.known) context.loops.pop();
  return { kind: 'for', ...heading, ...(keep && { keep }), body };
}

/** Binds the names of the loop for one item of `list`. */
function bindItems(
  context: Context,
  loop: For,
  list: TypedExpr,
  scope: Scope,
  prelude: PlanStatement[],
): { slots: number[]; members?: string[] } {
  const { known } = list;
  const item = (slot: number): TypedExpr => {
    const typed = { ...toItem(list), ...valueExpr(list.type, { kind: 'slot', slot }) };
    return known ? { ...typed, known } : typed;
  };
  if (!loop.destructured) {
    const slot = context.fresh();
    bindLoopName(context, loop.names[0]!, item(slot), scope);
    return { slots: [slot] };
  }
  if (!hasMembers(list.type)) {
    const message = `The items are ${printItemType(list.type)} and have no members.`;
    const name = loop.names[0]!;
    context.report('E653', name.span, message, `Write \`FOR ${name.text} IN …\`.`);
    for (const other of loop.names) bindLoopName(context, other, unknownExpr(), scope);
    return { slots: [context.fresh()] };
  }
  if (list.shape !== undefined) {
    const slot = context.fresh();
    for (const name of loop.names) bindShaped(context, name, item(slot), scope, prelude);
    return { slots: [slot] };
  }
  const slots = loop.names.map((name) => {
    const slot = context.fresh();
    const member = loopMember(context, name, item(slot));
    const typed = valueExpr(wholeType(member), { kind: 'slot', slot });
    bindLoopName(context, name, known ? { ...typed, known } : typed, scope);
    return slot;
  });
  return { slots, members: loop.names.map((name) => storedMember(name.text)) };
}

const storedMember = (name: string): string => (name === 'ID' ? 'id' : name);

/** A member of a shaped item is computed at the start of each round. */
function bindShaped(
  context: Context,
  name: Name,
  item: TypedExpr,
  scope: Scope,
  prelude: PlanStatement[],
): void {
  const member = loopMember(context, name, item);
  const slot = context.fresh();
  prelude.push({ kind: 'bind', slot, value: member.expression });
  const { expression } = slotExpr(slot, member.type);
  bindLoopName(context, name, { ...member, expression, growing: false }, scope);
}

function loopMember(context: Context, name: Name, item: TypedExpr): TypedExpr {
  const member = findMember(context, item, name.text);
  if (member !== undefined) return member;
  const names = memberNames(context, item);
  const known = names.length > 0 ? `There are ${names.slice(0, 12).join(', ')}.` : undefined;
  const message = `The items have no member \`${name.text}\`.`;
  context.report('E652', name.span, message, didYouMean(name.text, names, known));
  return unknownExpr();
}

function bindLoopName(context: Context, name: Name, typed: TypedExpr, scope: Scope): void {
  if (isWord(name.text)) {
    const message = `\`${name.text}\` cannot be the name of a value.`;
    context.report('E105', name.span, message, 'Rename it.');
  } else if (scope.names.has(name.text)) {
    context.report('E302', name.span, `\`${name.text}\` is bound already.`, 'Rename one.');
  } else if (findName(scope, name.text) !== undefined) {
    const message = `\`${name.text}\` hides the name outside.`;
    context.report('W107', name.span, message, 'Rename it.');
  }
  scope.names.set(name.text, typed);
}
