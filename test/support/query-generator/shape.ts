// Projections and groups of the sentences: members of every kind, names bound for later members and
// steps, nested shapes, groups shaped by what is known of their items.
import { aggregate } from '../oracle/oracle-math.js';
import type { GroupRec } from '../oracle/oracle-print.js';
import { isList, Item, Rec, rowsOf, type Value } from '../oracle/oracle-value.js';
import { Shaped, isTrue, member, withItem, withVar } from './meaning.js';
import type { Elements, Env, Part, Scope, Writer } from './part.js';
import { perItem, stepOf } from './run.js';
import type { ElementType, Members, Type } from './type.js';
import { sorting } from './elements.js';
import { propertiesOf } from './fixture.js';

interface Member {
  name: string;
  text: string;
  type: Type;
  hidden?: true;
  of(env: Env): Value;
}

/** What a member shows of a part: a one-name shape is the bare value there. */
function shown(value: Value): Value {
  if (isList(value)) return value.map(shown);
  if (value instanceof Shaped && value.shape.entries.length === 1)
    return value.shape.entries[0]![1];
  return value instanceof ShapedGroup && value.entries.length === 1 ? value.entries[0]![1] : value;
}

/** A group with the shape that a projection gave it. */
class ShapedGroup extends Rec {}

/** A member whose value may be anything. */
function anyMember(writer: Writer, scope: Scope, depth: number): Member {
  const { random } = writer;
  const name = writer.name('m');
  const kind = random.pick(['int', 'int', 'text', 'bool'] as const);
  const part =
    depth > 0 && random.chance(0.5)
      ? writer.answer(scope, depth - 1)
      : random.chance(0.3)
        ? writer.condition(scope, depth)
        : writer.scalar(scope, kind, depth);
  return { name, text: `${name}: ${part.text}`, type: part.type, of: (env) => shown(part.of(env)) };
}

function property(writer: Writer, { item }: Scope): Member | undefined {
  if (item?.kind !== 'element') return undefined;
  const names: (readonly [string, Type['kind']])[] = item.shape
    ? item.shape.filter(({ hidden }) => !hidden).map(({ name, type }) => [name, type.kind] as const)
    : [
        ...propertiesOf(item.labels),
        ['id', 'id'],
        ...(item.hops ? [['hops', 'int'] as const] : []),
      ];
  if (names.length === 0) return undefined;
  const [name, kind] = writer.random.pick(names);
  if (item.shape && !/^(int|text|date|bool|float|id)$/.test(kind)) return undefined;
  const alias = writer.random.chance(0.3) ? writer.name('m') : name;
  const type = { kind: kind as 'int', card: 'opt' as const };
  const text = alias === name ? name : `${alias}: ${name}`;
  return { name: alias, text, type, of: (env) => member(env.item!, name) };
}

/** Members in order; each may use names bound before it. */
function membersFor(writer: Writer, scope: Scope, depth: number): Member[] {
  const { random } = writer;
  const members: Member[] = [];
  let inner = scope;
  for (let i = 1 + random.below(4); i > 0; i--) {
    const made = random.chance(0.4) ? property(writer, inner) : undefined;
    if (made && !members.some(({ name }) => name === made.name)) members.push(made);
    else if (random.chance(0.25)) {
      const bound = binding(writer, inner, depth);
      members.push(bound);
      inner = { ...inner, names: [...inner.names, { name: bound.name, type: bound.type }] };
    } else members.push(anyMember(writer, inner, depth));
  }
  if (members.every(({ hidden }) => hidden)) members.push(anyMember(writer, inner, 0));
  return members;
}

function binding(writer: Writer, scope: Scope, depth: number): Member {
  const name = writer.name('b');
  const part = writer.random.chance(0.5)
    ? writer.elements(scope, depth)
    : writer.scalar(scope, 'int', depth);
  return {
    name,
    text: `${name} <- ${part.text}`,
    type: part.type,
    hidden: true,
    of: (env) => part.of(env),
  };
}

/** Values of members for one item, and what later steps may name. */
function valuesOf(members: readonly Member[], env: Env): [Rec, Map<string, Value>] {
  const entries: [string, Value][] = [];
  const hidden = new Map<string, Value>();
  let inner = env;
  for (const each of members) {
    const value = each.of(inner);
    if (each.hidden) {
      inner = withVar(inner, each.name, value);
      hidden.set(each.name, value);
    } else entries.push([each.name, value]);
  }
  return [new Rec(entries), hidden];
}

const memberTypes = (members: readonly Member[]): Members =>
  members.map(({ name, type, hidden }) => ({ name, type, ...(hidden && { hidden }) }));

const textOf = (members: readonly Member[]): string =>
  `{${members.map(({ text }) => text).join(', ')}}`;

/** A projection of a stream, by `_` or a closure. */
export function projected(writer: Writer, scope: Scope, from: Elements, depth: number): Elements {
  const { random } = writer;
  const { type } = from;
  const closure = random.chance(0.2) ? writer.name('u') : undefined;
  const inner: Scope = {
    names: scope.names,
    item: { ...type, card: 'one' },
    ...(closure && { itemName: closure }),
  };
  const members = membersFor(writer, inner, depth);
  const of = (env: Env): Value => {
    const value = from.of(env);
    const each = (row: Value): Value => {
      if (!(row instanceof Item)) return null;
      const [shape, hidden] = valuesOf(members, withItem(env, row));
      return new Shaped(row, shape, hidden);
    };
    return type.card === 'many' ? rowsOf(value).map(each) : each(value);
  };
  return {
    text: `${from.text}::${closure ? `|${closure}|` : ''}${textOf(members)}`,
    type: { ...type, shape: memberTypes(members) },
    of,
  };
}

const numbers = (members: Members): string[] =>
  members.filter(({ type }) => type.kind === 'int' && type.card !== 'many').map(({ name }) => name);

const named = (type: ElementType): Members =>
  type.shape ??
  [...propertiesOf(type.labels)].map(([name, kind]) => ({ name, type: { kind, card: 'opt' } }));

const isScalar = ({ kind, card }: Type): boolean =>
  card !== 'many' && kind !== 'element' && kind !== 'record';

/** Groups of a stream: whole, filtered, ordered, shaped. */
export function grouped(writer: Writer, scope: Scope, from: Elements, depth: number): Part {
  const { random } = writer;
  const members = named(from.type);
  const own = members.filter(({ type, name }) => isScalar(type) && name !== 'count');
  if (from.type.hops && !from.type.shape)
    own.push({ name: 'hops', type: { kind: 'int', card: 'opt' } });
  if (own.length === 0 || from.type.card !== 'many') return from;
  const keys = [...new Set([random.pick(own), ...(random.chance(0.3) ? [random.pick(own)] : [])])];
  const data = random.chance(0.2);
  const names = keys.map(({ name }) => name);
  const of = stepOf(from.of, (run, env) => ({
    kind: 'group',
    slot: 0,
    keys: keys.map(({ name }) => ({
      name,
      value: perItem(run, env, { of: ({ item }) => member(item!, name) }).value,
    })),
    data,
  }));
  const items: ElementType = { ...from.type };
  const group: Scope = {
    names: scope.names,
    item: {
      kind: 'record',
      card: 'one',
      members: [...keys, { name: 'count', type: { kind: 'int', card: 'one' } }],
    },
  };
  let part: Part = {
    text: `${from.text}::${data ? 'AGGREGATE_BY' : 'GROUP_BY'}(${names.join(', ')})`,
    type: { ...group.item!, card: 'many' } as Type,
    of,
  };
  if (random.chance(0.3)) part = filteredGroups(writer, part, items);
  if (random.chance(0.3)) part = orderedGroups(writer, group, part);
  return random.chance(0.7) ? shapedGroups(writer, group, part, { items, keys, depth }) : part;
}

function filteredGroups(writer: Writer, part: Part, items: ElementType): Part {
  const { random } = writer;
  const integers = numbers(named(items));
  const name = integers.length > 0 && random.chance(0.5) ? random.pick(integers) : undefined;
  const n = random.below(3);
  const test: Pick<Part, 'text' | 'of'> =
    name === undefined
      ? { text: `COUNT(_.data)::GT(${n})`, of: ({ item }) => countOf(item!, items) > n }
      : {
          text: `MAX(_.data::{${name}})::GTE(${n})`,
          of: ({ item }) => {
            const top = aggregate(
              'MAX',
              true,
              dataOf(item!).flatMap((row) => member(row, name)),
            );
            return top !== null && Number(top) >= n;
          },
        };
  return {
    text: `${part.text}::WHERE(${test.text})`,
    type: part.type,
    of: (env) => rowsOf(part.of(env)).filter((row) => isTrue(test.of(withItem(env, row)))),
  };
}

function orderedGroups(writer: Writer, group: Scope, part: Part): Part {
  const { text, keys } = sorting(writer, group, 0);
  return {
    text: `${part.text}::${text}`,
    type: part.type,
    of: stepOf(part.of, (run, env) => ({
      kind: 'order',
      slot: 0,
      keys: keys.map((key) => ({ ...key, value: perItem(run, env, key).value })),
    })),
  };
}

const dataOf = (group: Value): readonly Value[] => rowsOf((group as GroupRec).get('data'));

/** Items with one name in their shape are its values, and only those that are there are counted. */
function countOf(group: Value, { shape }: ElementType): number {
  const shownNames = shape?.filter(({ hidden }) => !hidden);
  const rows = dataOf(group);
  if (shownNames?.length !== 1) return rows.length;
  return rows.filter((row) => member(row, shownNames[0]!.name) !== null).length;
}

interface Shaping {
  items: ElementType;
  keys: Members;
  depth: number;
}

function shapedGroups(
  writer: Writer,
  group: Scope,
  part: Part,
  { items, keys, depth }: Shaping,
): Part {
  const { random } = writer;
  const data: Elements = {
    text: '_.data',
    type: { ...items, card: 'many' },
    of: ({ item }) => dataOf(item!),
  };
  // A key is what it is for the group, not a list.
  const integers = numbers(named(items)).filter((name) => !keys.some((key) => key.name === name));
  const member1 = (text: string, type: Type, of: Member['of']): Member => {
    const name = writer.name('m');
    return { name, text: `${name}: ${text}`, type, of };
  };
  const int = { kind: 'int', card: 'one' } as const;
  const makers: (() => Member)[] = [
    () => member1('count', int, ({ item }) => (item as GroupRec).get('count')),
    () => member1('COUNT(_.data)', int, ({ item }) => countOf(item!, items)),
    () => {
      const inner: Scope = { names: group.names, item: { ...items, card: 'one' } };
      const test = writer.condition(inner, Math.min(depth, 1));
      return member1(
        `_.data::WHERE(${test.text})::COUNT`,
        int,
        (env) => dataOf(env.item!).filter((row) => isTrue(test.of(withItem(env, row)))).length,
      );
    },
    () => {
      const inner: Scope = { names: group.names, item: { ...items, card: 'one' } };
      const { text, keys: by } = sorting(writer, inner, 0);
      const rows = stepOf(data.of, (run, env) => ({
        kind: 'order',
        slot: 0,
        keys: by.map((key) => ({ ...key, value: perItem(run, env, key).value })),
      }));
      return member1(`_.data::${text}::FIRST::ID`, { kind: 'id', card: 'opt' }, (env) =>
        member(rows(env)[0] ?? null, 'id'),
      );
    },
  ];
  if (integers.length > 0) {
    const name = random.pick(integers);
    const word = random.pick(['SUM', 'MIN', 'MAX'] as const);
    makers.push(
      () =>
        member1(`${word}(_::{${name}})`, int, ({ item }) =>
          aggregate(
            word,
            true,
            dataOf(item!).map((row) => member(row, name)),
          ),
        ),
      () =>
        member1(`${word}(_.data::{${name}})`, int, ({ item }) =>
          aggregate(
            word,
            true,
            dataOf(item!).map((row) => member(row, name)),
          ),
        ),
      () =>
        member1(`_::{${name}}`, { kind: 'int', card: 'many' }, ({ item }) =>
          dataOf(item!).map((row) => member(row, name)),
        ),
    );
  }
  const members: Member[] = keys
    .filter(() => random.chance(0.7))
    .map(({ name, type }) => ({
      name,
      text: name,
      type,
      of: ({ item }) => (item as Rec).get(name),
    }));
  for (const make of random.some(makers, 0.4)) members.push(make());
  if (members.length === 0) members.push(makers[0]!());
  return {
    text: `${part.text}::${textOf(members)}`,
    type: { kind: 'record', card: 'many', members: memberTypes(members) },
    of: (env) =>
      rowsOf(part.of(env)).map((row) => {
        return new ShapedGroup(valuesOf(members, withItem(env, row))[0].entries);
      }),
  };
}
