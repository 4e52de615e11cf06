// Random pipelines over random graphs against the same steps on plain arrays.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareValues } from '../../engine/base/value.js';
import { TopK } from '../../engine/exec/operators/top-k.js';
import { IdSet } from '../../engine/base/id-set.js';
import type { Expression, Step } from '../../engine/plan/expression.js';
import { Garden, gardenSchema, plan } from './support/garden.js';
import { kit } from './support/kit.js';

const {
  aggregate,
  compare,
  count,
  dedup,
  first,
  get,
  into,
  lit,
  many,
  one,
  order,
  out,
  range,
  scan,
  slot,
  where,
} = kit;

interface Plant {
  id: number;
  stock: number | null;
  name: string;
}

interface World {
  garden: Garden;
  plants: Plant[];
  /** Pairs of gardener and gardener, by age. */
  follows: [from: number, to: number][];
  gardeners: Plant[];
}

const sizes = fc.record({
  stocks: fc.array(fc.option(fc.integer({ min: 0, max: 3 })), { maxLength: 12 }),
  gardeners: fc.integer({ min: 1, max: 6 }),
  follows: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 20 }),
  batch: fc.integer({ min: 1, max: 5 }),
});

/** A garden without unique edges, filled at random. */
const schema = {
  ...gardenSchema,
  edges: gardenSchema.edges.map((edge) => ({ ...edge, unique: false })),
};

function worldOf(size: typeof sizes extends fc.Arbitrary<infer T> ? T : never): World {
  const garden = new Garden(schema, false);
  const { view } = garden;
  view.batch = size.batch;
  const label = (kind: 'node' | 'edge', name: string) => view.catalog.find(kind, name)!;
  const gardeners = Array.from({ length: size.gardeners }, (_, i) => {
    const values = new Map<string, string | number>([
      ['name', `g${i}`],
      ['level', i % 3],
    ]);
    return { id: view.createNode(label('node', 'Gardener'), values), stock: i % 3, name: `g${i}` };
  });
  const plants = size.stocks.map((stock, i) => {
    const values = new Map<string, string | number>([['name', `p${i}`]]);
    if (stock !== null) values.set('stock', stock);
    return { id: view.createNode(label('node', 'Plant'), values), stock, name: `p${i}` };
  });
  const follows = size.follows.map(([a, b]): [number, number] => {
    const ends: [number, number] = [
      gardeners[a % gardeners.length]!.id,
      gardeners[b % gardeners.length]!.id,
    ];
    view.createEdge(label('edge', 'Follows'), ...ends, new Map());
    return ends;
  });
  return { garden, plants, follows, gardeners };
}

/** A step on gardeners with what it does to an array of their ids. */
interface Both {
  step: Step;
  naive: (ids: number[], world: World) => number[];
}

const level = (world: World, id: number) => world.gardeners.find((each) => each.id === id)!.stock!;
const far =
  (from: 0 | 1) =>
  (ids: number[], { follows }: World) =>
    ids.flatMap((id) => follows.filter((pair) => pair[from] === id).map((pair) => pair[1 - from]!));

const steps: fc.Arbitrary<Both> = fc.oneof(
  fc.constant<Both>({ step: out('Follows'), naive: far(0) }),
  fc.constant<Both>({ step: into('Follows'), naive: far(1) }),
  fc.constant<Both>({ step: dedup, naive: (ids) => [...new Set(ids)] }),
  fc.constant<Both>({ step: first, naive: (ids) => ids.slice(0, 1) }),
  fc.tuple(fc.nat(6), fc.nat(12)).map(
    ([a, b]): Both => ({
      step: range(lit(a), lit(b)),
      naive: (ids) => ids.slice(a, Math.max(a, b)),
    }),
  ),
  fc.integer({ min: 0, max: 2 }).map(
    (least): Both => ({
      step: where(1, compare('GTE', get(slot(1), 'level'), lit(least))),
      naive: (ids, world) => ids.filter((id) => level(world, id) >= least),
    }),
  ),
  fc.boolean().map(
    (descending): Both => ({
      step: order(2, descending, get(slot(2), 'level')),
      naive: (ids, world) =>
        ids.toSorted((a, b) => (level(world, a) - level(world, b)) * (descending ? -1 : 1)),
    }),
  ),
  fc.constant<Both>({
    step: {
      kind: 'intersect',
      of: { slot: 3, value: many({ kind: 'value', of: slot(3) }, out('Follows')) },
    },
    naive: (ids, world) => {
      const reached = ids.map((id) => far(0)([id], world));
      const common = (reached[0] ?? []).filter((id) => reached.every((list) => list.includes(id)));
      return [...new Set(common)];
    },
  }),
);

describe('operators', () => {
  it('do what the same steps do to arrays', () => {
    fc.assert(
      fc.property(sizes, fc.array(steps, { maxLength: 5 }), (size, chain) => {
        const world = worldOf(size);
        const pipeline = many(scan('Gardener'), ...chain.map((each) => each.step));
        const expected = chain.reduce(
          (ids, each) => each.naive(ids, world),
          world.gardeners.map((each) => each.id),
        );
        const names = expected.map((id) => world.gardeners.find((each) => each.id === id)!.name);
        const answer = (value: Expression) =>
          JSON.parse(world.garden.run(plan({ kind: 'bare', value, data: false }))) as unknown;
        expect(answer(get(pipeline, 'name'))).toEqual(names);
        expect(answer({ ...pipeline, steps: [...pipeline.steps, count], result: 'one' })).toBe(
          names.length,
        );
        expect(answer({ kind: 'exists', of: pipeline })).toBe(names.length > 0);
      }),
      { numRuns: 300 },
    );
  });

  it('group and sum what arrives', () => {
    fc.assert(
      fc.property(sizes, (size) => {
        const { garden, plants } = worldOf(size);
        const keys = [{ name: 'stock', value: get(slot(1), 'stock') }];
        const group: Step = { kind: 'group', slot: 1, keys, data: false };
        const answer = (value: Expression) =>
          JSON.parse(garden.run(plan({ kind: 'bare', value, data: false }))) as unknown;
        const counts = new Map<number | null, number>();
        for (const { stock } of plants) counts.set(stock, (counts.get(stock) ?? 0) + 1);
        expect(answer(many(scan('Plant'), group))).toEqual(
          [...counts].map(([stock, n]) => ({ stock, count: n })),
        );
        const total = plants.reduce((sum, { stock }) => sum + (stock ?? 0), 0);
        expect(answer(aggregate('SUM', true, get(many(scan('Plant')), 'stock')))).toBe(total);
      }),
      { numRuns: 100 },
    );
  });

  it('merge several types by age', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { maxLength: 30 }),
        fc.integer({ min: 1, max: 4 }),
        (kinds, batch) => {
          const garden = new Garden(schema, false);
          garden.view.batch = batch;
          const labels = ['Bed', 'Plant'].map((name) => garden.view.catalog.find('node', name)!);
          for (const kind of kinds) garden.view.createNode(labels[Number(kind)]!, new Map());
          const value = get(many(scan('Plant', 'Bed')), 'label');
          const answer = JSON.parse(
            garden.run(plan({ kind: 'bare', value, data: false })),
          ) as string[];
          expect(answer).toEqual(kinds.map((kind) => (kind ? 'Plant' : 'Bed')));
        },
      ),
    );
  });

  it('count without materialising', () => {
    expect(
      new Garden().run(plan({ kind: 'bare', value: one(scan('Plant'), count), data: false })),
    ).toBe('3');
  });
});

describe('top-k', () => {
  it('keeps what a stable sort puts first', () => {
    const items = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.nat()));
    fc.assert(
      fc.property(items, fc.nat(10), (list, k) => {
        const top = new TopK<[number, number]>(k, (a, b) => compareValues(a[0], b[0]));
        for (const entry of list) top.offer(entry);
        expect(top.sorted()).toEqual(list.toSorted((a, b) => a[0] - b[0]).slice(0, k));
      }),
    );
  });
});

describe('id sets', () => {
  it('hold what was added', () => {
    const ids = fc.array(fc.oneof(fc.nat(200), fc.integer({ min: 0, max: 0xffff_ffff })));
    fc.assert(
      fc.property(ids, ids, (added, asked) => {
        const set = new IdSet();
        const naive = new Set<number>();
        for (const id of added) {
          expect(set.add(id)).toBe(!naive.has(id));
          naive.add(id);
        }
        expect(set.size).toBe(naive.size);
        for (const id of [...added, ...asked]) expect(set.has(id)).toBe(naive.has(id));
      }),
    );
  });
});
