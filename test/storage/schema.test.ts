// Schemas edited under data: what is taken over, what returns, what is refused.
import { describe, expect, it } from 'vitest';
import { toInstant } from '../../engine/base/date.js';
import { type Scalar, Uuid } from '../../engine/base/value.js';
import { check } from '../../engine/storage/check/check.js';
import { edge, node, vector } from './support/declare.js';
import { Documents, add, apply, lookup, open, read, refused, schema } from './support/evolve.js';
import { freshFolder, labelNamed, values, write } from './support/garden.js';

describe('an edited schema', () => {
  const first = schema(1, {
    nodes: [node('A', { x: 'String', y: 'I32' })],
    edges: [edge('E', ['A', 'A'])],
  });

  it('adds types, properties and indexes over existing data, and survives a reopen', () => {
    const path = freshFolder();
    let storage = open(path);
    apply(storage, first);
    const id = add(storage, 'A', { x: 'one', y: 5 });
    const labelId = labelNamed(storage, 'A').id;
    apply(
      storage,
      schema(1, {
        nodes: [node('B'), node('A', { z: 'U8', x: 'unique String', y: 'index I32' })],
        edges: first.edges,
      }),
    );
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
    const loop = write(storage, (view) =>
      view.createEdge(labelNamed(storage, 'E'), id, id, values({})),
    );
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
    expect([...storage.reader().adjacency(id, labelNamed(storage, 'E').id, 'out')]).toEqual([
      loop,
      id,
    ]);
    expect(check(storage.env)).toEqual([]);
    storage.close();
  });

  it.each([
    [
      'a property type',
      schema(1, { nodes: [node('A', { x: 'String', y: 'I64' })], edges: first.edges }),
      /A\.y changed from I32 to I64/,
    ],
    ['the kind of a type', schema(1, { vectors: [vector('A')] }), /A changed from node to vector/],
    [
      'the ends of an edge type',
      schema(1, {
        nodes: [node('A', { x: 'String', y: 'I32' }), node('B')],
        edges: [edge('E', ['A', 'B'])],
      }),
      /ends of E::E/,
    ],
    [
      'uniqueness over duplicates',
      schema(1, { nodes: [node('A', { x: 'unique String', y: 'I32' })], edges: first.edges }),
      /A\.x holds a value that another element has: [0-9a-f-]{36}/,
    ],
    [
      'uniqueness over parallel edges',
      schema(1, { nodes: first.nodes, edges: [edge('E', ['A', 'A'], {}, true)] }),
      /E::E holds a second edge/,
    ],
    [
      'an index over long values',
      schema(1, { nodes: [node('A', { x: 'index String', y: 'I32' })], edges: first.edges }),
      /too long to index/,
    ],
  ])(
    'is refused when it changes %s that data depends on, and changes nothing',
    (_, target, what) => {
      const storage = open();
      apply(storage, first);
      const [a] = [
        add(storage, 'A', { x: 'same', y: 1 }),
        add(storage, 'A', { x: 'same' }),
        add(storage, 'A', { x: 'l'.repeat(3000) }),
      ];
      for (let i = 0; i < 2; i++)
        write(storage, (view) => view.createEdge(labelNamed(storage, 'E'), a!, a!, values({})));
      expect(() => apply(storage, target)).toThrowError(refused(what));
      expect(storage.catalog.labels().map(({ name }) => name)).toEqual(['A', 'E']);
      expect(read(storage, a!)).toEqual({ x: 'same', y: 1 });
      expect(check(storage.env)).toEqual([]);
      add(storage, 'A', { x: 'still works' });
      storage.close();
    },
  );

  it('may change what no data depends on', () => {
    const storage = open();
    apply(storage, first);
    const id = add(storage, 'A', { x: 'one' });
    apply(
      storage,
      schema(1, {
        nodes: [node('A', { x: 'String', y: 'Date' }), node('B')],
        edges: [edge('E', ['B', 'A'], {}, true)],
      }),
    );
    write(storage, (view) => view.update([{ id, values: values({ x: 'two', y: toInstant(5)! }) }]));
    expect(read(storage, id)).toEqual({ x: 'two', y: toInstant(5) });
    storage.close();
  });

  it('turns an index into a unique one and back into none', () => {
    const storage = open();
    const withIndex = (index: string) =>
      schema(1, { nodes: [node('A', { x: `${index} String`.trim() })] });
    apply(storage, withIndex('index'));
    for (let i = 0; i < 200; i++) add(storage, 'A', { x: `v${i % 199}` });
    expect(() => apply(storage, withIndex('unique'))).toThrowError(refused(/A\.x holds/));
    write(storage, (view) => view.remove(200));
    apply(storage, withIndex('unique'));
    expect(() => add(storage, 'A', { x: 'v1' })).toThrow('Duplicate key');
    apply(storage, withIndex(''));
    add(storage, 'A', { x: 'v1' });
    expect(storage.env.index.keys({ start: Uint8Array.of(0), end: Uint8Array.of(255) })).toEqual(
      [],
    );
    expect(check(storage.env)).toEqual([]);
    storage.close();
  });

  it('keeps defaults of every kind', () => {
    const storage = open();
    const defaults: [string, Scalar][] = [
      ['String', 'a"b'],
      ['U128', 2n ** 127n],
      ['Date', toInstant(1, 5)!],
      ['ID', new Uuid('01890a5d-ac96-774b-bcce-b302099a8057')],
      ['Boolean', false],
      ['F64', 0.1],
    ];
    const properties = defaults.map(([type, value], i) => ({
      ...node('A', { [`p${i}`]: type }).properties[0]!,
      default: { kind: 'literal' as const, value },
    }));
    const now = { ...node('A', { now: 'Date' }).properties[0]!, default: { kind: 'now' as const } };
    const target = schema(1, {
      nodes: [{ kind: 'node', name: 'A', properties: [...properties, now] }],
    });
    apply(storage, target);
    storage.reloadCatalog();
    expect(labelNamed(storage, 'A').properties).toMatchObject([...properties, now]);
    storage.close();
  });
});
