// Schemas that change under data: what is taken over, what returns, what is refused, and migrations.
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import type { Schema } from '../../engine/base/schema.js';
import { type Scalar, type ScalarList, Uuid } from '../../engine/base/value.js';
import { instantOf } from '../../engine/base/date.js';
import { check } from '../../engine/storage/check.js';
import { convertScalar } from '../../engine/storage/convert.js';
import type { DocumentIndex } from '../../engine/storage/document.js';
import type { Migration } from '../../engine/storage/migration-plan.js';
import { type Storage, openStorage } from '../../engine/storage/open.js';
import { decodeProperty, fromOf, labelOf } from '../../engine/storage/record.js';
import type { ReadView } from '../../engine/storage/store.js';
import { edge, freshFolder, labelNamed, node, values, vector, write } from './garden.js';

const schema = (version: number, parts: Partial<Schema>): Schema => ({
  version,
  nodes: [],
  edges: [],
  vectors: [],
  ...parts,
});

/** Keyword documents as `label/id:texts`, so that tests see what the storage asks of the text room. */
class Documents implements DocumentIndex {
  readonly all = new Map<string, string>();
  add(_: unknown, label: number, id: number, texts: readonly string[]): void {
    this.all.set(`${label}/${id}`, texts.join(' '));
  }
  remove(_: unknown, label: number, id: number, texts: readonly string[]): void {
    expect(this.all.get(`${label}/${id}`)).toBe(texts.join(' '));
    this.all.delete(`${label}/${id}`);
  }
}

function open(path = freshFolder()): Storage {
  return openStorage(path, { limits: defaultLimits, mode: 'create' });
}

function apply(
  storage: Storage,
  target: Schema,
  rest: { olderSchemas?: Schema[]; migrations?: Migration[]; text?: DocumentIndex } = {},
): void {
  const declarations = { schema: target, olderSchemas: rest.olderSchemas ?? [], migrations: rest.migrations ?? [] };
  storage.applySchema(declarations, { nowMs: 1_772_352_000_000, text: rest.text });
}

/** Values of an element by property name. */
function read(storage: Storage, id: number, view: ReadView = storage.reader()): Record<string, unknown> {
  const record = view.record(id)!;
  const label = storage.catalog.label(labelOf(record));
  return Object.fromEntries(label.properties.map((p) => [p.name, decodeProperty(record, p)]));
}

const lookup = (storage: Storage, label: string, name: string, value: Scalar | ScalarList) => {
  const property = labelNamed(storage, label).properties.find((p) => p.name === name)!;
  return [...storage.reader().lookup(property, value)];
};

const refused = (what: RegExp) =>
  expect.objectContaining({ code: 'SCHEMA_INCOMPATIBLE', message: expect.stringMatching(what) });

const add = (storage: Storage, label: string, object: Record<string, Scalar | ScalarList>): number =>
  write(storage, (view) => view.createNode(labelNamed(storage, label), values(object)));

describe('an edited schema', () => {
  const first = schema(1, { nodes: [node('A', { x: 'String', y: 'I32' })], edges: [edge('E', ['A', 'A'])] });

  it('adds types, properties and indexes over existing data, and survives a reopen', () => {
    const path = freshFolder();
    let storage = open(path);
    apply(storage, first);
    const id = add(storage, 'A', { x: 'one', y: 5 });
    const labelId = labelNamed(storage, 'A').id;
    apply(storage, schema(1, { nodes: [node('B'), node('A', { z: 'U8', x: 'unique String', y: 'index I32' })], edges: first.edges }));
    storage.close();
    storage = open(path);
    expect(labelNamed(storage, 'A').id).toBe(labelId);
    expect(read(storage, id)).toEqual({ z: null, x: 'one', y: 5 });
    expect(Object.keys(read(storage, id))).toEqual(['z', 'x', 'y']);
    expect(lookup(storage, 'A', 'x', 'one')).toEqual([id]);
    expect(lookup(storage, 'A', 'y', 5)).toEqual([id]);
    expect(check(storage.env)).toEqual([]);
    storage.close();
  });

  it('hides what disappears, and has it back when it is declared again', () => {
    const storage = open();
    const text = new Documents();
    apply(storage, first);
    const id = add(storage, 'A', { x: 'one', y: 5 });
    text.add(undefined, labelNamed(storage, 'A').id, id, ['one']);
    const loop = write(storage, (view) => view.createEdge(labelNamed(storage, 'E'), id, id, values({})));
    apply(storage, schema(1, { nodes: [node('A', { y: 'index I32' })] }), { text });
    expect(storage.catalog.find('edge', 'E')).toBeUndefined();
    expect(read(storage, id)).toEqual({ y: 5 });
    expect([...text.all.values()]).toEqual([]);
    write(storage, (view) => {
      view.update([{ id, values: values({ y: 6 }) }]);
      expect([...view.incident(id)]).toEqual([loop]);
    });
    expect(check(storage.env)).toEqual([]);
    apply(storage, first, { text });
    expect(read(storage, id)).toEqual({ x: 'one', y: 6 });
    expect([...text.all.values()]).toEqual(['one']);
    expect([...storage.reader().adjacency(id, labelNamed(storage, 'E').id, 'out')]).toEqual([loop, id]);
    expect(check(storage.env)).toEqual([]);
    storage.close();
  });

  it.each([
    ['a property type', schema(1, { nodes: [node('A', { x: 'String', y: 'I64' })], edges: first.edges }), /A\.y changed from I32 to I64/],
    ['the kind of a type', schema(1, { vectors: [vector('A')] }), /A changed from node to vector/],
    ['the ends of an edge type', schema(1, { nodes: [node('A', { x: 'String', y: 'I32' }), node('B')], edges: [edge('E', ['A', 'B'])] }), /ends of E::E/],
    ['uniqueness over duplicates', schema(1, { nodes: [node('A', { x: 'unique String', y: 'I32' })], edges: first.edges }), /A\.x holds a value that another element has: [0-9a-f-]{36}/],
    ['uniqueness over parallel edges', schema(1, { nodes: first.nodes, edges: [edge('E', ['A', 'A'], {}, true)] }), /E::E holds a second edge/],
    ['an index over long values', schema(1, { nodes: [node('A', { x: 'index String', y: 'I32' })], edges: first.edges }), /too long to index/],
  ])('is refused when it changes %s that data depends on, and changes nothing', (_, target, what) => {
    const storage = open();
    apply(storage, first);
    const [a] = [add(storage, 'A', { x: 'same', y: 1 }), add(storage, 'A', { x: 'same' }), add(storage, 'A', { x: 'l'.repeat(3000) })];
    for (let i = 0; i < 2; i++) write(storage, (view) => view.createEdge(labelNamed(storage, 'E'), a!, a!, values({})));
    expect(() => apply(storage, target)).toThrowError(refused(what));
    expect(storage.catalog.labels().map(({ name }) => name)).toEqual(['A', 'E']);
    expect(read(storage, a!)).toEqual({ x: 'same', y: 1 });
    expect(check(storage.env)).toEqual([]);
    add(storage, 'A', { x: 'still works' });
    storage.close();
  });

  it('may change what no data depends on', () => {
    const storage = open();
    apply(storage, first);
    const id = add(storage, 'A', { x: 'one' });
    apply(storage, schema(1, { nodes: [node('A', { x: 'String', y: 'Date' }), node('B')], edges: [edge('E', ['B', 'A'], {}, true)] }));
    write(storage, (view) => view.update([{ id, values: values({ x: 'two', y: instantOf(5)! }) }]));
    expect(read(storage, id)).toEqual({ x: 'two', y: instantOf(5) });
    storage.close();
  });

  it('turns an index into a unique one and back into none', () => {
    const storage = open();
    const withIndex = (index: string) => schema(1, { nodes: [node('A', { x: `${index} String`.trim() })] });
    apply(storage, withIndex('index'));
    for (let i = 0; i < 200; i++) add(storage, 'A', { x: `v${i % 199}` });
    expect(() => apply(storage, withIndex('unique'))).toThrowError(refused(/A\.x holds/));
    write(storage, (view) => view.remove(200));
    apply(storage, withIndex('unique'));
    expect(() => add(storage, 'A', { x: 'v1' })).toThrow('Duplicate key');
    apply(storage, withIndex(''));
    add(storage, 'A', { x: 'v1' });
    expect(storage.env.index.keys({ start: Uint8Array.of(0), end: Uint8Array.of(255) })).toEqual([]);
    expect(check(storage.env)).toEqual([]);
    storage.close();
  });

  it('keeps defaults of every kind', () => {
    const storage = open();
    const defaults: [string, Scalar][] = [
      ['String', 'a"b'],
      ['U128', 2n ** 127n],
      ['Date', instantOf(1, 5)!],
      ['ID', new Uuid('01890a5d-ac96-774b-bcce-b302099a8057')],
      ['Boolean', false],
      ['F64', 0.1],
    ];
    const properties = defaults.map(([type, value], i) => ({
      ...node('A', { [`p${i}`]: type }).properties[0]!,
      default: { kind: 'literal' as const, value },
    }));
    const now = { ...node('A', { now: 'Date' }).properties[0]!, default: { kind: 'now' as const } };
    const target = schema(1, { nodes: [{ kind: 'node', name: 'A', properties: [...properties, now] }] });
    apply(storage, target);
    storage.reloadCatalog();
    expect(labelNamed(storage, 'A').properties).toMatchObject([...properties, now]);
    storage.close();
  });
});

describe('a migration', () => {
  const tool = schema(1, { nodes: [node('Tool', { name: 'String', price: 'I32', code: 'String' })] });
  const tool2 = schema(2, {
    nodes: [node('Tool', { name: 'index String', price: 'F64', code: 'U64', checked: 'Boolean', at: 'Date' })],
  });
  const migration: Migration = {
    fromVersion: 1,
    toVersion: 2,
    types: [
      {
        kind: 'node',
        from: 'Tool',
        to: 'Tool',
        fields: [
          { name: 'price', rule: { kind: 'copy', from: 'price', as: 'F64' } },
          { name: 'code', rule: { kind: 'copy', from: 'code', as: 'U64' } },
          { name: 'checked', rule: { kind: 'literal', value: false } },
          { name: 'at', rule: { kind: 'now' } },
        ],
      },
    ],
  };

  it('rewrites every element, indexes it, and runs once', () => {
    const path = freshFolder();
    const storage = open(path);
    apply(storage, tool);
    const ids = [0, 1].map((i) => add(storage, 'Tool', { name: 'saw', price: 12 + i, code: '0042' }));
    for (let i = 0; i < 2; i++) apply(storage, tool2, { olderSchemas: [tool], migrations: [migration] });
    expect(read(storage, ids[1]!)).toEqual({ name: 'saw', price: 13, code: 42, checked: false, at: instantOf(1_772_352_000) });
    expect(lookup(storage, 'Tool', 'name', 'saw')).toEqual(ids);
    expect(check(storage.env)).toEqual([]);
    storage.close();
  });

  it('that fails for one element changes nothing and names it', () => {
    const storage = open();
    apply(storage, tool);
    const id = add(storage, 'Tool', { name: 'a', price: 1, code: '1' });
    add(storage, 'Tool', { name: 'b', price: 1, code: 'x1' });
    expect(() => apply(storage, tool2, { olderSchemas: [tool], migrations: [migration] })).toThrowError(
      refused(/Tool holds code, which cannot be converted,: [0-9a-f-]{36}\./),
    );
    expect(read(storage, id)).toEqual({ name: 'a', price: 1, code: '1' });
    expect(check(storage.env)).toEqual([]);
    storage.close();
  });

  it('renames, swaps and merges types of every kind, with everything that hangs on them', () => {
    const one = schema(1, {
      nodes: [node('A', { t: 'String' }), node('B', { t: 'String' }), node('C', { u: 'unique String' }), node('Kept', { k: 'I32' })],
      vectors: [vector('V', { t: 'String' }), vector('Note', { t: 'String' })],
      edges: [edge('X', ['A', 'B']), edge('Y', ['A', 'B']), edge('Z', ['C', 'Note'])],
    });
    const two = schema(2, {
      nodes: [node('A', { t: 'String' }), node('B', { t: 'String' }), node('Kept', { k: 'F64' })],
      vectors: [vector('Note', { t: 'String' })],
      edges: [edge('Y', ['B', 'A']), edge('Z', ['A', 'Note'])],
    });
    const map = (kind: 'node' | 'edge' | 'vector', from: string, to: string, fields: Migration['types'][0]['fields'] = []) => ({ kind, from, to, fields });
    const step: Migration = {
      fromVersion: 1,
      toVersion: 2,
      types: [
        map('node', 'A', 'B'),
        map('node', 'B', 'A'),
        map('node', 'C', 'A', [{ name: 't', rule: { kind: 'copy', from: 'u' } }]),
        map('edge', 'X', 'Y'),
        map('vector', 'V', 'Note'),
      ],
    };
    const storage = open();
    const text = new Documents();
    apply(storage, one);
    const [a, b, c, v, n, kept, x1, y, x2, z] = write(storage, (view) => {
      const label = (name: string) => labelNamed(storage, name);
      const a = view.createNode(label('A'), values({ t: 'ta' }));
      const b = view.createNode(label('B'), values({ t: 'tb' }));
      const c = view.createNode(label('C'), values({ u: 'uc' }));
      const v = view.createVector(label('V'), Float64Array.of(1, 2), values({ t: 'tv' }));
      const n = view.createVector(label('Note'), Float64Array.of(3, 4), values({ t: 'tn' }));
      const kept = view.createNode(label('Kept'), values({ k: 3 }));
      const edges = ['X', 'Y', 'X'].map((name) => view.createEdge(label(name), a, b, values({})));
      for (const [name, id, t] of [['A', a, 'ta'], ['B', b, 'tb'], ['C', c, 'uc'], ['V', v, 'tv'], ['Note', n, 'tn']] as const)
        text.add(view, label(name).id, id, [t]);
      return [a, b, c, v, n, kept, ...edges, view.createEdge(label('Z'), c, n, values({}))];
    }) as number[] as [number, number, number, number, number, number, number, number, number, number];
    const before = storage.committedSeq();
    apply(storage, two, { olderSchemas: [one], migrations: [step], text });
    const view = storage.reader();
    const nameOf = (id: number) => storage.catalog.label(labelOf(view.record(id)!)).name;
    expect([a, b, c, v, n, kept, x1, y, x2, z].map(nameOf)).toEqual(['B', 'A', 'A', 'Note', 'Note', 'Kept', 'Y', 'Y', 'Y', 'Z']);
    expect([a, c, kept].map((id) => read(storage, id))).toEqual([{ t: 'ta' }, { t: 'uc' }, { k: null }]);
    expect([...view.adjacency(a, labelNamed(storage, 'Y').id, 'out')]).toEqual([x1, b, y, b, x2, b]);
    expect(fromOf(view.record(z)!)).toBe(c);
    expect(view.count(labelNamed(storage, 'A').id)).toBe(2);
    expect([...storage.replay(before)].map(({ change }) => [change.kind, change.id])).toEqual([['delete', v], ['put', v]]);
    const id = (name: string) => labelNamed(storage, name).id;
    expect(new Map([...text.all].sort())).toEqual(
      new Map([
        [`${id('B')}/${a}`, 'ta'],
        [`${id('A')}/${b}`, 'tb'],
        [`${id('A')}/${c}`, 'uc'],
        [`${id('Note')}/${v}`, 'tv'],
        [`${id('Note')}/${n}`, 'tn'],
      ].sort() as [string, string][]),
    );
    expect(check(storage.env)).toEqual([]);
    storage.close();
  });

  it('refuses to merge vectors of different dimensions', () => {
    const one = schema(1, { vectors: [vector('V'), vector('Note')] });
    const two = schema(2, { vectors: [vector('Note')] });
    const storage = open();
    apply(storage, one);
    write(storage, (view) => {
      view.createVector(labelNamed(storage, 'V'), Float64Array.of(1), values({}));
      view.createVector(labelNamed(storage, 'Note'), Float64Array.of(1, 2), values({}));
    });
    const types = [{ kind: 'vector' as const, from: 'V', to: 'Note', fields: [] }];
    expect(() => apply(storage, two, { olderSchemas: [one], migrations: [{ fromVersion: 1, toVersion: 2, types }] })).toThrowError(
      refused(/embedding of another dimension/),
    );
    expect(check(storage.env)).toEqual([]);
    storage.close();
  });

  it('chains through versions', () => {
    const one = schema(1, { nodes: [node('A', { x: 'I32' })] });
    const two = schema(2, { nodes: [node('A', { x: 'String' })] });
    const three = schema(3, { nodes: [node('A', { x: 'F64' })] });
    const step = (fromVersion: number, as: 'String' | 'F64'): Migration => ({
      fromVersion,
      toVersion: fromVersion + 1,
      types: [{ kind: 'node', from: 'A', to: 'A', fields: [{ name: 'x', rule: { kind: 'copy', from: 'x', as } }] }],
    });
    const storage = open();
    apply(storage, one);
    const id = add(storage, 'A', { x: 7 });
    apply(storage, three, { olderSchemas: [one, two], migrations: [step(2, 'F64'), step(1, 'String')] });
    expect(read(storage, id)).toEqual({ x: 7 });
    expect(labelNamed(storage, 'A').properties[0]!.type).toEqual({ kind: 'scalar', name: 'F64' });
    storage.close();
  });
});

describe('AS', () => {
  const uuid = new Uuid('01890a5d-ac96-774b-bcce-b302099a8057');
  it.each([
    [12, 'F64', 12],
    [12.5, 'I32', undefined],
    [1e20, 'U128', 10n ** 20n],
    [300, 'U8', undefined],
    [2n ** 63n + 1n, 'F64', undefined],
    [2n ** 63n, 'F64', 2 ** 63],
    [0.1, 'F32', 0.1],
    [0.123456789123, 'F32', undefined],
    [true, 'String', 'true'],
    [true, 'U8', undefined],
    [instantOf(0)!, 'String', '1970-01-01T00:00:00+00:00'],
    [uuid, 'String', uuid.text],
    ['0042', 'U64', 42],
    ['-1', 'U64', undefined],
    ['1.5', 'F64', 1.5],
    ['1.5', 'I32', undefined],
    [' 1', 'I32', undefined],
    ['1e999', 'F64', undefined],
    ['true', 'Boolean', true],
    ['yes', 'Boolean', undefined],
    ['1970-01-01', 'Date', instantOf(0)!],
    ['30 February', 'Date', undefined],
    [uuid.text.toUpperCase(), 'ID', uuid],
    ['x', 'ID', undefined],
    [instantOf(0)!, 'I64', undefined],
    [null, 'I64', null],
  ] as [Scalar, Parameters<typeof convertScalar>[1], Scalar | undefined][])('%s AS %s', (value, type, expected) => {
    expect(convertScalar(value, type)).toEqual(expected);
  });
});
