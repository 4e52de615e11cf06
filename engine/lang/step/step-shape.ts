// Checks shape steps: projections, closures, exclusions, and a bare property name as a step.
import { isHiddenMember } from '../type/visible-member.js';
import type { Expression } from '../../plan/expression.js';
import type { Chain, Path, ProjectionItem, Step } from '../syntax/ast-expression.js';
import type { Name } from '../syntax/ast-literal.js';
import type { Context } from '../type/context.js';
import { type Let, withLets } from '../type/lets.js';
import { slotExpr, unknownExpr } from '../type/make-typed.js';
import { checkName, refuseWord } from '../schema/parameter-checker.js';
import { findName, innerScope, type Scope, visibleNames } from '../type/scope.js';
import { hasMembers, memberNames, findMember, projected } from '../type/shape.js';
import { refuseWrites } from './read-only.js';
import { toItem } from './step-condition.js';
import { toRows } from '../type/stream.js';
import { didYouMean } from '../../base/did-you-mean.js';
import { foreignStep } from '../syntax/dialect-hints.js';
import { isList, type Shape, type ShapeMember, type TypedExpr } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isUnknownOrNull } from '../type/type.js';

type ProjectionStep = Exclude<Step, { kind: 'call' }>;

/** Attaches the shape of a `::{…}`, `::|u|{…}` or `::!{…}`. */
export function checkShape(
  context: Context,
  input: TypedExpr,
  step: ProjectionStep,
  scope: Scope,
): TypedExpr {
  const { span } = step;
  // The items of a list of scalars have no members.
  const from = input.type.kind === 'list' && !isList(input) ? toRows(input) : input;
  const canExclude = from.type.kind === 'element' || isUnknownOrNull(from.type);
  if (!hasMembers(from.type) || (step.kind === 'exclusion' && !canExclude)) {
    const message = `${printItemType(from.type)} has no members to project.`;
    const [only] = step.kind === 'projection' ? step.items : [];
    const foreign = only?.kind === 'member' ? foreignStep(only.name.text) : undefined;
    context.report('E203', span, message, foreign ?? 'Project before taking the value.');
    return unknownExpr();
  }
  const slot = context.fresh();
  const item = { ...toItem(from), ...slotExpr(slot, from.type) };
  if (step.kind === 'exclusion') {
    const members = excluded(context, item, step.names);
    return { ...from, shape: { slot, form: 'exclusion', members, span } };
  }
  const inner = innerScope(scope, { item, miss: 'none' });
  if (step.closure !== undefined) bindClosure(context, inner, step.closure, item);
  const members = projectionMembers(context, item, step.items, inner);
  const form = step.closure === undefined ? 'projection' : 'closure';
  return { ...from, shape: { slot, form, members, span } };
}

/** Checks `x::p`, short for `x::{p}`. It may be a misspelled name in `steps`. */
export function checkProperty(
  context: Context,
  input: TypedExpr,
  name: Name,
  scope: Scope,
  steps: Iterable<string>,
): TypedExpr {
  const isMember = !hasMembers(input.type) || findMember(context, toItem(input), name.text);
  if (!isMember) return reportMember(context, toItem(input), name, steps, scope.lenient, true);
  const items: ProjectionItem[] = [{ kind: 'member', name }];
  const step: ProjectionStep = { kind: 'projection', items, span: name.span };
  return checkShape(context, input, step, scope);
}

/** Returns true if the items certainly have a member of this name. */
export function hasMember(context: Context, input: TypedExpr, name: string): boolean {
  if (!hasMembers(input.type) || isUnknownOrNull(input.type)) return false;
  return findMember(context, toItem(input), name) !== undefined;
}

function bindClosure(context: Context, scope: Scope, name: Name, item: TypedExpr): void {
  if (!refuseWord(context, name) && findName(scope, name.text) !== undefined) {
    context.report('W107', name.span, `\`${name.text}\` hides the name outside.`, 'Rename it.');
  }
  scope.names.set(name.text, item);
}

function excluded(context: Context, item: TypedExpr, names: Name[]): ShapeMember[] {
  const except = new Set<string>();
  for (const { text, span } of names) {
    const name = text === 'ID' ? 'id' : text;
    if (except.has(name)) {
      context.report('E643', span, `\`${text}\` is excluded twice.`);
    } else if (
      findMember(context, { ...item, shape: undefined } as TypedExpr, name) === undefined
    ) {
      reportMember(context, item, { text, span });
    }
    except.add(name);
  }
  return [{ kind: 'spread', except: [...except] }];
}

function projectionMembers(
  context: Context,
  item: TypedExpr,
  items: ProjectionItem[],
  scope: Scope,
): ShapeMember[] {
  const members: ShapeMember[] = [];
  const names = new Set<string>();
  const sources = new Set<string>();
  const lets: Let[] = [];
  const { expression: of } = item;
  let spread: Extract<ShapeMember, { kind: 'spread' }> | undefined;
  for (const written of items) {
    if (written.kind === 'binding') {
      const bound = bindMember(context, item, written, scope, names, lets);
      if (bound !== undefined) members.push(bound);
      continue;
    }
    if (written.kind === 'spread') {
      if (spread !== undefined) context.report('E702', written.span, '`..` stands here twice.');
      spread ??= { kind: 'spread', except: [] };
      if (!members.includes(spread)) members.push(spread);
      continue;
    }
    // `{ID}` is another spelling of `{id}`.
    const short = written.value === undefined && written.name.text === 'ID';
    const name = short ? 'id' : written.name.text;
    noteName(context, names, name, written.name);
    const source = sourceName(written);
    if (source !== undefined) sources.add(source === 'ID' ? 'id' : source);
    const typed = withLets(memberTerm(context, item, written, scope), of, lets);
    members.push({ kind: 'value', name, typed });
  }
  // [compat] `{alias: ID, ..}` also prints `id`.
  if (context.compat) sources.delete('id');
  const hidden = new Set(members.flatMap((each) => (each.kind === 'hidden' ? [each.name] : [])));
  const shown = [...names].filter((name) => !hidden.has(name));
  if (spread !== undefined) spread.except = [...new Set([...shown, ...sources])];
  return members;
}

function noteName(context: Context, names: Set<string>, name: string, written: Name): void {
  if (names.has(name)) {
    const message = `Member \`${name}\` stands here twice.`;
    context.report('E702', written.span, message, 'Rename it.');
  }
  names.add(name);
}

type BindingItem = Extract<ProjectionItem, { kind: 'binding' }>;

/** Checks `name <- value`: a name for later members. Returns undefined if the value cannot be bound. */
function bindMember(
  context: Context,
  item: TypedExpr,
  { name, value }: BindingItem,
  scope: Scope,
  names: Set<string>,
  lets: Let[],
): ShapeMember | undefined {
  const { expression: of } = item;
  const check = () => memberTerm(context, item, { kind: 'member', name, value }, scope);
  const written = refuseWrites(context, value.span, check);
  const { type, cardinality, shape, expression } = withLets(written, of, lets);
  if (!names.has(name.text) && !checkName(context, name, scope)) return undefined;
  noteName(context, names, name.text, name);
  const slot = context.fresh();
  const key = context.fresh();
  const read: Expression = { kind: 'slot', slot };
  const typed: TypedExpr = { type, cardinality, expression: read, ...(shape && { shape }) };
  const bound: Let = { slot, key, value: expression };
  lets.push(bound);
  context.bindings.push({ ...bound, name });
  scope.names.set(name.text, typed);
  return { kind: 'hidden', name: name.text, typed: withLets(typed, of, lets) };
}

type MemberItem = Extract<ProjectionItem, { kind: 'member' }>;
type Nested = Extract<MemberItem['value'], { kind: 'nested' }>;

/** Returns the property that a member copies directly: `q`, `alias: q`, `alias: ID`, `alias: _::{q}`. */
function sourceName({ name, value }: MemberItem): string | undefined {
  if (value === undefined) return name.text;
  if (value.kind !== 'chain') return undefined;
  const path = barePath(value);
  if (path !== undefined) return path.names.length === 1 ? path.names[0].text : undefined;
  const [step, ...more] = value.steps;
  if (value.head.kind !== 'item' || value.head.members.length > 0) return undefined;
  if (step === undefined || more.length > 0) return undefined;
  if (step.kind === 'call') return step.args || step.types ? undefined : step.name.text;
  const [only, ...others] = step.kind === 'projection' ? step.items : [];
  const isPlain = only?.kind === 'member' && only.value === undefined && others.length === 0;
  return isPlain ? only.name.text : undefined;
}

function barePath(value: NonNullable<MemberItem['value']>): Path | undefined {
  const isPath = value.kind === 'chain' && value.head.kind === 'path' && value.steps.length === 0;
  return isPath ? ((value as Chain).head as Path) : undefined;
}

function memberTerm(
  context: Context,
  item: TypedExpr,
  written: MemberItem,
  scope: Scope,
): TypedExpr {
  const { name, value } = written;
  if (value === undefined) return namedMember(context, item, name, scope);
  if (value.kind === 'nested') return nestedMember(context, item, value, scope);
  const path = barePath(value);
  if (path === undefined || path.names.length > 1) return context.check(value, scope);
  // In this position, a name refers first to a member of the item, then to a variable.
  const [only] = path.names;
  const member = findMember(context, item, only.text);
  const isHidden = isHiddenMember(item, only.text) && findName(scope, only.text) !== undefined;
  if (isHidden && member !== undefined) {
    const hint = `Write \`_::{${only.text}}\` for the member, or rename the variable.`;
    context.report('W117', only.span, `\`${only.text}\` is the variable here.`, hint);
  }
  if (member !== undefined && !isUnknownOrNull(item.type) && !isHidden) return member;
  const isValue = only.text === 'NOW' || findName(scope, only.text) !== undefined;
  if (isValue) return context.check(value, scope);
  if (member !== undefined) return member;
  return reportMember(context, item, only, visibleNames(scope));
}

function namedMember(context: Context, item: TypedExpr, name: Name, scope: Scope): TypedExpr {
  const member = findMember(context, item, name.text);
  return member ?? reportMember(context, item, name, [], scope.lenient);
}

function reportMember(
  context: Context,
  item: TypedExpr,
  name: Name,
  others: Iterable<string> = [],
  lenient = false,
  isStep = false,
): TypedExpr {
  const names = memberNames(context, item);
  const known = names.length > 0 ? `There are ${names.slice(0, 12).join(', ')}.` : undefined;
  const near = didYouMean(name.text, [...names, ...others]);
  const step = foreignStep(name.text);
  // `x::distinct` probably means a step, `x::{distinct}` a property.
  const hint = (isStep ? (step ?? near) : (near ?? step)) ?? known;
  const what = printItemType(item.type);
  context.report(
    lenient ? 'W109' : 'E202',
    name.span,
    `${what} has no member \`${name.text}\`.`,
    hint,
  );
  return unknownExpr();
}

/** Checks `alias: { … }`: an object over the same item. */
function nestedMember(context: Context, item: TypedExpr, value: Nested, scope: Scope): TypedExpr {
  const slot = context.fresh();
  const inner = { ...item, ...slotExpr(slot, item.type) };
  const within = innerScope(scope, { item: inner });
  const members = projectionMembers(context, inner, value.items, within);
  const shape: Shape = { slot, form: 'projection', members, span: value.span };
  return projected(context, { ...item, shape });
}
