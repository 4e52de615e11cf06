// Write scenarios on the garden: creation with defaults, uniqueness, updates, upserts, deletions,
// and what searches see inside the transaction.
import { describe, expect, it } from 'vitest';
import type { Scalar } from '../../engine/base/value.js';
import type { End, Expression } from '../../engine/plan/expression.js';
import { kit } from './support/kit.js';
import { writing } from './support/writing.js';

const {
  lit,
  slot,
  parameter,
  get,
  list,
  compare,
  math,
  many,
  one,
  opt,
  scan,
  of,
  byId,
  lookup,
  out,
  into,
  outE,
  where,
  ids,
  count,
  project,
  set,
} = kit;

const { run, refused, bind, effect, drop, node, edge, single, id, update } = writing();
const vector = (
  numbers: number[],
  values: Record<string, Expression | undefined> = {},
): Expression => ({
  kind: 'addVector',
  type: 'Note',
  vector: lit(Float64Array.from(numbers)),
  set: set(values),
});
const every = (value: Expression): End => ({ value, many: true });
const searched = (numbers: number[], k = 1): Expression =>
  many(
    { kind: 'searchVector', type: 'Note', vector: lit(Float64Array.from(numbers)), k: lit(k) },
    ids,
  );
const found = (type: string, text: string): Expression =>
  many(
    {
      kind: 'searchText',
      type: { kind: type === 'Note' ? 'vector' : 'node', name: type },
      text: lit(text),
      k: lit(9),
    },
    ids,
  );

describe('creating', () => {
  it('fills defaults, also where the value is null, not where it is NONE', () => {
    const values = { email: lit('dia@x.org'), level: lit(null), joined: undefined };
    expect(run(node('Gardener', values))).toBe(
      '{"id":"#26","label":"Gardener","email":"dia@x.org","city":null,"name":null,"level":1,"joined":null}',
    );
    expect(run(node('Gardener'))).toContain('"joined":"2026-03-02T09:30:00.123456+00:00"');
  });

  it('refuses a second unique value and stores nothing', () => {
    const statements = [effect(node('Bed', { code: lit('Z') }))];
    expect(refused(node('Gardener', { email: lit('ana@x.org') }), statements)).toBe(
      'UNIQUE_VIOLATION {"type":"Gardener","property":"email"}',
    );
  });

  it('converts values as they are stored', () => {
    expect(run(get(node('Bed', { guess: lit(2n ** 64n) }), 'guess'))).toBe('18446744073709552000');
    expect(run(get(node('Bed', { guess: lit(-0) }), 'guess'))).toBe('0');
    expect(refused(node('Gardener', { level: lit(256) }))).toBe(
      'PARAM_RANGE {"param":"level","min":"0","max":"255","got":256}',
    );
    expect(refused(node('Plant', { tags: lit(['a', null]) }))).toBe(
      'PARAM_TYPE {"param":"tags[1]","type":"String","got":"null"}',
    );
  });

  it('creates vectors that a search finds immediately, before and after the commit', () => {
    const statements = [bind(1, vector([-1, 0], { text: lit('Moss') }))];
    const seen = list(searched([-1, 0]), found('Note', 'moss'));
    expect(run(seen, statements)).toBe('[["#26"],["#26"]]');
    expect(run(seen)).toBe('[["#26"],["#26"]]');
    expect(refused(vector([1, 2, 3]))).toBe(
      'VECTOR_DIMENSION {"type":"Note","expected":2,"got":3}',
    );
    expect(refused(vector([]))).toBe('VECTOR_EMPTY {"param":"vector"}');
  });

  it('makes a batch of vectors', () => {
    const vectors: Expression = { kind: 'addVectors', type: 'Photo', vectors: parameter(0) };
    const args = [[Float64Array.of(1, 0), [0, 1]]];
    expect(run(project(vectors, 3, { data: get(slot(3), 'data') }), [], args)).toBe(
      '[{"data":[1,0]},{"data":[0,1]}]',
    );
  });

  it('makes edges between ids and elements, checking the ends', () => {
    expect(
      run(
        edge('Grows', single(id('g3')), single(one(byId('Plant', id('p3')))), { rating: lit(3) }),
      ),
    ).toBe(
      '{"id":"#26","label":"Grows","from_node":"g3","to_node":"p3","since":"2026-03-02T09:30:00.123456+00:00","rating":3}',
    );
    const cases: [from: Expression, to: Expression, error: string][] = [
      [
        id('b1'),
        id('p3'),
        'EDGE_ENDPOINT_TYPE {"edge":"Grows","from":"Gardener","to":"Plant","got":"Bed"}',
      ],
      [
        id('g1'),
        id('r1'),
        'EDGE_ENDPOINT_TYPE {"edge":"Grows","from":"Gardener","to":"Plant","got":"Grows"}',
      ],
      [id('g1'), lit(null), 'NO_VALUE_FOUND {"what":"Plant"}'],
      [id('g1'), many(lookup('Plant', 'name', lit('Yew'))), 'NO_VALUE_FOUND {"what":"Plant"}'],
      [id('g1'), many(scan('Plant')), 'EXPECTED_ONE {"place":"Plant","count":3}'],
    ];
    for (const [from, to, error] of cases)
      expect(refused(edge('Grows', single(from), single(to)))).toBe(error);
  });

  it('makes every combination of many ends, From-major, none of an empty list', () => {
    const pair = (e: Expression) =>
      project(e, 3, { f: get(slot(3), 'from_node'), t: get(slot(3), 'to_node') });
    const both = edge('Grows', every(list(id('g2'), id('g3'))), every(list(id('p1'), id('p3'))));
    expect(run(pair(both))).toBe(
      '[{"f":"g2","t":"p1"},{"f":"g2","t":"p3"},{"f":"g3","t":"p1"},{"f":"g3","t":"p3"}]',
    );
    expect(run(edge('Grows', single(id('g1')), every(lit([]))))).toBe('[]');
  });

  it('refuses a second edge of a unique type', () => {
    expect(refused(edge('Follows', single(id('g1')), single(id('g2'))))).toContain(
      'UNIQUE_VIOLATION',
    );
    expect(run(edge('Follows', single(id('g2')), single(id('g2'))))).toContain(
      '"from_node":"g2","to_node":"g2"',
    );
  });

  it('makes an edge per row of a step', () => {
    const step = many(scan('Gardener'), {
      kind: 'addEdge',
      type: 'Grows',
      slot: 5,
      set: set({ rating: get(slot(5), 'level') }),
      to: id('p3'),
    });
    expect(run(get(step, 'rating'))).toBe('[3,1,2]');
    expect(run(one(byId('Plant', id('p3')), into('Grows'), count))).toBe('3');
  });
});

describe('updating', () => {
  it('merges values, keeps null ones, unsets NONE, computes from the state before', () => {
    const changes = {
      stock: math('ADD', true, get(slot(9), 'stock'), lit(10)),
      serial: lit(5),
      tags: undefined,
      name: lit(null),
    };
    const step = update(changes);
    expect(
      run(
        project(many(scan('Plant'), step), 3, {
          n: get(slot(3), 'name'),
          s: get(slot(3), 'stock'),
          t: get(slot(3), 'tags'),
          u: get(slot(3), 'serial'),
        }),
      ),
    ).toBe(
      '[{"n":"Fern","s":13,"t":null,"u":5},{"n":"Rose","s":10,"t":null,"u":5},{"n":"Sage","s":17,"t":null,"u":5}]',
    );
    expect(
      refused(
        many(
          scan('Plant'),
          update({ stock: math('ADD', true, get(slot(9), 'stock'), lit(2147483647)) }),
        ),
      ),
    ).toContain('PARAM_RANGE');
  });

  it('updates every distinct element one time and returns duplicates', () => {
    const step = update({ level: math('ADD', true, get(slot(9), 'level'), lit(1)) });
    expect(run(get(many(scan('Gardener'), out('Follows'), step), 'level'))).toBe('[2,2]');
  });

  it('lets one UPDATE exchange unique values, and leaves no two alike', () => {
    const other = (a: Scalar, b: Scalar) =>
      // The other of two texts, without conditions: looked up through who has the level.
      single0(
        many(of(list(lit(a), lit(b))), where(7, compare('NEQ', slot(7), get(slot(9), 'email')))),
      );
    const two = list(one(byId('Gardener', id('g1'))), one(byId('Gardener', id('g2'))));
    expect(
      run(get(many(of(two), update({ email: other('ana@x.org', 'bo@x.org') })), 'email')),
    ).toBe('["bo@x.org","ana@x.org"]');
    expect(run(one(lookup('Gardener', 'email', lit('bo@x.org')), ids))).toBe('"g1"');
    expect(refused(many(scan('Gardener'), update({ email: lit('same') })))).toContain(
      'UNIQUE_VIOLATION',
    );
  });

  it('keeps indexes and keyword documents in step', () => {
    run(one(byId('Plant', id('p1')), update({ name: lit('Nettle') })));
    expect(run(list(found('Plant', 'fern'), found('Plant', 'nettle')))).toBe('[[],["p1"]]');
    run(one(byId('Gardener', id('g2')), update({ city: lit('Porto') })));
    expect(run(many(lookup('Gardener', 'city', lit('Porto')), ids))).toBe('["g1","g2","g3"]');
  });

  it('keeps search attributes on updated hits', () => {
    const hits = many(
      { kind: 'searchVector', type: 'Note', vector: lit(Float64Array.of(1, 0)), k: lit(1) },
      update({ lang: lit('pt') }),
    );
    expect(run(hits)).toBe(
      '[{"id":"n1","label":"Note","score":1,"distance":0,"text":"Ferns like shade","lang":"pt"}]',
    );
  });

  it('updates nothing of nothing', () => {
    expect(run(many(of(lit(null)), update({ name: lit('x') })))).toBe('[]');
    expect(run(opt(byId('Bed', id('g1'), 'none'), update({ code: lit('x') })))).toBe('null');
  });
});

const single0 = (e: Expression): Expression => ({
  kind: 'single',
  of: e,
  miss: 'error',
  valueName: 'x',
});

describe('upserting', () => {
  const upsert = (email: string): Expression =>
    one(lookup('Gardener', 'email', lit(email)), {
      kind: 'upsertNode',
      type: 'Gardener',
      slot: 9,
      set: set({ email: lit(email), city: lit('Oslo') }),
    });

  it('updates the first node or creates one', () => {
    expect(run(upsert('bo@x.org'))).toContain(
      '"id":"g2","label":"Gardener","email":"bo@x.org","city":"Oslo","name":"Bo","level":1',
    );
    expect(run(upsert('eve@x.org'))).toContain(
      '"id":"#26","label":"Gardener","email":"eve@x.org","city":"Oslo","name":null,"level":1',
    );
    expect(run(one(scan('Gardener'), count))).toBe('4');
  });

  it('updates the oldest edge between two ends or creates one', () => {
    const rate = (a: string, b: string): Expression => ({
      kind: 'upsertEdge',
      type: 'Grows',
      slot: 9,
      set: set({ rating: lit(1) }),
      from: { value: id(a), many: false },
      to: { value: id(b), many: false },
    });
    expect(run(get(list(rate('g1', 'p1'), rate('g3', 'p1')), 'id'))).toBe('["r1","#26"]');
    expect(refused(rate('g1', 'b1'))).toContain('EDGE_ENDPOINT_TYPE');
  });

  it('replaces an embedding, which searches find only at its new position', () => {
    const save = one(
      scan('Note'),
      where(3, compare('EQ', get(slot(3), 'text'), lit('Roses need sun'))),
      {
        kind: 'upsertVector',
        type: 'Note',
        slot: 9,
        vector: lit(Float64Array.of(-1, -1)),
        set: set({ lang: lit('en') }),
      },
    );
    expect(run(list(get(save, 'id'), searched([-1, -1]), searched([0.6, 0.8])))).toBe(
      '["n2",["n2"],["n3"]]',
    );
    expect(run(list(searched([-1, -1]), searched([0.6, 0.8])))).toBe('[["n2"],["n3"]]');
  });
});

describe('deleting', () => {
  it('drops nodes with their edges and leaves neighbours', () => {
    expect(run(many(scan('Grows'), ids), [drop(one(byId('Plant', id('p2'))))])).toBe('["r1"]');
    expect(
      run(list(many(scan('Gardener'), ids), many(scan('Tells'), ids), found('Plant', 'rose'))),
    ).toBe('[["g1","g2","g3"],["t1","t3"],[]]');
  });

  it('drops each of several duplicates one time, and only what it reaches', () => {
    expect(run(many(scan('Gardener'), ids), [drop(many(scan('Gardener'), out('Follows')))])).toBe(
      '["g1","g3"]',
    );
    expect(
      run(many(scan('Grows'), ids), [drop(one(byId('Gardener', id('g1')), outE('Grows')))]),
    ).toBe('[]');
  });

  it('drops nothing for nothing, and a whole type', () => {
    const nothing = [drop(opt(byId('Bed', id('g1'), 'none'))), drop(lit(null)), drop(lit([]))];
    expect(run(one(scan('Plant'), count), nothing)).toBe('3');
    expect(run(list(many(scan('Plant')), many(scan('Tells'))), [drop(many(scan('Plant')))])).toBe(
      '[[],[]]',
    );
  });

  it('hides dropped vectors from searches in the same transaction', () => {
    expect(run(searched([1, 0], 2), [drop(one(byId('Note', id('n1'))))])).toBe('["n2","n3"]');
    expect(run(searched([1, 0], 3))).toBe('["n2","n3"]');
  });

  it('frees unique values immediately', () => {
    const again = node('Gardener', { email: lit('ana@x.org') });
    expect(run(get(again, 'email'), [drop(one(byId('Gardener', id('g1'))))])).toBe('"ana@x.org"');
  });
});
