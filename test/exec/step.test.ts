// Sources, graph steps, conditions and shaping on the garden: what each yields, as data.
import { describe, expect, it } from 'vitest';
import type { Expression } from '../../engine/plan/expression.js';
import { Garden, outcome, uuid } from './support/garden.js';
import { kit } from './support/kit.js';

const {
  lit,
  slot,
  get,
  record,
  list,
  not,
  and,
  or,
  exists,
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
  inE,
  end,
  item,
  where,
  map,
  ids,
  first,
  count,
  dedup,
  range,
  order,
  project,
} = kit;

const garden = new Garden();
const _ = slot(1);
const gardener = (alias: string) => byId('Gardener', lit(uuid(alias)));

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
    many(scan('Plant'), {
      kind: 'neighbours',
      direction: 'out',
      edges: ['Tells'],
      farKind: 'node',
    }),
    '[]',
  ],
  [
    'Out, kind that is reached',
    many(
      scan('Plant'),
      { kind: 'neighbours', direction: 'out', edges: ['Tells'], farKind: 'vector' },
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
];

describe('sources and steps', () => {
  it.each(cases)('%s', (_what, expression, expected) => {
    expect(outcome(garden, expression)).toBe(expected);
  });
});
