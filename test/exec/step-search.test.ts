// Searches, rerankers, paths and projections on the garden: what each yields, as data.
import { describe, expect, it } from 'vitest';
import type { Expression, Step } from '../../engine/plan/expression.js';
import { Garden, outcome, plan, uuid } from './support/garden.js';
import { kit } from './support/kit.js';

const {
  lit,
  slot,
  get,
  record,
  list,
  compare,
  many,
  one,
  scan,
  of,
  byId,
  out,
  into,
  item,
  where,
  map,
  ids,
  count,
  range,
  order,
  project,
} = kit;

const garden = new Garden();
const _ = slot(1);
const gardener = (alias: string) => byId('Gardener', lit(uuid(alias)));
const lane = (from: string, to: string, step: Partial<Extract<Step, { kind: 'shortestPath' }>>) =>
  one(byId('Bed', lit(uuid(from))), {
    kind: 'shortestPath',
    algorithm: 'bfs',
    edges: ['Lane'],
    reverse: false,
    target: lit(uuid(to)),
    one: true,
    ...step,
  });
const search = (vector: number[], k: number | bigint) => ({
  kind: 'searchVector' as const,
  type: 'Note',
  vector: lit(Float64Array.from(vector)),
  k: lit(k),
});
const summary = (path: Expression) =>
  project(path, 8, {
    path: get(get(slot(8), 'path'), 'id'),
    edges: get(get(slot(8), 'edges'), 'id'),
    weight: get(slot(8), 'total_weight'),
    hops: get(slot(8), 'hop_count'),
  });
const metres = { slot: 7, value: get(slot(7), 'metres') };

const cases: [what: string, expression: Expression, expected: string][] = [
  [
    'SearchV',
    many(search([1, 0], 2)),
    '[{"id":"n1","label":"Note","score":1,"distance":0,"text":"Ferns like shade","lang":"en"},{"id":"n2","label":"Note","score":0.6,"distance":0.4,"text":"Roses need sun","lang":"en"}]',
  ],
  ['SearchV, all', many(search([1, 0], 100), ids), '["n1","n2","n3"]'],
  [
    'SearchV, k 0',
    many(search([1, 0], 0)),
    'PARAM_RANGE {"param":"k","min":1,"max":10000,"got":0}',
  ],
  ['SearchV, integral float', many(search([1, 0], 1.0), ids), '["n1"]'],
  [
    'SearchV, fraction',
    many(search([1, 0], 1.5)),
    'PARAM_TYPE {"param":"k","type":"an integer","got":1.5}',
  ],
  [
    'SearchV, dimension',
    many(search([1], 2)),
    'VECTOR_DIMENSION {"type":"Note","expected":2,"got":1}',
  ],
  ['SearchV, empty', many(search([], 2)), 'VECTOR_EMPTY {"param":"vector"}'],
  [
    'SearchV, not finite',
    many(search([1, 1e39], 2)),
    'VECTOR_NOT_FINITE {"param":"vector","index":1}',
  ],
  ['SearchV of the zero vector', many(search([0, 0], 1), map(1, get(_, 'score'))), '[0]'],
  ['SearchV, no vectors', many({ ...search([1], 2), type: 'Photo' }), '[]'],
  [
    'SearchV, PREFILTER',
    many(
      { ...search([1, 0], 1), prefilter: item(1, compare('CONTAINS', get(_, 'text'), lit('sun'))) },
      ids,
    ),
    '["n2"]',
  ],
  [
    'SearchV, then WHERE',
    many(search([1, 0], 1), where(1, compare('CONTAINS', get(_, 'text'), lit('sun')))),
    '[]',
  ],
  ['SearchV, least score', many({ ...search([1, 0], 5), scoreMin: lit(0.5) }, ids), '["n1","n2"]'],
  [
    'scores stay',
    many(
      search([1, 0], 3),
      order(1, false, get(_, 'score')),
      range(lit(0), lit(1)),
      map(2, get(slot(2), 'distance')),
    ),
    '[1]',
  ],
  [
    'scores are left behind by steps',
    many(search([1, 0], 1), into('Tells'), map(1, get(_, 'score'))),
    '[null]',
  ],
  [
    'search of any type',
    many({ kind: 'searchAnyVector', vector: lit(Float64Array.of(1, 0)), k: lit(2) }, ids),
    '["n1","n2"]',
  ],
  [
    'search of any type, dimension',
    many({ kind: 'searchAnyVector', vector: lit(Float64Array.of(1)), k: lit(2) }),
    'VECTOR_DIMENSION {"type":"Note","expected":2,"got":1}',
  ],
  [
    'search within',
    many(
      gardener('g1'),
      out('Grows'),
      out('Tells'),
      {
        kind: 'searchWithin',
        type: 'Note',
        vector: lit(Float64Array.of(0, 1)),
        k: lit(5),
      },
      map(1, record({ id: get(_, 'id'), score: get(_, 'score') })),
    ),
    '[{"id":"n2","score":0.8},{"id":"n1","score":0}]',
  ],
  [
    'search within, duplicates',
    many(
      of(list(one(byId('Note', lit(uuid('n1')))), one(byId('Note', lit(uuid('n1')))), lit(3))),
      { kind: 'searchWithin', vector: lit(Float64Array.of(1, 0)), k: lit(5) },
      ids,
    ),
    '["n1","n1"]',
  ],
  [
    'SearchBM25',
    many(
      { kind: 'searchText', type: { kind: 'node', name: 'Plant' }, text: lit('roses'), k: lit(5) },
      ids,
    ),
    '["p2"]',
  ],
  [
    'SearchBM25 of vectors',
    many(
      { kind: 'searchText', type: { kind: 'vector', name: 'Note' }, text: lit('shade'), k: lit(5) },
      ids,
    ),
    '["n1"]',
  ],
  [
    'SearchBM25, PREFILTER',
    many(
      {
        kind: 'searchText',
        type: { kind: 'node', name: 'Plant' },
        text: lit('fern rose'),
        k: lit(5),
        prefilter: item(1, compare('GT', get(_, 'stock'), lit(0))),
      },
      ids,
    ),
    '["p1"]',
  ],
  [
    'SearchBM25 without terms',
    many({ kind: 'searchText', type: { kind: 'node', name: 'Plant' }, text: lit('?!'), k: lit(5) }),
    '[]',
  ],
  [
    'RerankRRF',
    many(search([1, 0], 3), { kind: 'rerankRRF', k: lit(1) }, map(1, get(_, 'score'))),
    '[0.5,0.3333333333333333,0.25]',
  ],
  [
    'RerankMMR',
    many(search([1, 0], 3), { kind: 'rerankMMR', lambda: lit(0.3), distance: lit('cosine') }, ids),
    '["n1","n3","n2"]',
  ],
  [
    'RerankMMR, lambda',
    many(search([1, 0], 3), { kind: 'rerankMMR', lambda: lit(1.5), distance: null }),
    'PARAM_RANGE {"param":"lambda","min":0,"max":1,"got":1.5}',
  ],
  [
    'RerankMMR, distance',
    many(search([1, 0], 3), { kind: 'rerankMMR', lambda: lit(1), distance: lit('x') }),
    'PARAM_VALUE {"param":"distance","allowed":"\\"cosine\\", \\"euclidean\\" or \\"dotproduct\\"","got":"\\"x\\""}',
  ],
  [
    'ShortestPath',
    summary(lane('b1', 'b3', {})),
    '{"path":["b1","b3"],"edges":["l3"],"weight":1,"hops":1}',
  ],
  [
    'ShortestPath, reverse',
    summary(lane('b3', 'b1', { reverse: true })),
    '{"path":["b1","b3"],"edges":["l3"],"weight":1,"hops":1}',
  ],
  [
    'ShortestPath to itself',
    summary(lane('b1', 'b1', {})),
    '{"path":["b1"],"edges":[],"weight":0,"hops":0}',
  ],
  [
    'ShortestPath, none',
    lane('b3', 'b1', {}),
    'NO_PATH {"from":"00000000-0000-7000-8000-000000000021","to":"00000000-0000-7000-8000-000000000019"}',
  ],
  [
    'Dijkstra',
    summary(lane('b1', 'b3', { algorithm: 'dijkstra', weight: metres })),
    '{"path":["b1","b2","b3"],"edges":["l1","l2"],"weight":4,"hops":2}',
  ],
  [
    'A*',
    summary(
      lane('b3', 'b1', { algorithm: 'astar', weight: metres, heuristic: 'guess', reverse: true }),
    ),
    '{"path":["b1","b2","b3"],"edges":["l1","l2"],"weight":4,"hops":2}',
  ],
  [
    'Dijkstra, null weight',
    lane('b1', 'b3', { algorithm: 'dijkstra', weight: item(7, lit(null)) }),
    'ARITHMETIC {"operation":"ShortestPathDijkstras","what":"a weight is null"}',
  ],
  [
    'Dijkstra, negative weight',
    lane('b1', 'b3', { algorithm: 'dijkstra', weight: item(7, lit(-1)) }),
    'ARITHMETIC {"operation":"ShortestPathDijkstras","what":"a weight is negative"}',
  ],
  [
    'several starts',
    { ...lane('b1', 'b3', { one: false }), source: scan('Bed'), result: 'many' } as Expression,
    '3 paths',
  ],
  [
    'no end',
    lane('b1', 'g9' as string, { target: lit(null) }),
    'NO_VALUE_FOUND {"what":"an element"}',
  ],
  [
    'projection',
    project(many(scan('Gardener')), 2, {
      n: get(slot(2), 'name'),
      c: one(of(slot(2)), out('Grows'), count),
    }),
    '[{"n":"Ana","c":2},{"n":"Bo","c":1},{"n":"Cy","c":0}]',
  ],
  [
    'projection of one, of null',
    list(
      project(one(gardener('g2')), 2, { n: get(slot(2), 'name') }),
      project(lit(null), 2, { n: lit(1) }),
    ),
    '[{"n":"Bo"},null]',
  ],
  [
    'spread',
    project(
      one(byId('Bed', lit(uuid('b1')))),
      2,
      { x: lit(1) },
      { kind: 'spread', except: ['id', 'guess'] },
    ),
    '{"x":1,"label":"Bed","code":"A"}',
  ],
  [
    'spread of everything named',
    project(
      one(byId('Bed', lit(uuid('b1')))),
      2,
      { x: lit(1) },
      { kind: 'spread', except: ['id', 'label', 'guess', 'code'] },
    ),
    '{"x":1}',
  ],
  [
    'spread of a hit',
    project(many(search([1, 0], 1)), 2, {}, { kind: 'spread', except: ['text'] }),
    '[{"id":"n1","label":"Note","score":1,"distance":0,"lang":"en"}]',
  ],
  [
    'spread of a record',
    project(
      many(scan('Gardener'), {
        kind: 'group',
        slot: 1,
        keys: [{ name: 'city', value: get(_, 'city') }],
        data: false,
      }),
      2,
      {},
      { kind: 'spread', except: ['city'] },
    ),
    '[{"count":2},{"count":1}]',
  ],
  [
    'data',
    project(one(byId('Note', lit(uuid('n2')))), 2, { data: get(slot(2), 'data') }),
    '{"data":[0.6,0.8]}',
  ],
  ['property of a list', get(many(scan('Plant')), 'name'), '["Fern","Rose","Sage"]'],
  [
    'nested lists',
    project(many(gardener('g1'), out('Grows')), 2, {
      notes: get(many(of(slot(2)), out('Tells')), 'text'),
    }),
    '[{"notes":["Ferns like shade"]},{"notes":["Roses need sun"]}]',
  ],
];

describe('searches, paths and projections', () => {
  it.each(cases)('%s', (_what, expression, expected) => {
    const got = outcome(garden, expression);
    if (expected === '3 paths') expect((JSON.parse(got) as unknown[]).length).toBe(3);
    else expect(got).toBe(expected);
  });

  it('prints a projection as it evaluates it', () => {
    for (const [, expression] of cases) {
      if (expression.kind !== 'project') continue;
      // Bound to a variable, the value is made of records instead of being printed from the
      // elements.
      const bound = plan({ kind: 'bare', value: slot(9), data: false }, [
        { kind: 'bind', slot: 9, value: expression },
      ]);
      expect(garden.run(bound)).toBe(outcome(garden, expression));
    }
  });

  it('prints the embedding of whole vectors on request', () => {
    const value = one(byId('Note', lit(uuid('n2'))));
    const body = garden.run(plan({ kind: 'bare', value, data: true }));
    expect(body).toBe(
      '{"id":"n2","label":"Note","text":"Roses need sun","lang":"en","data":[0.6,0.8]}',
    );
  });

  it('prints the distance as score in [compat], until a reranker has set one', () => {
    const run = (...steps: Step[]) =>
      garden.run(
        plan({ kind: 'bare', value: many(search([1, 0], 2), ...steps), data: false }, [], {
          compat: true,
        }),
      );
    expect(run(map(1, get(_, 'score')))).toBe('[0.0,0.4]');
    expect(run()).toContain('"score":0.4,"distance":0.4');
    expect(run({ kind: 'rerankRRF', k: lit(1) })).toContain('"score":0.5,"distance":0.0,');
  });
});
