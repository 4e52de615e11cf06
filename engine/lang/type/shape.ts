// Applies shapes: reads a member of an item, and takes the bare value of a one-name projection. Converts a
// shape to a `project` where a value leaves the query or enters a record.
import { singleMember, isShown } from './visible-member.js';
import type { Expression, Member } from '../../plan/expression.js';
import type { Context } from './context.js';
import { slotExpr, unknownExpr, valueExpr } from './make-typed.js';
import { elementMember, elementMembers } from './schema-index.js';
import { append, sourceExpr } from './stream.js';
import { substitute } from './substitute.js';
import {
  isList,
  type Shape,
  type ShapeMember,
  type TypedExpr,
  wholeType,
} from './typed-expression.js';
import { isBasic, isNullable, type ItemType, scalarType, unknownType } from './type.js';

/**
 * Returns member `name` of one item: from its shape, otherwise from the element or record. Undefined if there
 * is none.
 */
export function findMember(context: Context, item: TypedExpr, name: string): TypedExpr | undefined {
  const shaped = item.shape?.members.find((m) => m.kind !== 'spread' && m.name === name);
  if (shaped !== undefined && shaped.kind !== 'spread') {
    return instantiate(context, item.shape!, shaped.typed, item);
  }
  const { type } = item;
  if (type.kind === 'scalar' && type.name === 'Null') return unknownExpr();
  // The kinds of items of a mixed list are known only at run time.
  const found = isBasic(type, 'Unknown') ? unknownType : memberType(context, type, name);
  if (found === undefined) return groupMember(context, item, name);
  const stored = storedName(context, type, name);
  const typed = valueExpr(found, { kind: 'property', of: item.expression, name: stored });
  if (item.known) typed.known = true;
  return typed;
}

/** Returns the items of a group, a key that is not printed, or the values of a property of the items. */
function groupMember(context: Context, item: TypedExpr, name: string): TypedExpr | undefined {
  const { type, expression: of } = item;
  if (type.kind !== 'record' || type.hidden === undefined) return undefined;
  const hidden = type.hidden.get(name);
  if (hidden === undefined) {
    const items = groupItems(context, item);
    return name === 'data' ? items : items && collectValues(context, items, name);
  }
  context.readsGroups = true;
  return valueExpr(hidden, { kind: 'property', of, name });
}

/** Returns the items of a group in their original shape; undefined if the item is not a group. */
export function groupItems(
  context: Context,
  { type, expression: of }: TypedExpr,
): TypedExpr | undefined {
  if (type.kind !== 'record' || type.items === undefined) return undefined;
  context.readsGroups = true;
  const { name, type: each, shape } = type.items;
  const items = valueExpr({ kind: 'list', of: each }, { kind: 'property', of, name });
  return shape === undefined ? items : { ...items, shape: shape as Shape };
}

/** Returns the list of the values that items have for a name, including unset ones. */
function collectValues(context: Context, items: TypedExpr, name: string): TypedExpr | undefined {
  const { type, shape, expression: of } = items;
  if (!isShown(items, name) && memberType(context, type, name) === undefined) return undefined;
  const slot = context.fresh();
  const item = { ...slotExpr(slot, type), ...(shape && { shape }) };
  const value = printed(context, findMember(context, item, name)!);
  const found = wholeType(value);
  const each = found.kind === 'scalar' ? ({ ...found, sparse: true } as const) : found;
  const { expression } = value;
  const isOwn =
    expression.kind === 'property' && expression.of.kind === 'slot' && expression.of.slot === slot;
  if (isOwn) return valueExpr({ kind: 'list', of: each }, { ...expression, of });
  const step = { kind: 'map', value: { slot, value: expression } } as const;
  const rows = append({ type, cardinality: 'many', expression: of }, step, many(each));
  return valueExpr({ kind: 'list', of: each }, rows.expression);
}

const many = (type: ItemType) => ({ type, cardinality: 'many' }) as const;

function memberType(context: Context, type: ItemType, name: string): ItemType | undefined {
  if (type.kind === 'element') {
    const own = elementMember(context.schema, type.types, name);
    const added =
      name === 'hops' && type.hops ? scalarType('U32') : name === 'hit' ? type.best : undefined;
    if (added === undefined) return own;
    // Among items of several types, some may have a property of that name.
    const isHidden = type.types.every((each) => context.schema.property(each, name) !== undefined);
    return own === undefined ? added : isHidden ? own : unknownType;
  }
  return type.kind === 'record' ? type.members.get(name) : undefined;
}

/** [compat] The score of a vector hit is its distance, unless a reranker has set it. */
function storedName(context: Context, type: ItemType, name: string): string {
  if (type.kind !== 'element') return name;
  if (name === 'ID') return 'id';
  const isDeclared = type.types.some((t) => context.schema.property(t, name) !== undefined);
  if (context.compat && name === 'score' && type.hit === 'vector' && !isDeclared) return 'distance';
  return name;
}

/** Returns the names of an item's members, for hints. */
export function memberNames(context: Context, item: TypedExpr): string[] {
  const names = new Set<string>();
  for (const member of item.shape?.members ?? [])
    if (member.kind === 'value') names.add(member.name);
  const { type } = item;
  const own =
    type.kind === 'element'
      ? elementMembers(context.schema, type.types)
      : type.kind === 'record'
        ? type.members.keys()
        : [];
  for (const name of own) names.add(name);
  if (type.kind === 'element' && type.hops) names.add('hops');
  if (type.kind === 'element' && type.best) names.add('hit');
  return [...names];
}

export function hasMembers(type: ItemType): boolean {
  return type.kind === 'element' || type.kind === 'record' || isBasic(type, 'Null');
}

/**
 * Returns the value of a shape's member for one item. An item that is expensive to compute is computed once.
 */
function instantiate(
  context: Context,
  shape: Shape,
  member: TypedExpr,
  item: TypedExpr,
): TypedExpr {
  const { expression } = item;
  const { expression: inner } = member;
  if (inner.kind === 'property' && inner.of.kind === 'slot' && inner.of.slot === shape.slot) {
    const isOpt = item.cardinality === 'opt' && !isList(member);
    const cardinality = isOpt ? 'opt' : member.cardinality;
    return { ...member, cardinality, growing: false, expression: { ...inner, of: expression } };
  }
  // A value that may be null passes through a step, so that every member of null is null.
  const isHeld = expression.kind === 'slot' || expression.kind === 'parameter';
  if (isHeld && (item.cardinality !== 'opt' || isList(member))) {
    return replaceSlot(context, member, new Map([[shape.slot, expression]]));
  }
  const step = { kind: 'map', value: { slot: shape.slot, value: inner } } as const;
  const value = append({ ...item, growing: false }, step, {
    type: member.type,
    cardinality: 'opt',
  });
  const { type, cardinality, shape: memberShape } = member;
  const shaped = memberShape && { shape: memberShape };
  if (!isList(member)) return { ...value, growing: false, ...shaped };
  // The row is the list: a source expands it for later steps.
  const opened = sourceExpr({ kind: 'value', of: value.expression }, type, cardinality);
  return { ...opened, growing: false, ...shaped };
}

function replaceSlot(
  context: Context,
  typed: TypedExpr,
  values: ReadonlyMap<number, Expression>,
): TypedExpr {
  const expression = substitute(typed.expression, values, context);
  const { shape, ...rest } = typed;
  if (shape === undefined) return { ...rest, expression, growing: false };
  const slot = context.fresh();
  const inner = new Map([...values, [shape.slot, { kind: 'slot', slot } as const]]);
  const members = shape.members.map((m): ShapeMember => {
    return m.kind === 'spread' ? m : { ...m, typed: replaceSlot(context, m.typed, inner) };
  });
  return { ...rest, expression, growing: false, shape: { ...shape, slot, members } };
}

/** Returns the value without its shape: the bare value or list of values of a one-name projection. */
export function bare(context: Context, typed: TypedExpr): TypedExpr {
  const only = singleMember(typed.shape);
  if (only === undefined) return typed;
  context.spend();
  const { shape, ...items } = typed;
  if (!isList(typed)) return printed(context, instantiate(context, shape!, only, items));
  const value = printed(context, only);
  const step = { kind: 'map', value: { slot: shape!.slot, value: value.expression } } as const;
  return append(items, step, { type: wholeType(value), cardinality: 'many' });
}

/** Returns the value as a part of a record or list: shaped, one-name projections bare. */
export function printed(context: Context, typed: TypedExpr): TypedExpr {
  if (typed.shape === undefined) return typed;
  return singleMember(typed.shape) === undefined ? projected(context, typed) : bare(context, typed);
}

/**
 * Returns a member of a projection. [compat] A traversal from the item keeps its shape: `{titles:
 * _::Out<W>::{title}}` are objects. A name of the item itself is its value.
 */
function nested(context: Context, typed: TypedExpr): TypedExpr {
  return keepsShape(context, typed) ? projected(context, typed) : printed(context, typed);
}

/** Returns true if a member of a projection is an object even with only one name. */
export function keepsShape({ compat }: Context, typed: TypedExpr): boolean {
  return compat && (isList(typed) || typed.expression.kind !== 'slot');
}

/** Applies the shape: objects with its members. */
export function projected(context: Context, typed: TypedExpr): TypedExpr {
  const { shape } = typed;
  if (shape === undefined) return typed;
  context.spend();
  const types = new Map<string, ItemType>();
  const partial = new Set<string>();
  const members: Member[] = [];
  for (const member of shape.members) {
    if (member.kind === 'spread') {
      members.push(...spreadMembers(context, typed, member.except, types));
      for (const name of ofSome(context, typed))
        if (!member.except.includes(name)) partial.add(name);
      continue;
    }
    if (member.kind === 'hidden') continue;
    const value = nested(context, member.typed);
    types.set(member.name, wholeType(value));
    members.push({ kind: 'value', name: member.name, value: value.expression });
  }
  const { slot } = shape;
  const expression: Expression = { kind: 'project', of: typed.expression, slot, members };
  const sparse = isNullable(typed.type) && ({ sparse: true } as const);
  const parts = partial.size > 0 && { partial };
  const type: ItemType = { kind: 'record', members: types, ...sparse, ...parts };
  return { type, cardinality: typed.cardinality, expression };
}

/** Returns the names that only some of the types have: `..` prints them for those types. */
function ofSome({ schema }: Context, { type }: TypedExpr): string[] {
  if (type.kind !== 'element') return [];
  const each = type.types.map((of) => new Set(elementMembers(schema, [of])));
  return elementMembers(schema, type.types).filter((name) => !each.every((own) => own.has(name)));
}

/** `..` of an element is expanded by the executor, which knows its type; of a record it is expanded here. */
function spreadMembers(
  context: Context,
  typed: TypedExpr,
  except: string[],
  types: Map<string, ItemType>,
): Member[] {
  const { type, shape } = typed;
  const names = memberNames(context, { ...typed, shape: undefined } as TypedExpr);
  const rest = names.filter((name) => !except.includes(name) && name !== 'data');
  for (const name of rest) types.set(name, memberType(context, type, name) ?? unknownType);
  if (type.kind !== 'record') return [{ kind: 'spread', except }];
  return rest.map((name) => {
    const of = slotExpr(shape!.slot, type).expression;
    return { kind: 'value', name, value: { kind: 'property', of, name } };
  });
}
