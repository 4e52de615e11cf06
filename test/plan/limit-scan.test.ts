// The path to the oldest elements of a range of an index, and to rows deep in a type. The result is that of a
// scan from the beginning, and the work stays small at any position.
import { afterAll, expect, test } from 'vitest';
import type { WriteView } from '../../engine/storage/table/view-types.js';
import { compileShop, parameterText, Shop } from './shop.js';

const size = 6_000;
const longSize = 20_000;

/** Years that grow with age, weights that fall, prices that have nothing to do with it; some have gone. */
function fill(view: WriteView, size: number): [] {
  const item = view.catalog.find('node', 'Item')!;
  const made = Array.from({ length: size }, (_, i) => {
    const values = { key: `k${i}`, year: i, price: (i * 7919) % size, weight: size - i };
    return view.createNode(item, new Map(Object.entries(values)));
  });
  for (const [i, id] of made.entries()) if (i % 97 === 0) view.remove(id);
  return [];
}

const shop = new Shop((view) => fill(view, size));
const long = new Shop((view) => fill(view, longSize));
afterAll(() => {
  shop.close();
  long.close();
});

function answers(body: string, args: object, visitsMost: number, shop: Shop): [string, string] {
  const source = `QUERY q(x: I32, ${parameterText.replace('n: U8, m: U8', 'n: U32, m: U32')}) => RETURN ${body}`;
  const some = { y: 0, p: 0, d: '2026-01-01', u: 0, s: '', id: anyId, ids: [], ys: [] };
  const [planned, literal] = [false, true].map((as) => {
    const [query] = compileShop(source, as).queries;
    return shop.run(query!, { ...some, n: 0, m: 0, x: 0, ...args }, as ? 0 : visitsMost);
  });
  return [planned!, literal!];
}

const anyId = '0193e2f0-5d1c-7cc2-9d7e-0a4d7c1f3b21';

/**
 * Elements looked at, where the type has 20,000: what the shorter of both ways costs where one can tell, and
 * no more than both where the property falls with age.
 */
const most = { year: 14_000, price: 14_000, weight: 21_000 };

test.each(['year', 'price', 'weight'] as const)('the oldest of a range of %s', (property) => {
  for (const x of [-1, 500, 4_000, 10_000, 16_000, 19_990]) {
    for (const n of [1, 20]) {
      const compare = property === 'weight' ? 'LT' : 'GT';
      const body = `N<Item>::WHERE(_::{${property}}::${compare}(x))::RANGE(0, n)::{key}`;
      const [planned, literal] = answers(body, { x, n }, most[property], long);
      expect(planned, `${property} ${compare} ${x}, ${n}`).toBe(literal);
      expect(planned).not.toBe('QUERY_WORK');
    }
  }
});

test.each([
  ['year', 'GT', 3_000],
  ['year', 'GT', 17_000],
])('an estimate by %s avoids the longer path: %s %i', (property, compare, x) => {
  const body = `N<Item>::WHERE(_::{${property}}::${compare}(x))::RANGE(0, n)::{key}`;
  const [planned, literal] = answers(body, { x, n: 3 }, 8_500, long);
  expect(planned).toBe(literal);
});

test('a window anywhere in a type', () => {
  for (const n of [0, 1, 900, 1_024, 2_047, 2_048, 2_049, 4_000, 5_930, 5_938, 5_939, 7_000]) {
    for (const length of [0, 1, 5, 2_100]) {
      const visitsMost = 4_000 + 2 * length;
      const [planned, literal] = answers(
        'N<Item>::RANGE(n, m)::{key}',
        { n, m: n + length },
        visitsMost,
        shop,
      );
      expect(planned, `${length} from ${n}`).toBe(literal);
    }
  }
});
