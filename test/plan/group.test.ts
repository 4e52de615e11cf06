// Groups that keep only what is read of their items. The results are those of the plan as written, errors
// included, and the memory is that of the groups.
import { afterAll, describe, expect, test } from 'vitest';
import { printPlan } from '../../engine/plan/print-plan.js';
import type { WriteView } from '../../engine/storage/table/view-types.js';
import { compileShop, Shop } from './shop.js';

const shop = new Shop();
afterAll(() => shop.close());

const compiled = (body: string, literal: boolean) =>
  compileShop(`QUERY q() => ${body}`, literal).queries[0]!;

const projections = [
  '{ year, n: count, s: SUM(_::{price}), a: AVG(_::{price}), least: MIN(_::{price}), last: MAX(_::{price}) }',
  '{ year, s: SUM(_::{big}), a: AVG(_::{big}), first: MIN(_::{made}), last: MAX(_::{name}) }',
  '{ year, c: COUNT(_.data), named: COUNT(_::{name}), s: SUM(_.data::WHERE(_::{flag})::{price}) }',
  '{ c: _.data::WHERE(_::{note}::EQ("x"))::COUNT, any: _.data::COUNT, ids: MIN(_.data::{key}) }',
  '{ top: _.data::ORDER<Desc>(_::{price})::FIRST::{key}, few: _.data::RANGE(1, 3)::{key} }',
  '{ top: _.data::WHERE(_::{flag})::ORDER<Desc, Asc>(_::{price}, _::{name})::RANGE(0, 2)::{key, name} }',
  '{ best <- _.data::ORDER<Asc NULLS FIRST>(_::{price})::FIRST, year, top: best::{key}, n: best::Out<Likes>::COUNT }',
  '{ one: _.data::FIRST::{key}, many: SUM(_.data::Out<Likes>::{price}), all: _.data::{key} }',
  '{ year, n: count }',
];

const sources = [
  'N<Item>::GROUP_BY(year)',
  'N<Item>::AGGREGATE_BY(year)',
  'N<Item>::GROUP_BY(year, flag)::WHERE(SUM(_::{price})::LT(100))',
  'N<Item>::GROUP_BY(year)::ORDER<Desc>(_::{count})::RANGE(0, 3)',
  'N<Item>::GROUP_BY(year)::ORDER<Desc>(SUM(_::{big}))::FIRST',
  'N<Item>::{ key, year, big, made, flag, note, price: _::{price}, name }::GROUP_BY(year)',
  'N<Item>::{ year, name: UPPER(_::{name}), flag: EXISTS(_::Out<Likes>) }::AGGREGATE_BY(year)',
  'N<Item>::{ n <- _::Out<Likes>::COUNT, year, price: n }::GROUP_BY(year)',
];

describe('planned groups answer as written [P9]', () => {
  test.each(sources)('%s', (source) => {
    let kept = 0;
    for (const [i, projection] of projections.entries()) {
      const bodies = [
        `RETURN ${source}::${projection}`,
        `x <- ${source} RETURN x::${projection}`,
        `x <- ${source} c <- x::COUNT z <- x::${projection} RETURN z, c`,
        `x <- ${source} y <- x::WHERE(_::{count}::GT(1))::${projection} z <- x::{ n: count } RETURN y, z`,
      ].slice(0, source.endsWith('FIRST') ? 2 : 4);
      for (const body of bodies) {
        const planned = compiled(body, false);
        if (printPlan(planned.plan).includes('keeping')) kept++;
        expect(shop.run(planned, {}), `${i} ${body}`).toBe(shop.run(compiled(body, true), {}));
      }
    }
    expect(kept).toBeGreaterThan(10);
  });
});

test('a whole group, its items and items by a path of their own keep all [P9]', () => {
  for (const body of [
    'x <- N<Item>::AGGREGATE_BY(year) RETURN x',
    'x <- N<Item>::GROUP_BY(year) y <- x::{ year, s: SUM(_::{price}) } RETURN x, y',
    'x <- N<Item>::GROUP_BY(year) RETURN x::{ year, s: SUM(_::{price}), d: _.data::{key} }',
    'RETURN N<Item>::GROUP_BY(year)::{ top: _.data::ORDER<Asc>(DIV(6, _::{year}))::FIRST::{key} }',
  ]) {
    const planned = compiled(body, false);
    expect(printPlan(planned.plan), body).not.toContain('#0');
    expect(shop.run(planned, {})).toBe(shop.run(compiled(body, true), {}));
  }
});

const many = new Shop((view: WriteView) => {
  const item = view.catalog.find('node', 'Item')!;
  const big = 2n ** 64n - 1n;
  for (let i = 0; i < 3_000; i++) {
    view.createNode(
      item,
      new Map<string, number | bigint>([
        ['year', i % 3],
        ['price', i],
        ['big', big],
      ]),
    );
  }
  return [];
});
afterAll(() => many.close());

test('groups of many take the memory of few [P9]', () => {
  const body =
    'RETURN N<Item>::GROUP_BY(year)::{ year, s: SUM(_::{price}), b: SUM(_::{big}), top: _.data::ORDER<Desc>(_::{price})::FIRST::{price} }';
  const [planned, literal] = [false, true].map((as) => compiled(body, as));
  const answer = many.run(planned!, {}, 0, 50_000);
  expect(answer).toBe(many.run(literal!, {}));
  expect(answer).toContain(String(1000n * (2n ** 64n - 1n)));
  expect(many.run(literal!, {}, 0, 50_000)).toBe('QUERY_MEMORY');
});
