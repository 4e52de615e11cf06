// Variables and loops in plans that write: the image of a binding, the order of rounds, limits.
import { describe, expect, it } from 'vitest';
import type { Argument } from '../../engine/exec/runtime/execute.js';
import type { Statement } from '../../engine/plan/plan.js';
import { plan } from './support/garden.js';
import { kit } from './support/kit.js';
import { writing } from './support/writing.js';

const {
  lit,
  slot,
  parameter,
  get,
  record,
  list,
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
  map,
  count,
  set,
} = kit;

const { at, run, refused, bind, effect, drop, node, edge, single, id, update } = writing();

describe('variables', () => {
  it('keep the image of their binding after UPDATE and DROP; edges are as of now', () => {
    const statements = [
      bind(1, one(byId('Plant', id('p1')))),
      effect(one(of(slot(1)), update({ name: lit('Changed') }))),
      bind(2, one(byId('Plant', id('p1')))),
      drop(slot(1)),
    ];
    const seen = list(
      get(slot(1), 'name'),
      get(slot(2), 'name'),
      slot(1),
      one(of(slot(1)), into('Grows'), count),
    );
    expect(run(seen, statements)).toBe(
      '["Fern","Changed",{"id":"p1","label":"Plant","species":"polypod","name":"Fern","height":0.4,"tags":["shade"],"stock":3,"serial":null},0]',
    );
  });

  it('keep the ends of dropped edges', () => {
    const statements = [bind(1, many(scan('Grows'))), drop(many(scan('Gardener')))];
    expect(run(get(slot(1), 'from_node'), statements)).toBe('["g1","g1","g2"]');
    expect(run(many(scan('Gardener')))).toBe('[]');
  });

  it('of dropped elements are no ends and are not updated', () => {
    const statements = [bind(1, one(byId('Gardener', id('g1')))), drop(slot(1))];
    expect(refused(edge('Follows', single(slot(1)), single(id('g2'))), statements)).toBe(
      'NO_VALUE_FOUND {"what":"Gardener g1"}',
    );
    expect(run(opt(of(slot(1)), update({ name: lit('x') })), statements)).toBe('null');
  });

  it('update the stored element, seen through `_` as it is stored', () => {
    const add = update({ stock: math('ADD', true, get(slot(9), 'stock'), lit(1)) });
    const statements = [
      bind(1, one(byId('Plant', id('p1')))),
      effect(one(of(slot(1)), add)),
      effect(one(of(slot(1)), add)),
    ];
    expect(
      run(list(get(slot(1), 'stock'), get(one(byId('Plant', id('p1'))), 'stock')), statements),
    ).toBe('[3,5]');
  });
});

describe('loops', () => {
  it('run in order over nested lists of objects', () => {
    const row = (species: string, ...notes: string[]): Argument =>
      new Map<string, Argument>([
        ['species', species],
        [
          'notes',
          notes.map(
            (text) =>
              new Map<string, Argument>([
                ['text', text],
                ['vec', Float64Array.of(1, 2)],
              ]),
          ),
        ],
      ]);
    const statements: Statement[] = [
      {
        kind: 'for',
        slots: [1],
        in: parameter(0),
        body: [
          bind(2, node('Plant', { species: get(slot(1), 'species') })),
          {
            kind: 'for',
            slots: [3, 4],
            members: ['text', 'vec'],
            in: get(slot(1), 'notes'),
            body: [
              bind(5, {
                kind: 'addVector',
                type: 'Note',
                vector: slot(4),
                set: set({ text: slot(3) }),
              }),
              effect(edge('Tells', single(slot(2)), single(slot(5)))),
            ],
          },
        ],
      },
    ];
    const args = [[row('mentha', 'Mint spreads', 'Mint smells'), row('thymus')]];
    const reached = many(
      lookup('Plant', 'species', lit('mentha')),
      out('Tells'),
      map(6, get(slot(6), 'text')),
    );
    expect(run(reached, statements, args)).toBe('["Mint spreads","Mint smells"]');
  });

  it('see the items as they were before the first round', () => {
    const statements: Statement[] = [
      {
        kind: 'for',
        slots: [1],
        in: many(lookup('Gardener', 'city', lit('Porto'))),
        body: [
          effect(
            one(
              of(slot(1)),
              update({
                level: math('ADD', true, get(slot(1), 'level'), lit(1)),
                city: lit('Faro'),
              }),
            ),
          ),
        ],
      },
    ];
    expect(run(get(many(lookup('Gardener', 'city', lit('Faro'))), 'level'), statements)).toBe(
      '[4,3]',
    );
  });

  it('run nothing over null', () => {
    const statements: Statement[] = [
      { kind: 'for', slots: [1], in: lit(null), body: [drop(many(scan('Bed')))] },
    ];
    expect(run(one(scan('Bed'), count), statements)).toBe('3');
  });
});

describe('limits of a transaction', () => {
  it('refuses more writes than allowed', () => {
    at.garden.limits = { ...at.garden.limits, txn_writes: 2 };
    expect(refused(many(scan('Plant'), update({ stock: lit(1) })))).toBe(
      'TXN_TOO_LARGE {"max":2,"unit":"writes"}',
    );
  });
});

it('answers an object of named values in order', () => {
  const members = [
    { key: 'a', value: record({ x: lit(1) }) },
    { key: 'b', value: list(lit('t'), lit(true), lit(null), lit(1.5)) },
  ];
  expect(at.garden.run(plan({ kind: 'object', members }))).toBe(
    '{"a":{"x":1},"b":["t",true,null,1.5]}',
  );
  expect(at.garden.run(plan({ kind: 'object', members: [] }))).toBe('{}');
});
