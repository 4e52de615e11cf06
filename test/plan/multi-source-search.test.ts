// A repetition from many items together gives the counts, conditions and results of one search per item, on
// cycles, self-loops and rows that reach each other. If the items share what they reach, each edge is read at
// most twice instead of once per item.
import { afterAll, expect, test } from 'vitest';
import type { Uuid } from '../../engine/base/value.js';
import type { WriteView } from '../../engine/storage/table/view-types.js';
import { compileShop, Shop } from './shop.js';

/** Small graphs side by side: a ring with a tail, two that point at each other, a loop, a star, alone. */
const links = [
  [0, 1],
  [1, 2],
  [2, 0],
  [2, 3],
  [3, 4],
  [4, 5],
  [6, 7],
  [7, 6],
  [8, 8],
  [9, 8],
  [10, 11],
  [10, 12],
  [10, 13],
  [11, 11],
  [13, 10],
  [14, 15],
  [15, 16],
  [17, 16],
  [0, 1],
];

function fill(view: WriteView): Uuid[] {
  const [item, likes] = [view.catalog.find('node', 'Item')!, view.catalog.find('edge', 'Likes')!];
  const made = Array.from({ length: 19 }, (_, i) =>
    view.createNode(
      item,
      new Map([
        ['year', i],
        ['price', i % 3],
      ]),
    ),
  );
  for (const [from, to] of links) view.createEdge(likes, made[from!]!, made[to!]!, new Map());
  return [];
}

const shop = new Shop(fill);
afterAll(() => shop.close());

const walks = ['Out<Likes>', 'In<Likes>', 'Both<Likes>', 'Out<Likes>(_::Other::{price}::LT(2))'];
const bounds = [
  '{0, 0}',
  '{0, 1}',
  '{0, *}',
  '{1}',
  '{1, 2}',
  '{1, 3}',
  '{1, m}',
  '{1, *}',
  '{2, 4}',
];
const starts = ['N<Item>::WHERE(_::{year}::IS_IN(ys))::Out<Likes>{0, 1}'];

test.each(walks)('%s from all elements together equals that from each of them [P12]', (walk) => {
  const bodies = starts.flatMap((start) =>
    bounds.flatMap((bound) => {
      const far = `a::${walk}${bound}::DEDUP`;
      return [
        `a <- ${start} RETURN { n: ${far}::COUNT, more: ${far}::Out<Likes>::COUNT, c: COUNT(${far}) }`,
        `a <- ${start} RETURN { any: EXISTS(${far}::WHERE(_::{price}::EQ(1))) }`,
        `a <- ${start} RETURN N<Item>::WHERE(_::ID::IS_IN(${far}::ID))::{year}`,
        `a <- ${start} RETURN { r: EXCEPT(N<Item>, ${far})::{year} }`,
      ];
    }),
  );
  const source = bodies.map((body, i) => `QUERY q${i}(ys: [I32], m: U8) => ${body}`).join('\n');
  const [planned, literal] = [false, true].map((as) => compileShop(source, as).queries);
  for (const ys of [
    [],
    [1],
    [0, 1, 2],
    [6, 7],
    [8, 9],
    [10, 11, 13],
    [3, 16, 17, 18],
    [0, 5, 6, 14],
  ]) {
    for (const [i, query] of planned!.entries()) {
      const args = { ys, m: ys.length };
      expect(shop.run(query, args), bodies[i]).toBe(shop.run(literal![i]!, args));
    }
  }
});

const dense = new Shop((view) => {
  const [item, likes] = [view.catalog.find('node', 'Item')!, view.catalog.find('edge', 'Likes')!];
  const made = Array.from({ length: 60 }, () => view.createNode(item, new Map()));
  for (const from of made) for (const to of made) view.createEdge(likes, from, to, new Map());
  return [];
});
afterAll(() => dense.close());

test.each(['{0, *}', '{1, 3}'])('%s reads an edge at most twice [P12]', (bound) => {
  const body = `QUERY q() => RETURN N<Item>::Out<Likes>${bound}::DEDUP::COUNT`;
  const [planned, literal] = [false, true].map((as) => compileShop(body, as).queries[0]!);
  const edges = 60 * 60;
  expect(dense.run(planned!, {}, 2 * edges + 1_000)).toBe('{"data":60}');
  expect(dense.run(literal!, {}, 20 * edges)).toBe('QUERY_WORK');
});
