// Every source and step on the garden: what it yields, as data.
import { describe, expect, it } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import type { Expression } from '../../engine/plan/expression.js';
import type { Step } from '../../engine/plan/step.js';
import { Garden, plan, uuid } from './garden.js';
import {
  and,
  byId,
  compare,
  count,
  dedup,
  end,
  exists,
  first,
  get,
  ids,
  inE,
  into,
  item,
  list,
  lit,
  lookup,
  many,
  map,
  math,
  not,
  of,
  one,
  opt,
  or,
  order,
  out,
  outE,
  project,
  range,
  record,
  scan,
  slot,
  where,
} from './kit.js';

const garden = new Garden();

function answer(expression: Expression): string {
  return garden.run(plan({ kind: 'bare', value: expression, data: false }));
}

function code(expression: Expression): string {
  try {
    return answer(expression);
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return `${error.code} ${JSON.stringify(error.data.args)}`;
  }
}

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

const ana =
  '{"id":"g1","label":"Gardener","email":"ana@x.org","city":"Porto","name":"Ana","level":3,"joined":"2026-03-01T08:00:00+00:00"}';

const cases: [what: string, expression: Expression, expected: string][] = [
  ['scan', many(scan('Gardener'), ids), '["g1","g2","g3"]'],
  ['scan of edges and vectors', many(scan('Follows', 'Note'), ids), '["f1","f2","n1","n2","n3"]'],
  ['scan of an unknown type', many(scan('Nothing'), ids), '[]'],
  ['whole element', one(gardener('g1')), ana],
  [
    'whole edge',
    one(byId('Grows', lit(uuid('r2')))),
    '{"id":"r2","label":"Grows","from_node":"g1","to_node":"p2","since":"2026-03-01T08:00:00+00:00","rating":2}',
  ],
  [
    'unset properties and lists',
    one(byId('Plant', lit(uuid('p3')))),
    '{"id":"p3","label":"Plant","species":"salvia","name":"Sage","height":0.6,"tags":[],"stock":7,"serial":null}',
  ],
  [
    'by id, missing',
    one(byId('Bed', lit(uuid('g1')))),
    'NO_VALUE_FOUND {"what":"Bed 00000000-0000-7000-8000-000000000001"}',
  ],
  ['by id, missing is none', opt(byId('Bed', lit(uuid('g1')), 'none')), 'null'],
  [
    'by id of null',
    one(byId('Bed', lit(null))),
    'PARAM_MISSING {"owner":"Bed","param":"id","type":"ID"}',
  ],
  ['by element', one(byId('Gardener', one(gardener('g2'))), ids), '"g2"'],
  ['lookup by index', many(lookup('Gardener', 'city', lit('Porto')), ids), '["g1","g3"]'],
  ['lookup without', many(lookup('Plant', 'height', lit(1.1)), ids), '["p2"]'],
  ['lookup of a list', many(lookup('Plant', 'tags', lit(['sun', 'scent'])), ids), '["p2"]'],
  ['lookup, none', many(lookup('Gardener', 'city', lit('Oslo')), ids), '[]'],
  ['lookup of null', many(lookup('Gardener', 'city', lit(null)), ids), '[]'],
  ['lookup of another kind', many(lookup('Gardener', 'city', lit(5)), ids), '[]'],
  ['lookup, out of range', many(lookup('Gardener', 'level', lit(300)), ids), '[]'],
  ['lookup of a float', many(lookup('Gardener', 'level', lit(3.0)), ids), '["g1"]'],
  [
    'lookup, the oldest',
    opt(lookup('Gardener', 'city', lit('Porto'), { first: true }), ids),
    '"g1"',
  ],
  [
    'lookup, miss',
    one(lookup('Gardener', 'email', lit('no'), { first: true, miss: 'error' })),
    'NO_VALUE_FOUND {"what":"Gardener with email \\"no\\""}',
  ],
  ['lookup of many, miss', many(lookup('Gardener', 'city', lit('no'), { miss: 'error' })), '[]'],
  ['rows of null', many(of(lit(null))), '[]'],
  ['rows of a list', many(of(lit([1, 2, 3]))), '[1,2,3]'],
  ['rows of a value', many(of(lit('a'))), '["a"]'],
  ['Out', many(scan('Gardener'), out('Grows'), ids), '["p1","p2","p2"]'],
  ['In', many(scan('Plant'), into('Grows'), ids), '["g1","g1","g2"]'],
  [
    'Out of two labels by age',
    many(gardener('g1'), out('Follows', 'Grows'), ids),
    '["p1","p2","g2"]',
  ],
  [
    'Out, kind that is not reached',
    many(scan('Plant'), { kind: 'neighbours', direction: 'out', edges: ['Tells'], reach: 'node' }),
    '[]',
  ],
  [
    'Out, kind that is reached',
    many(
      scan('Plant'),
      { kind: 'neighbours', direction: 'out', edges: ['Tells'], reach: 'vector' },
      ids,
    ),
    '["n1","n2","n3"]',
  ],
  [
    'Out of edges and scalars',
    many(of(list(lit(1), one(byId('Grows', lit(uuid('r1')))))), out('Grows')),
    '[]',
  ],
  ['Out of null', many(of(lit(null)), out('Grows')), '[]'],
  ['OutE', many(scan('Gardener'), outE('Grows'), ids), '["r1","r2","r3"]'],
  ['InE', many(scan('Plant'), inE('Grows'), ids), '["r1","r2","r3"]'],
  ['FromN', many(scan('Grows'), end('from'), ids), '["g1","g1","g2"]'],
  ['ToN', many(scan('Grows'), end('to'), ids), '["p1","p2","p2"]'],
  ['OutE then ToN', many(scan('Gardener'), outE('Follows'), end('to'), ids), '["g2","g2"]'],
  ['OutE then FromN', many(scan('Gardener'), outE('Follows'), end('from'), ids), '["g1","g3"]'],
  [
    'end of one edge type',
    many(scan('Grows', 'Follows'), { kind: 'end', end: 'to', edge: 'Follows' }, ids),
    '["g2","g2"]',
  ],
  [
    'a chain of steps',
    many(gardener('g1'), out('Grows'), out('Tells'), into('Cites'), ids),
    '["n2"]',
  ],
  [
    'WHERE',
    many(scan('Plant'), where(1, compare('GT', get(_, 'height'), lit(0.5))), ids),
    '["p2","p3"]',
  ],
  [
    'WHERE with an index',
    many(scan('Gardener'), where(1, compare('EQ', get(_, 'city'), lit('Porto'))), ids),
    '["g1","g3"]',
  ],
  [
    'WHERE with an index and more',
    many(
      scan('Gardener'),
      where(
        1,
        and(compare('EQ', get(_, 'city'), lit('Porto')), compare('LT', get(_, 'level'), lit(3))),
      ),
      ids,
    ),
    '["g3"]',
  ],
  [
    'WHERE of an index with null',
    many(scan('Gardener'), where(1, compare('EQ', get(_, 'city'), lit(null)))),
    '[]',
  ],
  ['WHERE null is false', many(scan('Plant'), where(1, get(_, 'serial'))), '[]'],
  ['WHERE !null is true', many(scan('Plant'), where(1, not(get(_, 'serial'))), count), '[3]'],
  [
    'any neighbour',
    many(
      scan('Gardener'),
      where(1, compare('EQ', get(many(of(_), out('Grows')), 'stock'), lit(0), { any: true })),
      ids,
    ),
    '["g1","g2"]',
  ],
  [
    'no neighbour',
    many(
      scan('Gardener'),
      where(1, not(compare('EQ', get(many(of(_), out('Grows')), 'stock'), lit(0), { any: true }))),
      ids,
    ),
    '["g3"]',
  ],
  [
    'EXISTS of a step',
    many(scan('Gardener'), where(1, exists(many(of(_), out('Grows')))), ids),
    '["g1","g2"]',
  ],
  [
    'OR, nested !',
    many(
      scan('Gardener'),
      where(1, or(not(exists(many(of(_), out('Grows')))), compare('EQ', get(_, 'level'), lit(3)))),
      ids,
    ),
    '["g1","g3"]',
  ],
  [
    'INTERSECT',
    many(
      scan('Plant'),
      where(1, compare('IS_IN', get(_, 'name'), lit(['Fern', 'Rose']))),
      { kind: 'intersect', of: item(2, many(of(slot(2)), into('Grows'))) },
      ids,
    ),
    '["g1"]',
  ],
  [
    'INTERSECT of nothing',
    many(of(lit([])), { kind: 'intersect', of: item(2, many(of(slot(2)), into('Grows'))) }),
    '[]',
  ],
  ['RANGE', many(scan('Gardener'), range(lit(1), lit(99)), ids), '["g2","g3"]'],
  ['RANGE, empty', many(scan('Gardener'), range(lit(2), lit(1)), ids), '[]'],
  ['RANGE to the end', many(scan('Gardener'), range(lit(1), null), ids), '["g2","g3"]'],
  ['RANGE of rows', many(of(lit([1, 2, 3, 4, 5, 6, 7])), range(lit(3), lit(6))), '[4,5,6]'],
  [
    'RANGE, negative',
    many(scan('Bed'), range(lit(-1), lit(1))),
    'PARAM_RANGE {"param":"RANGE","min":0,"max":9007199254740991,"got":-1}',
  ],
  [
    'RANGE, null',
    many(scan('Bed'), range(lit(0), lit(null))),
    'PARAM_MISSING {"owner":"RANGE","param":"bound","type":"an integer"}',
  ],
  ['RANGE, far', many(scan('Bed'), range(lit(0), lit(2n ** 100n)), count), '[3]'],
  ['FIRST', opt(scan('Gardener'), first, ids), '"g1"'],
  ['FIRST of none', opt(of(lit([])), first), 'null'],
  ['COUNT of a scan', one(scan('Gardener'), count), '3'],
  ['COUNT of steps', one(scan('Gardener'), out('Follows'), count), '2'],
  ['COUNT of two steps', one(scan('Gardener'), out('Grows'), into('Grows'), count), '5'],
  ['COUNT of null', one(of(lit(null)), count), '0'],
  ['DEDUP', many(scan('Gardener'), out('Follows'), dedup, ids), '["g2"]'],
  [
    'DEDUP of scalars',
    many(of(lit([1, 1n, '1', true, 1.5, 1.5, 2n ** 70n, 2 ** 70])), dedup),
    '[1,"1",true,1.5,1180591620717411303424]',
  ],
  [
    'DEDUP of records',
    many(of(list(record({ a: lit(1) }), record({ a: lit(1) }), record({ a: lit(2) }))), dedup),
    '[{"a":1},{"a":2}]',
  ],
  ['map', many(scan('Plant'), map(1, math('MUL', true, get(_, 'stock'), lit(2)))), '[6,0,14]'],
  ['ORDER', many(scan('Plant'), order(1, true, get(_, 'height')), ids), '["p2","p3","p1"]'],
  [
    'ORDER, null last',
    many(scan('Plant'), order(1, true, get(_, 'serial'), get(_, 'name')), ids),
    '["p3","p2","p1"]',
  ],
  [
    'ORDER then RANGE',
    many(scan('Plant'), order(1, false, get(_, 'height')), range(lit(1), lit(3)), ids),
    '["p3","p2"]',
  ],
  [
    'ORDER then FIRST',
    opt(scan('Gardener'), order(1, true, one(of(_), out('Grows'), count)), first, ids),
    '"g1"',
  ],
  [
    'ORDER by several',
    many(scan('Gardener'), order(1, false, get(_, 'city'), get(_, 'level')), ids),
    '["g2","g3","g1"]',
  ],
  [
    'ORDER of mixed kinds',
    many(of(lit([true, 'a', 2, null, 1])), order(1, false, _)),
    '[1,2,"a",true,null]',
  ],
  [
    'GROUP_BY',
    many(scan('Gardener'), {
      kind: 'group',
      slot: 1,
      keys: [{ name: 'city', value: get(_, 'city') }],
      data: false,
    }),
    '[{"city":"Porto","count":2},{"city":"Lund","count":1}]',
  ],
  [
    'GROUP_BY of null and two names',
    many(scan('Plant'), {
      kind: 'group',
      slot: 1,
      keys: [
        { name: 'serial', value: get(_, 'serial') },
        { name: 'tags', value: get(_, 'tags') },
      ],
      data: false,
    }),
    '[{"serial":null,"tags":["shade"],"count":1},{"serial":null,"tags":["sun","scent"],"count":1},{"serial":null,"tags":[],"count":1}]',
  ],
  [
    'AGGREGATE_BY in a shape',
    many(scan('Gardener'), {
      kind: 'group',
      slot: 1,
      keys: [{ name: 'city', value: get(_, 'city') }],
      data: true,
      shape: project(_, 2, { n: get(slot(2), 'name') }),
    }),
    '[{"count":2,"data":[{"n":"Ana"},{"n":"Cy"}]},{"count":1,"data":[{"n":"Bo"}]}]',
  ],
  [
    'steps on groups',
    many(
      scan('Gardener'),
      { kind: 'group', slot: 1, keys: [{ name: 'city', value: get(_, 'city') }], data: true },
      where(2, compare('GT', get(slot(2), 'count'), lit(1))),
      map(3, get(get(slot(3), 'data'), 'name')),
    ),
    '[["Ana","Cy"]]',
  ],
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
    'PARAM_VALUE {"param":"distance","allowed":"\\"cosine\\", \\"euclidean\\" or \\"dotproduct\\"","got":"x"}',
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

describe('steps', () => {
  it.each(cases)('%s', (_what, expression, expected) => {
    const got = code(expression);
    if (expected === '3 paths') expect((JSON.parse(got) as unknown[]).length).toBe(3);
    else expect(got).toBe(expected);
  });

  it('prints a projection as it evaluates it', () => {
    for (const [, expression] of cases) {
      if (expression.kind !== 'project') continue;
      // Bound to a variable, the value is made of records instead of being printed from the elements.
      const bound = plan({ kind: 'bare', value: slot(9), data: false }, [
        { kind: 'bind', slot: 9, value: expression },
      ]);
      expect(garden.run(bound)).toBe(answer(expression));
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
    expect(run(map(1, get(_, 'score')))).toBe('[0,0.4]');
    expect(run()).toContain('"score":0.4,"distance":0.4');
    expect(run({ kind: 'rerankRRF', k: lit(1) })).toContain('"score":0.5,"distance":0,');
  });
});
