// The first rows under a condition that has a path. Whether most rows match or hardly any, reading them costs
// little more than the better of a scan from the beginning and of the whole path.
import { afterAll, expect, test } from 'vitest';
import type { Uuid } from '../../engine/base/value.js';
import type { WriteView } from '../../engine/storage/table/view-types.js';
import { compileShop, Shop } from './shop.js';

const size = 2_000;
/** One of so many items meets a condition. */
const parts = [1, 2, 10, 100, 2_000];
const wanted = [1, 5, 50];
/** What finding out may cost beyond that. */
const trifle = 1_600;

/** Owners of parts of the items, which lie all over, and each of which likes another. */
function fill(view: WriteView): Uuid[] {
  const label = (kind: 'node' | 'edge', name: string) => view.catalog.find(kind, name)!;
  const apart = (i: number) => (i * 7919 + 13) % size;
  const made = Array.from({ length: size }, (_, i) => {
    const values = new Map<string, string | number>([['year', apart(i)]]);
    return view.createNode(label('node', 'Item'), values.set('price', 1).set('key', `k${i}`));
  });
  for (const part of parts) {
    const values = new Map([
      ['key', `o${part}`],
      ['note', `o${part}`],
    ]);
    const owner = view.createNode(label('node', 'Owner'), values);
    for (const [i, item] of made.entries())
      if (apart(i) % part === 0) view.createEdge(label('edge', 'Owns'), owner, item, new Map());
  }
  for (const [i, item] of made.entries())
    view.createEdge(label('edge', 'Likes'), item, made[apart(i)]!, new Map());
  return [];
}

const shop = new Shop(fill);
afterAll(() => shop.close());

const conditions = [
  (part: number) => `_::In<Owns>::{key}::EQ("o${part}")`,
  (part: number) => `EXISTS(_::In<Owns>::WHERE(_::{note}::EQ("o${part}")))`,
  (part: number) => `EXISTS(_::Out<Likes>::WHERE(_::{year}::LT(${Math.ceil(size / part)})))`,
  (part: number) => `AND(_::{price}::EQ(1), _::In<Owns>::{key}::EQ("o${part}"))`,
  (part: number) => `OR(_::{key}::EQ("k3"), _::In<Owns>::CONTAINS(N<Owner>({key: "o${part}"})))`,
  (part: number) => `_::In<Owns>::WHERE(_::{key}::EQ("o${part}"))::COUNT::GTE(1)`,
];

test.each(conditions.flatMap((of) => parts.map((part) => [of(part)])))('%s', (condition) => {
  const chain = `RETURN N<Item>::WHERE(${condition})`;
  const asked = (rest: string, literal: boolean) => {
    const [query] = compileShop(`QUERY q() => ${chain}${rest}::ID`, literal).queries;
    return shop.measure(query!, {});
  };
  const whole = asked('', false);
  expect(whole.answer).toBe(asked('', true).answer);
  for (const count of wanted) {
    const rest = `::RANGE(0, ${count})`;
    const [planned, literal] = [asked(rest, false), asked(rest, true)];
    expect(planned.answer).toBe(literal.answer);
    const better = Math.min(whole.visits, literal.visits);
    expect(planned.visits, rest).toBeLessThan(1.2 * better + trifle);
  }
});
