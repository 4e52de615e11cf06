// The first rows in the order of one index that match a condition on another. The results are those of the
// plan as written, for any relation between the values, and the cost is that of the result.
import { afterAll, expect, test } from 'vitest';
import { printPlan } from '../../engine/plan/print-plan.js';
import { compileShop, Shop } from './shop.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const count = 8_000;

/** Rising, falling and scattered values, ties, and unset ones. */
const shop = new Shop((view) => {
  const item = view.catalog.find('node', 'Item')!;
  const made = Array.from({ length: count }, (_, i) =>
    view.createNode(
      item,
      new Map<string, number>([
        ['year', i % 5],
        ['price', (i * 7_919) % 1_000],
        ...(i % 11 === 3 ? [] : [['weight', i % 40] as const]),
        ['big', count - i],
      ]),
    ),
  );
  for (const [i, id] of made.entries()) if (i % 97 === 5) view.remove(id);
  return [];
});
afterAll(() => shop.close());

const compiled = (body: string) =>
  [false, true].map(
    (as) => compileShop(`QUERY q(y: I32, n: U32) => RETURN ${body}`, as).queries[0]!,
  ) as [ReturnType<typeof compileShop>['queries'][0], ReturnType<typeof compileShop>['queries'][0]];

const conditions = [
  '_::{year}::EQ(y)',
  '_::{year}::IS_IN([y, 3])',
  '_::{price}::LT(700)',
  '_::{price}::LT(2)',
  '_::{big}::LT(2000)',
  '_::{big}::GT(7990)',
  '_::{weight}::GTE(y)',
  'AND(_::{year}::EQ(y), _::{price}::GT(500))',
  'AND(_::{year}::EQ(y), _::{name}::EQ("none"))',
];
const orders = [
  'ORDER<Asc>(_::{price})',
  'ORDER<Desc>(_::{price})',
  'ORDER<Desc>(_::{big})',
  'ORDER<Asc>(_::{weight})',
  'ORDER<Asc NULLS FIRST>(_::{weight})',
  'ORDER<Desc NULLS FIRST>(_::{price})',
  'ORDER<Asc, Desc>(_::{weight}, _::{price})',
  'ORDER<Desc NULLS FIRST, Asc>(_::{weight}, _::{big})',
];

test.each(orders)('%s: the first rows are those of the plan as written [P8]', (order) => {
  let sought = 0;
  // Every second one, by turns, in the short run.
  const turn = orders.indexOf(order) % 2;
  const some = conditions.filter((_, i) => long || i % 2 === turn);
  for (const where of ['', ...some.map((each) => `::WHERE(${each})`)]) {
    const chain = `N<Item>${where}::${order}`;
    for (const end of ['::RANGE(0, n)', '::PAGE(n)::{items}', ...(where ? [] : ['::FIRST'])]) {
      const [planned, literal] = compiled(`${chain}::{year, price, weight, big}${end}`);
      if (printPlan(planned.plan).includes('seeking')) sought++;
      for (const args of [
        { y: 1, n: 3 },
        { y: 9, n: 500 },
      ])
        expect(shop.run(planned, args), `${chain}${end}`).toBe(shop.run(literal, args));
    }
  }
  expect(sought).toBeGreaterThan(long ? 10 : 5);
});

test.each(conditions)('%s: pages in the order of ids [P8]', (condition) => {
  const [planned, literal] = compiled(`N<Item>::WHERE(${condition})::{big}::PAGE(n)`);
  for (const n of [1, 20, 3_000]) {
    const args = { y: 1, n };
    expect(shop.run(planned, args)).toBe(shop.run(literal, args));
  }
});

test.each([
  'N<Item>::WHERE(_::{year}::EQ(y))::ORDER<Desc>(_::{price})::RANGE(0, n)',
  'N<Item>({year: y})::ORDER<Asc>(_::{price})::RANGE(0, n)',
  'N<Item>::WHERE(_::{price}::LT(700))::ORDER<Asc>(_::{big})::RANGE(0, n)',
  'N<Item>::WHERE(_::{price}::LT(700))::PAGE(n)',
  'N<Item>::WHERE(_::{year}::EQ(y))::ORDER<Asc>(_::{price})::PAGE(n)',
  'N<Item>::ORDER<Asc NULLS FIRST>(_::{weight})::RANGE(0, n)',
])('%s costs what it answers [P8]', (body) => {
  const [planned, literal] = compiled(body);
  const args = { y: 1, n: 10 };
  expect(printPlan(planned.plan)).toContain('seeking');
  expect(shop.run(planned, args, 2_500)).toBe(shop.run(literal, args));
  expect(shop.run(literal, args, 2_500)).toBe('QUERY_WORK');
});
