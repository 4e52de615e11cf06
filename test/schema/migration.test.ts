// Every form of migration (nodes, edges, vectors; renamed, swapped, merged, rewritten, hidden and
// back; several versions at once) at a start or by a reload, with any history of snapshots, stops and
// kills around it, gives the answers of an oracle that applies it to plain data.
import { expect, test } from 'vitest';
import { armFailpoint } from '../../engine/base/failpoint.js';
import { random } from '../reliability/crash/oracle.js';
import { LoneDatabase, type LoneOptions } from './lone-database.js';
import { type Element, World, metricOf, words } from './world.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const seeds = long ? 400 : 5;
const first = Number(process.env.TRELLIS_TEST_SEED ?? 1);

/** Other names are other metrics and layouts. */
const types: LoneOptions['types'] = Object.fromEntries(
  Array.from({ length: 400 }, (_, i) => {
    const layout = i % 5 === 0 ? ('compact' as const) : ('auto' as const);
    return [`T${i}`, { metric: metricOf(`T${i}`), layout }];
  }),
);

function fill(database: LoneDatabase, world: World): void {
  for (const type of world.types) {
    const { kind, name, properties, from, to } = type;
    for (let i = Math.floor(world.chance() * 4); i > 0; i--) {
      const values = Object.fromEntries(
        properties.map((property) => [property.name, world.value(property)]),
      );
      const element: Element = { kind, type: name, values };
      const body: Record<string, unknown> = { ...values };
      if (kind === 'vector') {
        body.vec = element.vector = world.vectorFor(type);
        type.length = element.vector.length;
      }
      if (kind === 'edge') {
        const [a, b] = [world.pick(world.of(from!)), world.pick(world.of(to!))];
        if (!a || !b) continue;
        [body.a, body.b] = [element.from, element.to] = [a[0], b[0]];
      }
      world.elements.set('new', element);
      const isSound = world.isSound;
      world.elements.delete('new');
      if (isSound) world.elements.set(database.call(`add${name}`, body).x as string, element);
    }
  }
}

/** Drops an element with its edges, and changes a value of another. */
function change(database: LoneDatabase, world: World): void {
  const type = world.pick(world.types);
  const [gone] = world.pick(world.of(type.name)) ?? [];
  if (gone !== undefined) {
    database.call(`drop${type.name}`, { id: gone });
    for (const [id, { from, to }] of world.elements) {
      if (id === gone || from === gone || to === gone) world.elements.delete(id);
    }
  }
  const { kind, name, properties } = world.pick(world.types);
  const [id, element] = world.pick(world.of(name)) ?? [];
  if (kind === 'edge' || id === undefined || properties.length === 0) return;
  const property = world.pick(properties);
  const v = world.value(property);
  database.call(`set${name}${property.name}`, { id, v });
  element!.values[property.name] = v;
}

const sorted = (list: Iterable<unknown>): unknown[] => [...list].sort();

function expectAnswers(database: LoneDatabase, world: World): void {
  for (const type of world.types) {
    const { kind, name, properties } = type;
    const expected = world.of(name);
    const found = database.call(`scan${name}`).x as Record<string, unknown>[];
    expect(sorted(found.map(({ id }) => id))).toEqual(sorted(expected.map(([id]) => id)));
    expect(database.call(`count${name}`)).toEqual({ x: expected.length });
    for (const row of found) {
      const { values, from, to } = world.elements.get(row.id as string)!;
      expect(row.label).toBe(name);
      for (const { name: own } of properties) expect(row[own]).toBe(values[own] ?? null);
      if (kind === 'edge') expect([row.from_node, row.to_node]).toEqual([from, to]);
    }
    const having = (test: (element: Element) => boolean) =>
      sorted(expected.filter(([, element]) => test(element)).map(([id]) => id));
    for (const { name: own, index } of kind === 'edge' ? [] : properties) {
      if (index === '') continue;
      for (const v of new Set(expected.flatMap(([, { values }]) => values[own] ?? []))) {
        const hits = database.call(`by${name}${own}`, { v }).x as string[];
        expect(sorted(hits), `${name}.${own}`).toEqual(having(({ values }) => values[own] === v));
      }
    }
    if (kind === 'edge') expectEdges(database, world, name);
    else {
      for (const w of words) {
        const hits = database.call(`words${name}`, { w }).x as string[];
        const has = ({ values }: Element) =>
          Object.values(values).some((value) => String(value).split(' ').includes(w));
        expect(sorted(hits), w).toEqual(having(has));
      }
    }
    if (kind !== 'vector' || expected.length === 0) continue;
    const vec = world.vectorFor(type);
    expect(database.call(`near${name}`, { vec }).x, name).toEqual(world.nearest(name, vec));
  }
}

function expectEdges(database: LoneDatabase, world: World, name: string): void {
  const type = world.types.find((each) => each.name === name)!;
  for (const [id] of world.of(type.from!)) {
    const own = world.of(name).filter(([, { from }]) => from === id);
    const hits = database.call(`out${name}`, { id }).x as string[];
    expect(sorted(hits)).toEqual(sorted(own.map(([edge]) => edge)));
  }
}

/** Takes the database to the sources of `next`; false when they are refused, rightly. */
function move(database: LoneDatabase, world: World, next: World): boolean {
  const source = next.source();
  const dice = world.chance();
  const byReload = dice < 0.6;
  if (!byReload) {
    if (world.chance() < 0.5) database.stop();
    else database.kill();
  }
  const go = () => (byReload ? database.reload(source) : database.open(source));
  if (!next.isSound) {
    expect(go).toThrowError(/SCHEMA_INCOMPATIBLE|holds/);
    if (!byReload) database.open(world.source());
    return false;
  }
  if (byReload && dice < 0.2) {
    // Dies between the commit and what follows it.
    armFailpoint('schemaCommitted@1:throw');
    expect(go).toThrowError('failpoint schemaCommitted');
    database.kill();
    database.open(source);
  } else go();
  return true;
}

/** One type of vectors becomes another, with the sources before and after. */
const ways: [what: string, before: string, after: string, mappings: string][] = [
  ['into a filled type', 'V::T1 {} V::T2 {}', 'V::T2 {}', 'V::T1 => V::T2 {}'],
  ['under a new name', 'V::T1 {}', 'V::T2 {}', 'V::T1 => V::T2 {}'],
  ['under a new name with the same options', 'V::T1 {}', 'V::T4 {}', 'V::T1 => V::T4 {}'],
  [
    'for each other',
    'V::T1 {} V::T2 {}',
    'V::T1 {} V::T2 {}',
    'V::T1 => V::T2 {} V::T2 => V::T1 {}',
  ],
];

test.each(ways)('vectors that move %s are found', (_, before, after, mappings) => {
  const namesOf = (declarations: string) =>
    [...declarations.matchAll(/T\d/g)].map(([name]) => name);
  const queries = (declarations: string) =>
    namesOf(declarations).map(
      (name) => `
QUERY add${name}(vec: [F64]) => x <- AddV<${name}>(vec)::ID RETURN x
QUERY near${name}(vec: [F64]) => x <- SearchV<${name}>(vec, 100)::ID RETURN x`,
    );
  const first = `schema::1 { ${before} }`;
  const sources = [
    [first, ...queries(before)].join('\n'),
    `${first} schema::2 { ${after} } MIGRATION schema::1 => schema::2 { ${mappings} }${queries(after).join('')}`,
  ] as const;
  for (const isSnapshot of [false, true]) {
    for (const end of ['none', 'stop', 'kill'] as const) {
      const database = new LoneDatabase().open(sources[0], { types });
      const all = namesOf(before).flatMap((name, i) =>
        [1, 2].map((k) => database.call(`add${name}`, { vec: [i + k, k] }).x as string),
      );
      if (isSnapshot) database.snapshot();
      database.reload(sources[1]);
      if (isSnapshot) database.snapshot();
      if (end !== 'none') {
        database[end]();
        database.open(sources[1]);
      }
      const found = namesOf(after).flatMap(
        (name) => database.call(`near${name}`, { vec: [1, 2] }).x as string[],
      );
      expect(sorted(found)).toEqual(sorted(all));
      expect(database.verify()).toEqual([]);
      database.dispose();
    }
  }
});

test('a migration of any form, at any moment, with any history', async () => {
  for (let seed = first; seed < first + seeds; seed++) {
    // What waits for the loop to be let go is let go with it: memory of databases that were closed.
    await new Promise((resolve) => setImmediate(resolve));
    const chance = random(seed);
    let world = new World(chance);
    const database = new LoneDatabase().open(world.source(), { types });
    const trail: string[] = [];
    let tried = '';
    try {
      fill(database, world);
      for (let step = 0; step < 4; step++) {
        if (chance() < 0.5) database.snapshot();
        const next = world.copy();
        next.history = '';
        const versions = chance() < 0.3 ? 2 : chance() < 0.7 ? 1 : 0;
        if (versions === 0) next.edit();
        for (let i = 0; i < versions; i++) next.migrate();
        tried = next.history + next.declarations();
        const isTaken = move(database, world, next);
        trail.push(`${versions} versions ${isTaken ? 'taken' : 'refused'}`);
        if (isTaken) world = next;
        expectAnswers(database, world);
        expect(database.verify()).toEqual([]);
        change(database, world);
        fill(database, world);
        if (chance() < 0.5) database.snapshot();
        if (chance() < 0.3) {
          if (chance() < 0.5) database.stop();
          else database.kill();
          database.open(world.source());
        }
        expectAnswers(database, world);
        expect(database.verify()).toEqual([]);
      }
    } catch (error) {
      const where = `seed ${seed}: ${trail.join(', ')}\n${tried}`;
      throw new Error(`${where}\n${String(error)}`, { cause: error });
    } finally {
      database.dispose();
    }
  }
}, 3_600_000);
