// Streams of elements of the sentences: sources, sets, fusions, branches, walks in every form, orders,
// slices, what makes them distinct.
import { Uuid } from '../../../engine/base/value.js';
import { distinct, equal, same } from '../oracle/oracle-compare.js';
import { Item, type Value, rowsOf } from '../oracle/oracle-value.js';
import { isTrue } from './meaning.js';
import type { Elements, Scope, Writer } from './part.js';
import { perItem, stepOf } from './run.js';
import { foundOrNull, literal, named, parameter } from './scalar.js';
import { fused, search } from './search.js';
import { bare, many, missing, ofLabels, stream, united } from './stream.js';
import type { ElementType } from './type.js';
import { asSingle, walkFrom } from './walk.js';
import { labels, letter } from './fixture.js';

const edgeLabels = Object.keys(labels).filter((name) => labels[name]!.kind === 'edge');

export function source(writer: Writer, scope: Scope, depth: number): Elements {
  const { random } = writer;
  const choice = random.below(depth > 0 ? 17 : 8);
  const held = heldStream(writer, scope);
  if (choice <= 1 && held) return held;
  if (
    choice <= 3 &&
    scope.item?.kind === 'element' &&
    scope.item.card !== 'many' &&
    !scope.item.shape
  ) {
    const item = stream(scope.itemName ?? '_', { ...scope.item }, (env) => env.item!);
    return walkFrom(writer, scope, item, depth) ?? item;
  }
  if (choice <= 5) return whole(writer);
  if (choice === 6) return lookup(writer, scope);
  if (choice === 7) return batch(writer, scope);
  if (choice <= 10) return set(writer, scope, depth - 1);
  if (choice <= 12) return branched(writer, scope, depth - 1);
  if (choice === 13) return search(writer, scope, depth - 1);
  if (choice <= 15) return fused(writer, scope, depth - 1);
  return whole(writer);
}

function heldStream(writer: Writer, scope: Scope): Elements | undefined {
  const fitting = scope.names.filter(({ type }) => type.kind === 'element');
  if (fitting.length === 0) return undefined;
  const { name, type } = writer.random.pick(fitting);
  return { text: name, type: type as ElementType, of: ({ vars }) => vars.get(name)! };
}

function whole(writer: Writer): Elements {
  const { random } = writer;
  const of = random.chance(0.2)
    ? [random.pick(edgeLabels)]
    : random.pick([['Ant'], ['Ant'], ['Bee'], ['Cue'], ['Ant', 'Bee']]);
  return stream(`${letter(of[0]!)}<${of.join(', ')}>`, { labels: of, card: 'many' }, (env) =>
    ofLabels(env, of).map((element) => new Item(element)),
  );
}

function lookup(writer: Writer, scope: Scope): Elements {
  const { random } = writer;
  const of = random.pick([['Ant'], ['Bee'], ['Cue'], ['Ant', 'Bee'], ['Bee', 'Ant']]);
  const kind = random.pick(['int', 'text'] as const);
  const name = kind === 'int' ? 'num' : 'name';
  const value = random.chance(0.5) ? literal(writer, kind) : named(writer, scope, kind);
  return stream(
    `${letter(of[0]!)}<${of.join(', ')}>({${name}: ${value.text}})`,
    { labels: of, card: 'many' },
    (env) => {
      const wanted = value.of(env);
      return ofLabels(env, of)
        .filter((element) => wanted !== null && equal(element.values.get(name) ?? null, wanted))
        .map((element) => new Item(element));
    },
  );
}

/** Elements by a list of values, each at its place. */
function batch(writer: Writer, scope: Scope): Elements {
  const { random } = writer;
  if (random.chance(0.4)) {
    const others = source(writer, { names: scope.names }, 0);
    const of = others.type.labels;
    const kinds = new Set(of.map((label) => labels[label]!.kind));
    if (kinds.size > 1) return others;
    return stream(
      `${letter(of[0]!)}<${of.join(', ')}>({id: ${others.text}::ID})`,
      { labels: of, card: 'many' },
      (env) =>
        // What a name holds may have been deleted since.
        rowsOf(others.of(env)).flatMap((row) =>
          row instanceof Item && row.element.alive ? [new Item(row.element)] : [],
        ),
    );
  }
  const label = random.pick(['Ant', 'Bee']);
  const [name, kind] = random.pick([
    ['num', 'int'],
    ['name', 'text'],
  ] as const);
  const values = Array.from({ length: random.below(4) + 1 }, () => literal(writer, kind));
  return stream(
    `N<${label}>({${name}: [${values.map(({ text }) => text).join(', ')}]})`,
    { labels: [label], card: 'many' },
    (env) =>
      values.flatMap((value) =>
        ofLabels(env, [label])
          .filter((element) => equal(element.values.get(name) ?? null, value.of(env)))
          .map((element) => new Item(element)),
      ),
  );
}

function set(writer: Writer, scope: Scope, depth: number): Elements {
  const { random } = writer;
  const operation = random.pick(['UNION', 'UNION', 'EXCEPT', 'INTERSECT']);
  const parts = Array.from({ length: 1 + random.below(3) }, () =>
    random.chance(0.2) ? writer.single(scope, depth) : writer.elements(scope, depth),
  );
  const text = `${operation}(${parts.map((part) => part.text).join(', ')})`;
  const { labels: all } = united(parts);
  // What is kept of an item is what its first occurrence had.
  const type =
    operation === 'UNION' ? united(parts) : { ...united(parts.slice(0, 1)), labels: all };
  return stream(text, { ...type, card: 'many' }, (env) => {
    const lists = parts.map((part) =>
      rowsOf(part.of(env))
        .filter((row) => row !== null)
        .map(bare),
    );
    const [first = [], ...others] = lists;
    if (operation === 'UNION') return distinct(lists.flat());
    const isIn = (row: Value) => (list: readonly Value[]) => list.some((other) => same(other, row));
    return distinct(first).filter((row) =>
      operation === 'EXCEPT' ? !others.some(isIn(row)) : others.every(isIn(row)),
    );
  });
}

function branched(writer: Writer, scope: Scope, depth: number): Elements {
  const { random } = writer;
  const test = writer.condition(scope, depth);
  if (random.chance(0.6)) {
    const [a, b] = [many(writer.elements(scope, depth)), many(writer.elements(scope, depth))];
    const two = random.chance(0.3);
    return stream(
      `IF(${test.text}, ${a.text}${two ? '' : `, ${b.text}`})`,
      { ...united(two ? [a] : [a, b]), card: 'many' },
      (env) => rowsOf(isTrue(test.of(env)) ? a.of(env) : two ? null : b.of(env)).map(bare),
    );
  }
  const [a, b] = [writer.single(scope, depth), writer.single(scope, depth)];
  const pick = random.chance(0.5);
  const text = pick ? `IF(${test.text}, ${a.text}, ${b.text})` : `COALESCE(${a.text}, ${b.text})`;
  return stream(text, { ...united([a, b]), card: 'opt' }, (env) => {
    const value = pick
      ? (isTrue(test.of(env)) ? a : b).of(env)
      : (foundOrNull(a, env) ?? foundOrNull(b, env));
    return value === null ? null : bare(value);
  });
}

/** One more step. */
export function furtherStep(writer: Writer, scope: Scope, from: Elements, depth: number): Elements {
  const { random } = writer;
  const { type } = from;
  const inner: Scope = { names: scope.names, item: { ...type, card: 'one' } };
  const add = (step: string, of: Elements['of'], card: ElementType['card'] = type.card): Elements =>
    stream(`${from.text}::${step}`, { ...type, card }, of);
  switch (random.below(type.shape ? 8 : 13)) {
    case 0:
    case 1: {
      const test = writer.condition(inner, depth);
      const of = stepOf(from.of, (run, env) => ({
        kind: 'where',
        condition: perItem(run, env, test),
      }));
      return add(
        `WHERE(${test.text})`,
        asSingle(type.card, of),
        type.card === 'many' ? 'many' : 'opt',
      );
    }
    case 2:
    case 3:
      return ordered(writer, inner, from, depth);
    case 4: {
      const [a, b] = [random.below(2), random.below(5)];
      return add(`RANGE(${a}, ${b})`, (env) => rowsOf(from.of(env)).slice(a, b), 'many');
    }
    case 5: {
      if (type.card !== 'many') return from;
      const key = writer.scalar(inner, random.pick(['int', 'text'] as const), depth > 0 ? 1 : 0);
      const keyed = random.chance(0.5);
      const of = stepOf(from.of, (run, env) => ({
        kind: 'dedup',
        ...(keyed && { by: { slot: 0, keys: [perItem(run, env, key).value] } }),
      }));
      return add(keyed ? `DEDUP(${key.text})` : 'DEDUP', of);
    }
    case 6:
      return type.card === 'many' && random.chance(0.4)
        ? add('FIRST', (env) => rowsOf(from.of(env))[0] ?? null, 'opt')
        : from;
    case 7:
      return from;
    default:
      return walkFrom(writer, scope, from, depth) ?? from;
  }
}

export interface Sorting {
  text: string;
  keys: { of: Elements['of']; descending: boolean; nullsFirst: boolean }[];
}

export function sorting(writer: Writer, inner: Scope, depth: number): Sorting {
  const { random } = writer;
  const keys = Array.from({ length: 1 + random.below(3) }, () => {
    const kind = random.pick(['int', 'int', 'text', 'date', 'float'] as const);
    const key = random.chance(0.3)
      ? writer.scalar(inner, kind, depth > 0 ? 1 : 0)
      : named(writer, inner, kind);
    const descending = random.chance(0.5);
    const place = random.pick(['', '', ' NULLS FIRST', ' NULLS LAST']);
    return { text: key.text, of: key.of, descending, nullsFirst: place === ' NULLS FIRST', place };
  });
  const one = random.chance(0.25);
  if (one) for (const key of keys) Object.assign(key, { ...keys[0], text: key.text, of: key.of });
  const directions = (one ? keys.slice(0, 1) : keys).map(
    (key) => (key.descending ? 'Desc' : 'Asc') + key.place,
  );
  return {
    text: `ORDER<${directions.join(', ')}>(${keys.map(({ text }) => text).join(', ')})`,
    keys,
  };
}

function ordered(writer: Writer, inner: Scope, from: Elements, depth: number): Elements {
  const { text, keys } = sorting(writer, inner, depth);
  if (from.type.card !== 'many') return from;
  const of = stepOf(from.of, (run, env) => ({
    kind: 'order',
    slot: 0,
    keys: keys.map((key) => ({ ...key, value: perItem(run, env, key).value })),
  }));
  return stream(`${from.text}::${text}`, from.type, of);
}

/** One element: by its id, by a unique key, the first of a stream, the item itself. */
export function singleElement(writer: Writer, scope: Scope, depth: number): Elements {
  const { random } = writer;
  const held = scope.names.filter(
    ({ type }) => type.kind === 'element' && type.card !== 'many' && !type.shape,
  );
  if (held.length > 0 && random.chance(0.4)) {
    const { name, type } = random.pick(held);
    return { text: name, type: type as ElementType, of: ({ vars }) => vars.get(name)! };
  }
  if (random.chance(0.25)) {
    const id = parameter(writer, 'id', true);
    return stream(`N<Ant, Bee>(${id.text})`, { labels: ['Ant', 'Bee'], card: 'one' }, (env) => {
      const wanted = id.of(env);
      const found = env.graph.find(wanted instanceof Uuid ? wanted.text : '');
      return found && ['Ant', 'Bee'].includes(found.type.name) ? new Item(found) : missing(env);
    });
  }
  if (random.chance(0.3)) {
    const label = random.pick(['Ant', 'Bee']);
    const key = `${label[0]!.toLowerCase()}${random.pick([0, 1, 2, 77])}`;
    return stream(`N<${label}>({key: "${key}"})`, { labels: [label], card: 'one' }, (env) => {
      const found = ofLabels(env, [label]).find((element) => element.values.get('key') === key);
      return found ? new Item(found) : missing(env);
    });
  }
  const from = writer.elements(scope, Math.max(0, depth - 1));
  if (from.type.card !== 'many') return from;
  return stream(
    `${from.text}::FIRST`,
    { ...from.type, card: 'opt' },
    (env) => rowsOf(from.of(env))[0] ?? null,
  );
}
