// What an execution may use up: early stops, the cancel word, memory, result and group limits.
import { describe, expect, it } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { defaultLimits, type Limits } from '../../engine/base/limits.js';
import type { TypeRef } from '../../engine/base/schema.js';
import { execute } from '../../engine/exec/run.js';
import type { Expression } from '../../engine/plan/expression.js';
import { Garden, plan, uuid } from './support/garden.js';
import { kit } from './support/kit.js';

const {
  byId,
  compare,
  count,
  exists,
  first,
  get,
  into,
  list,
  lit,
  many,
  of,
  one,
  opt,
  order,
  out,
  range,
  scan,
  slot,
  where,
} = kit;

/** A garden with many more plants, all of one species. */
function bigGarden(plants: number): Garden {
  const garden = new Garden();
  const label = garden.view.catalog.find('node', 'Plant')!;
  for (let i = 0; i < plants; i++) {
    garden.view.createNode(
      label,
      new Map<string, string | number>([
        ['name', `plant ${i}`],
        ['stock', i],
      ]),
    );
  }
  return garden;
}

const big = bigGarden(3000);

interface Run {
  body: string;
  code: string | undefined;
  reads: (typeof big.view)['reads'];
}

function run(value: Expression, limits: Partial<Limits> = {}, cancelled = () => false): Run {
  const { view } = big;
  Object.assign(view.reads, { record: 0, adjacency: 0, degree: 0, lookup: 0, scanned: 0 });
  const context = { ...big.context(view), limits: { ...defaultLimits, ...limits }, cancelled };
  const outcome = { body: '', code: undefined as string | undefined };
  try {
    const { body } = execute(plan({ kind: 'bare', value, data: false }), [], context);
    outcome.body = Buffer.from(body).toString();
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    outcome.code = `${error.code} ${JSON.stringify(error.data.args)}`;
  }
  return { ...outcome, reads: { ...view.reads } };
}

const named = where(1, compare('CONTAINS', get(slot(1), 'name'), lit('')));

describe('early stops', () => {
  const cases: [what: string, value: Expression, records: number][] = [
    ['FIRST of a filtered scan', opt(scan('Plant'), named, first), 4],
    ['EXISTS of a filtered scan', exists(many(scan('Plant'), named)), 4],
    ['RANGE of a filtered scan', many(scan('Plant'), named, range(lit(0), lit(3))), 4],
    ['RANGE far into a scan', many(scan('Plant'), range(lit(900), lit(902))), 2],
    ['COUNT of a scan', one(scan('Plant'), count), 0],
    [
      'a comparison of any',
      compare('EQ', get(many(scan('Plant')), 'name'), lit('Fern'), { any: true }),
      4,
    ],
  ];
  it.each(cases)('%s', (_what, value, records) => {
    const { reads, code } = run(value);
    expect(code).toBeUndefined();
    expect(reads.record).toBeLessThanOrEqual(records);
    expect(reads.scanned).toBeLessThanOrEqual(1000);
  });

  it('reads degrees instead of adjacency lists if only their number or presence matters', () => {
    const grows = many(of(slot(1)), out('Grows'));
    for (const condition of [
      exists(grows),
      compare('GT', one(of(slot(1)), out('Grows'), count), lit(0)),
    ]) {
      const { reads, body } = run(get(many(scan('Gardener'), where(1, condition)), 'name'));
      expect(body).toBe('["Ana","Bo"]');
      expect(reads.adjacency).toBe(0);
    }
  });

  it('reads no record along a chain of steps', () => {
    const { reads, body } = run(one(scan('Gardener'), out('Grows'), into('Grows'), count));
    expect(body).toBe('5');
    expect(reads.record).toBe(0);
  });

  it('follows an access path', () => {
    const wanted = compare('EQ', get(slot(1), 'city'), lit('Porto'));
    const path = { kind: 'equal', property: 'city', value: lit('Porto') } as const;
    const types: TypeRef[] = [{ kind: 'node', name: 'Gardener' }];
    const access = { path: { ...path, list: false, unique: false }, covers: 1 } as const;
    const found = { kind: 'scan', types, access } as const;
    const { reads, body } = run(get(many(found, where(1, wanted)), 'name'));
    expect(body).toBe('["Ana","Cy"]');
    expect([reads.lookup, reads.scanned]).toEqual([1, 0]);
    const counted = run(one(found, where(1, wanted), count));
    expect(counted.body).toBe('2');
    expect([counted.reads.record, counted.reads.scanned]).toEqual([0, 0]);
  });
});

describe('limits', () => {
  const all = many(scan('Plant'));
  const sorted = many(scan('Plant'), order(1, true, get(slot(1), 'stock')));
  const grouped = many(scan('Plant'), {
    kind: 'group',
    slot: 1,
    keys: [{ name: 'stock', value: get(slot(1), 'stock') }],
    data: false,
  });
  const cases: [what: string, value: Expression, limits: Partial<Limits>, error: string][] = [
    ['items', all, { result_items: 100 }, 'RESULT_TOO_LARGE {"max":100,"unit":"items"}'],
    [
      'items of lists',
      list(list(lit(1), lit(2)), lit([1, 2])),
      { result_items: 4 },
      'RESULT_TOO_LARGE {"max":4,"unit":"items"}',
    ],
    ['bytes', all, { result_bytes: 1000 }, 'RESULT_TOO_LARGE {"max":1000,"unit":"bytes"}'],
    [
      'bytes of one value',
      lit('x'.repeat(99)),
      { result_bytes: 50 },
      'RESULT_TOO_LARGE {"max":50,"unit":"bytes"}',
    ],
    ['memory of a sort', sorted, { query_memory: 100_000 }, 'QUERY_MEMORY {"max":100000}'],
    [
      'records of a list',
      get(list(all), 'name'),
      { query_memory: 250_000 },
      'QUERY_MEMORY {"max":250000}',
    ],
    ['memory of a list', get(all, 'name'), { query_memory: 1 << 28, result_items: 1e6 }, ''],
    ['groups', grouped, { groups: 10 }, 'RESULT_TOO_LARGE {"max":10,"unit":"groups"}'],
    ['visits', all, { query_visits: 2000 }, 'QUERY_WORK {"max":2000}'],
    ['visits within', one(byId('Plant', lit(uuid('p1')))), { query_visits: 5 }, ''],
  ];
  it.each(cases)('%s', (_what, value, limits, error) => {
    expect(run(value, limits).code ?? '').toBe(error);
  });

  it('needs little memory for the best few of many', () => {
    const best = many(scan('Plant'), order(1, true, get(slot(1), 'stock')), range(lit(0), lit(2)));
    const { code, body } = run(get(best, 'stock'), { query_memory: 4000 });
    expect([code, body]).toEqual([undefined, '[2999,2998]']);
  });

  it('stops when the cancel word is set, and polls at least every 1,024 steps', () => {
    let polls = 0;
    const value = many(scan('Plant'), where(1, compare('EQ', get(slot(1), 'stock'), lit(-1))));
    expect(run(value, {}, () => ++polls < 0).code).toBeUndefined();
    expect(polls).toBeGreaterThanOrEqual(2);
    expect(run(value, {}, () => true).code).toBe('QUERY_TIMEOUT {"ms":1000}');
    expect(run(value).code).toBeUndefined();
  });
});
