// Migrations: elements rewritten, renamed, merged, or everything left as it was.
import { describe, expect, it } from 'vitest';
import { toInstant } from '../../engine/base/date.js';
import { type Scalar, Uuid } from '../../engine/base/value.js';
import { check } from '../../engine/storage/check/check.js';
import { convertScalar } from '../../engine/storage/schema/cast.js';
import type { Migration } from '../../engine/base/migration-rule.js';
import { fromOf, labelOf } from '../../engine/storage/record/record.js';
import { edge, node, vector } from './support/declare.js';
import { Documents, add, apply, lookup, open, read, refused, schema } from './support/evolve.js';
import { freshFolder, labelNamed, values, write } from './support/garden.js';

describe('a migration', () => {
  const tool = schema(1, {
    nodes: [node('Tool', { name: 'String', price: 'I32', code: 'String' })],
  });
  const tool2 = schema(2, {
    nodes: [
      node('Tool', {
        name: 'index String',
        price: 'F64',
        code: 'U64',
        checked: 'Boolean',
        at: 'Date',
      }),
    ],
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

  it('rewrites every element, indexes it, and runs one time', () => {
    const path = freshFolder();
    const storage = open(path);
    apply(storage, tool);
    const ids = [0, 1].map((i) =>
      add(storage, 'Tool', { name: 'saw', price: 12 + i, code: '0042' }),
    );
    for (let i = 0; i < 2; i++)
      apply(storage, tool2, { olderSchemas: [tool], migrations: [migration] });
    expect(read(storage, ids[1]!)).toEqual({
      name: 'saw',
      price: 13,
      code: 42,
      checked: false,
      at: toInstant(1_772_352_000),
    });
    expect(lookup(storage, 'Tool', 'name', 'saw')).toEqual(ids);
    expect(check(storage.env)).toEqual([]);
    storage.close();
  });

  it('that fails for one element changes nothing and names it', () => {
    const storage = open();
    apply(storage, tool);
    const id = add(storage, 'Tool', { name: 'a', price: 1, code: '1' });
    add(storage, 'Tool', { name: 'b', price: 1, code: 'x1' });
    expect(() =>
      apply(storage, tool2, { olderSchemas: [tool], migrations: [migration] }),
    ).toThrowError(refused(/Tool holds code, which cannot be converted,: [0-9a-f-]{36}\./));
    expect(read(storage, id)).toEqual({ name: 'a', price: 1, code: '1' });
    expect(check(storage.env)).toEqual([]);
    storage.close();
  });

  it('renames, swaps and merges types of every kind with all dependent data', () => {
    const one = schema(1, {
      nodes: [
        node('A', { t: 'String' }),
        node('B', { t: 'String' }),
        node('C', { u: 'unique String' }),
        node('Kept', { k: 'I32' }),
      ],
      vectors: [vector('V', { t: 'String' }), vector('Note', { t: 'String' })],
      edges: [edge('X', ['A', 'B']), edge('Y', ['A', 'B']), edge('Z', ['C', 'Note'])],
    });
    const two = schema(2, {
      nodes: [node('A', { t: 'String' }), node('B', { t: 'String' }), node('Kept', { k: 'F64' })],
      vectors: [vector('Note', { t: 'String' })],
      edges: [edge('Y', ['B', 'A']), edge('Z', ['A', 'Note'])],
    });
    const map = (
      kind: 'node' | 'edge' | 'vector',
      from: string,
      to: string,
      fields: Migration['types'][0]['fields'] = [],
    ) => ({ kind, from, to, fields });
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
      for (const [name, id, t] of [
        ['A', a, 'ta'],
        ['B', b, 'tb'],
        ['C', c, 'uc'],
        ['V', v, 'tv'],
        ['Note', n, 'tn'],
      ] as const)
        text.add(view, label(name).id, id, [t]);
      return [a, b, c, v, n, kept, ...edges, view.createEdge(label('Z'), c, n, values({}))];
    }) as number[] as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const before = storage.committedSeq();
    apply(storage, two, { olderSchemas: [one], migrations: [step], text });
    const view = storage.reader();
    const nameOf = (id: number) => storage.catalog.label(labelOf(view.record(id)!)).name;
    expect([a, b, c, v, n, kept, x1, y, x2, z].map(nameOf)).toEqual([
      'B',
      'A',
      'A',
      'Note',
      'Note',
      'Kept',
      'Y',
      'Y',
      'Y',
      'Z',
    ]);
    expect([a, c, kept].map((id) => read(storage, id))).toEqual([
      { t: 'ta' },
      { t: 'uc' },
      { k: null },
    ]);
    expect([...view.adjacency(a, labelNamed(storage, 'Y').id, 'out')]).toEqual([
      x1,
      b,
      y,
      b,
      x2,
      b,
    ]);
    expect(fromOf(view.record(z)!)).toBe(c);
    expect(view.count(labelNamed(storage, 'A').id)).toBe(2);
    expect([...storage.replay(before)].map(({ change }) => [change.kind, change.id])).toEqual([
      ['delete', v],
      ['put', v],
    ]);
    const id = (name: string) => labelNamed(storage, name).id;
    expect(new Map([...text.all].sort())).toEqual(
      new Map(
        [
          [`${id('B')}/${a}`, 'ta'],
          [`${id('A')}/${b}`, 'tb'],
          [`${id('A')}/${c}`, 'uc'],
          [`${id('Note')}/${v}`, 'tv'],
          [`${id('Note')}/${n}`, 'tn'],
        ].sort() as [string, string][],
      ),
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
    expect(() =>
      apply(storage, two, {
        olderSchemas: [one],
        migrations: [{ fromVersion: 1, toVersion: 2, types }],
      }),
    ).toThrowError(refused(/embedding of another dimension/));
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
      types: [
        {
          kind: 'node',
          from: 'A',
          to: 'A',
          fields: [{ name: 'x', rule: { kind: 'copy', from: 'x', as } }],
        },
      ],
    });
    const storage = open();
    apply(storage, one);
    const id = add(storage, 'A', { x: 7 });
    apply(storage, three, {
      olderSchemas: [one, two],
      migrations: [step(2, 'F64'), step(1, 'String')],
    });
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
    [toInstant(0)!, 'String', '1970-01-01T00:00:00+00:00'],
    [uuid, 'String', uuid.text],
    ['0042', 'U64', 42],
    ['-1', 'U64', undefined],
    ['1.5', 'F64', 1.5],
    ['1.5', 'I32', undefined],
    [' 1', 'I32', undefined],
    ['1e999', 'F64', undefined],
    ['true', 'Boolean', true],
    ['yes', 'Boolean', undefined],
    ['1970-01-01', 'Date', toInstant(0)!],
    ['30 February', 'Date', undefined],
    [uuid.text.toUpperCase(), 'ID', uuid],
    ['x', 'ID', undefined],
    [toInstant(0)!, 'I64', undefined],
    [null, 'I64', null],
  ] as [Scalar, Parameters<typeof convertScalar>[1], Scalar | undefined][])(
    '%s AS %s',
    (value, type, expected) => {
      expect(convertScalar(value, type)).toEqual(expected);
    },
  );
});
