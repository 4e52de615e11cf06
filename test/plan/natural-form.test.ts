// Natural forms of queries that are costly as written. After planning, each reads no more than the most
// favorable form, and returns what it returns as written.
import { afterAll, expect, test } from 'vitest';
import { printUuid } from '../../engine/base/id.js';
import { Uuid } from '../../engine/base/value.js';
import { uuidAt } from '../../engine/storage/record/record.js';
import type { WriteView } from '../../engine/storage/table/view-types.js';
import { compileShop, Shop } from './shop.js';

/** Items in a ring, each of which likes the next ten; an owner of forty; a hub that likes all. */
const size = 2_000;
const owned = 40;
const next = 10;

function fill(view: WriteView): Uuid[] {
  const label = (kind: 'node' | 'edge', name: string) => view.catalog.find(kind, name)!;
  const made = Array.from({ length: size }, (_, i) => {
    const values = new Map<string, string | number>([
      ['key', `k${i}`],
      ['year', i],
      ['note', `n${i}`],
      ['price', 1],
    ]);
    return view.createNode(label('node', 'Item'), values);
  });
  const hub = view.createNode(label('node', 'Item'), new Map([['key', 'hub']]));
  const owner = view.createNode(
    label('node', 'Owner'),
    new Map([
      ['key', 'k7'],
      ['note', 'x'],
    ]),
  );
  const like = (from: number, to: number) =>
    view.createEdge(label('edge', 'Likes'), from, to, new Map());
  for (const [i, from] of made.entries()) {
    like(hub, from);
    for (let step = 1; step <= next; step++) like(from, made[(i + step) % size]!);
  }
  for (const to of made.slice(0, owned)) {
    view.createEdge(label('edge', 'Owns'), owner, to, new Map());
  }
  return [made[5]!, owner].map((id) => new Uuid(printUuid(view.record(id)!, uuidAt.own)));
}

const shop = new Shop(fill);
afterAll(() => shop.close());

const known = 'z <- N<Owner>({key: "k7"})::Out<Owns>';
const hub = 'h <- N<Item>({key: "hub"}) i <- N<Item>({key: "k9"})';

/** What is asked, and at most so many steps: far fewer than there are items, or edges. */
const cases: [body: string, most: number][] = [
  [`${known} RETURN N<Item>::WHERE(_::ID::IS_IN(z::ID))::{key}`, 10 * owned],
  [`${known} RETURN N<Item>::WHERE(_::ID::IS_IN(z))::{key}`, 10 * owned],
  [`${known} RETURN N<Item>::WHERE(_::{year}::IS_IN(z::{year}))::{key}`, 10 * owned],
  [`${known} RETURN N<Item>::WHERE(_::ID::IS_IN([id, z::FIRST::ID]))::{key}`, 10 * owned],
  [`${known} RETURN N<Item>::WHERE(_::{note}::IS_IN(z::{note}))::{key}`, 3 * size],
  ['RETURN N<Item, Owner>::WHERE(_::{key}::EQ("k7"))::{key}', 40],
  ['RETURN N<Item, Owner>::WHERE(_::{key}::IS_IN(["k7", "k8", "none"]))::{key}', 60],
  [
    `${known} RETURN N<Item>::WHERE(OR(_::Out<Likes>::ID::IS_IN(z), _::In<Likes>::ID::IS_IN(z)))::{key}`,
    40 * owned,
  ],
  [`${hub} RETURN { a: h::Out<Likes>::CONTAINS(i), b: i::In<Likes>::CONTAINS(h) }`, 100],
  [`${hub} RETURN { a: EXISTS(h::Out<Likes>::WHERE(_::ID::EQ(i::ID))) }`, 100],
  [
    `${hub} RETURN { n: i::Out<Likes>::Out<Likes>::WHERE(!_::In<Likes>::ID::EQ(h::ID))::COUNT }`,
    2 * size + 20 * next * next,
  ],
  [`${hub} RETURN { n: h::Out<Likes>::Out<Likes>::DEDUP::COUNT }`, 3 * size * next],
  [`${hub} RETURN { n: h::Out<Likes>::COUNT, m: N<Item>::COUNT, e: E<Likes>::COUNT }`, 60],
  ['RETURN N<Item>::WHERE(_::In<Owns>::{key}::EQ("k7"))::{key}', 10 * owned],
  ['RETURN N<Item>::WHERE(_::Out<Likes>::In<Owns>::ID::EQ(owner))::{key}', 30 * owned],
  // From the other end: along edges of either direction, from edges, from what is asked on the way.
  [`${hub} RETURN N<Item>::WHERE(_::Both<Likes>::CONTAINS(i))::{key}`, 100],
  ['RETURN N<Item>::WHERE(_::Both<Likes>::{key}::EQ("k9"))::{key}', 100],
  ['RETURN N<Item>::WHERE(EXISTS(_::In<Owns>::WHERE(_::{key}::EQ("k7"))))::{key}', 10 * owned],
  ['RETURN N<Item>::WHERE(EXISTS(_::In<Owns>::WHERE(_::{note}::EQ("x"))))::{key}', 10 * owned],
  ['RETURN N<Item>::WHERE(_::In<Owns>::{note}::EQ("x"))::{key}', 10 * owned],
  ['RETURN N<Item>::WHERE(EXISTS(_::In<Owns>))::{key}', 10 * owned],
  // Of two that read all edges of a type, the one of fewer, wherever it stands.
  ['RETURN N<Item>::WHERE(AND(EXISTS(_::Out<Likes>), EXISTS(_::In<Owns>)))::{key}', 20 * owned],
  ['RETURN N<Item>::WHERE(AND(EXISTS(_::In<Owns>), EXISTS(_::Out<Likes>)))::{key}', 20 * owned],
  [
    'RETURN N<Item>::WHERE(EXISTS(_::Out<Likes>::WHERE(_::{year}::LT(3))::In<Owns>::WHERE(_::{note}::EQ("x"))))::{key}',
    40 * owned,
  ],
  [
    'RETURN N<Item>::WHERE(EXISTS(_::Out<Likes>::WHERE(EXISTS(_::Out<Likes>::WHERE(_::{key}::EQ("k9"))))))::{key}',
    500,
  ],
  ['RETURN E<Owns>::WHERE(_::FromN::{key}::EQ("k7"))::{id}', 10 * owned],
  // What is compared with may fail, or is searched for.
  ['RETURN N<Item>::WHERE(_::{year}::EQ(ADD(5, 4)))::{key}', 100],
  ['RETURN N<Item>::WHERE(_::{year}::IS_IN([ADD(3, 4), 9]))::{key}', 200],
  ['RETURN N<Item>::WHERE(_::{year}::GTE(SUB(2000, 5)))::{key}', 100],
  ['RETURN N<Item>::WHERE(_::{key}::EQ(CONCAT("k", "9")))::{key}', 100],
  ['RETURN N<Item>::WHERE(_::Both<Likes>::CONTAINS(N<Item>(id)))::{key}', 200],
  [
    'RETURN N<Item>::ORDER<Desc>(_::{year})::WHERE(_::{price}::EQ(ADD(1, 0)))::RANGE(0, 5)::{key}',
    500,
  ],
  // Asked of one item after another, soon looked up in what leads there.
  ['RETURN N<Item>::WHERE(!EXISTS(_::In<Owns>::WHERE(_::{key}::EQ("k7"))))::COUNT', 3.5 * size],
  ['RETURN N<Item>::WHERE(!EXISTS(_::Out<Likes>::WHERE(_::{key}::EQ("none"))))::COUNT', 3.5 * size],
  ['RETURN N<Item>::WHERE(!EXISTS(_::Both<Likes>::WHERE(_::{key}::EQ("k9"))))::COUNT', 3.5 * size],
  [`${hub} RETURN N<Item>::WHERE(!_::Both<Likes>::CONTAINS(i))::COUNT`, 3.5 * size],
  ['RETURN N<Item>::WHERE(!_::Out<Likes>::Out<Likes>::{key}::EQ("k9"))::COUNT', 3.5 * size],
  ['RETURN N<Item>::WHERE(!_::Out<Likes>::Out<Likes>::ID::IS_IN([id]))::COUNT', 3.5 * size],
  [`${hub} RETURN h::Out<Likes>::WHERE(_::Out<Likes>::{key}::EQ("k9"))::{key}`, 3.5 * size],
  [
    'RETURN N<Item>::WHERE(AND(EXISTS(_::Out<Likes>::WHERE(EXISTS(_::Out<Likes>::WHERE(_::{year}::LT(50))))), EXISTS(_::Out<Likes>::WHERE(_::{key}::EQ("k9")))))::{key}',
    2 * size,
  ],
  [
    'RETURN N<Item>::{ near: EXISTS(_::Out<Likes>::Out<Likes>::WHERE(_::{key}::EQ("k9"))) }::WHERE(_::{near})::COUNT',
    300,
  ],
  // A count that is compared goes no further than the number.
  ...Object.entries({ GTE: 3, GT: 2, EQ: 2, NEQ: 3, LT: 9, LTE: 9 }).map(
    ([operator, n]): [string, number] => [
      `${hub} RETURN { a: h::Out<Likes>::WHERE(_::{year}::GTE(0))::COUNT::${operator}(${n}) }`,
      size + 100,
    ],
  ),
  [`${hub} RETURN { a: h::Out<Likes>::Out<Likes>::DEDUP::COUNT::GTE(5) }`, 2 * size + 200],
  ['RETURN { a: N<Item>::WHERE(_::{note}::STARTS_WITH("n"))::COUNT::GT(7) }', 200],
  [`${hub} RETURN { a: h::Out<Likes>::WHERE(_::{year}::LT(0))::COUNT::GTE(3) }`, 3 * size],
  // At least so many; and alternatives in other words, some of which do not ask of the item.
  ['RETURN N<Item>::WHERE(_::In<Owns>::COUNT::GTE(2))::{key}', 10 * owned],
  ['RETURN N<Item>::WHERE(_::In<Owns>::COUNT::EQ(y))::{key}', 10 * owned],
  [
    'RETURN N<Item>::WHERE(_::Out<Likes>::WHERE(_::{key}::EQ("k9"))::COUNT::GT(0))::{key}',
    10 * owned,
  ],
  ['RETURN N<Item>::WHERE(IF(y::GT(0), _::{key}::EQ("k7"), false))::{key}', 60],
  ['RETURN N<Item>::WHERE(IF(y::EQ(NONE), true, _::{year}::EQ(y)))::{key}', 60],
  ['RETURN N<Item>::WHERE(IF(y::GT(0), _::{year}, 3)::EQ(y))::{key}', 60],
  ['RETURN N<Item>::WHERE(IF(_::{key}::EQ("k7"), _::{year}::GT(0), false))::{key}', 60],
  ['RETURN N<Item>::WHERE(COALESCE(_::{year}, 0)::EQ(y))::{key}', 60],
  ['RETURN N<Item>::WHERE(COALESCE(_::{year}::EQ(y), false))::{key}', 60],
  ['RETURN N<Item>::WHERE(OR(y::EQ(NONE), _::{year}::EQ(y)))::{key}', 60],
  [
    'RETURN N<Item>::WHERE(AND(OR(y::EQ(NONE), _::{price}::EQ(y)), OR(id::EQ(NONE), _::ID::EQ(id))))::{key}',
    1_000,
  ],
  [
    'RETURN N<Item>::WHERE(OR(z::EQ(NONE), _::{note}::EQ(z)))::ORDER<Desc>(_::{year})::RANGE(0, 5)::{key}',
    500,
  ],
  [
    'RETURN N<Item>::WHERE(IF(z::EQ(NONE), true, _::{key}::EQ(z)))::ORDER<Desc>(_::{year})::PAGE(5)',
    1_500,
  ],
  [
    'RETURN N<Item>::WHERE(_::In<Likes>::COUNT::GTE(2))::ORDER<Desc>(_::{year})::RANGE(0, 5)::{key}',
    1_500,
  ],
  ['RETURN N<Item>::WHERE(_::{price}::EQ(1))::ORDER<Desc>(_::{year})::RANGE(0, 5)::{key}', 1_000],
  // The shorter of two lists.
  ['RETURN N<Item>::WHERE(_::{price}::EQ(1))::WHERE(_::{key}::IS_IN(["k7", "k5"]))::{key}', 100],
  [
    `${known} RETURN N<Item>::WHERE(AND(_::{price}::EQ(1), _::{key}::IS_IN(z::{key})))::{key}`,
    1_000,
  ],
  [`${hub} RETURN N<Item>::WHERE(AND(_::{price}::EQ(1), _::Out<Likes>::CONTAINS(i)))::{key}`, 200],
  ['RETURN N<Item>::WHERE(AND(_::{price}::EQ(1), _::Out<Likes>::{key}::EQ("k9")))::{key}', 300],
  // Few of many: no way takes longer than to read from the beginning.
  ['RETURN N<Item>::WHERE(EXISTS(_::In<Likes>::WHERE(_::{year}::GTE(0))))::RANGE(0, 5)', 1_500],
  ['RETURN N<Item>::WHERE(EXISTS(_::In<Likes>::WHERE(_::{year}::GTE(0))))::PAGE(5)', 1_500],
  [
    'RETURN N<Item>::WHERE(EXISTS(_::In<Likes>::WHERE(_::{year}::GTE(0))))::ORDER<Desc>(_::{year})::RANGE(0, 5)',
    1_500,
  ],
  [
    `${hub} RETURN N<Item>::WHERE(AND(_::{price}::EQ(1), _::In<Likes>::CONTAINS(h)))::RANGE(0, 5)`,
    2_500,
  ],
  // The item at the right.
  ['RETURN N<Item>::WHERE(ADD(4, 5)::GT(_::{year}))::{key}', 100],
  ['RETURN N<Item>::WHERE(CONCAT("k", "7")::EQ(_::{key}))::{key}', 60],
  ['RETURN E<Owns>::WHERE(owner::EQ(_::FromN::ID))::ToN::{key}', 10 * owned],
  // Of lists taken together.
  ['RETURN UNION(N<Item>, N<Owner>)::WHERE(_::{key}::EQ("k7"))::{key}', 60],
  [
    'RETURN UNION(N<Item>::WHERE(_::{price}::EQ(1)), UNION(N<Owner>, N<Item>(id)))::WHERE(_::{key}::IS_IN(["k7", "k5"]))::ORDER<Asc>(_::{key})::{key}',
    100,
  ],
  ['RETURN EXCEPT(N<Item>, N<Item>(id))::WHERE(_::{year}::LT(9))::{key}', 100],
  ['RETURN INTERSECT(N<Item>, N<Item>({key: "k7"}))::WHERE(_::{year}::LT(9))::{key}', 100],
  ['RETURN UNION(N<Item>, N<Owner>)::WHERE(EXISTS(_::In<Owns>))::{key}', 10 * owned],
  ['RETURN N<Item>::WHERE(_::{key}::STARTS_WITH("k199"))::{key}', 100],
  ['RETURN N<Item>::ORDER<Desc>(_::{year})::RANGE(0, 5)::{key}', 100],
  ['RETURN N<Item>::{ key, n: _::Out<Likes>::COUNT }::RANGE(3, 8)', 100],
];

/** Some of a type, by what has a path of its own; in every place where lists may stand. */
const some = [
  'N<Item>::WHERE(_::ID::EQ(id))',
  'N<Item>::WHERE(id::EQ(_::ID))',
  'N<Item>::WHERE(_::ID::IS_IN([id, owner]))',
  'N<Item>::WHERE(AND(_::ID::EQ(id), _::{year}::GTE(0)))',
  'N<Item>::WHERE(_::{key}::EQ("k5"))',
  'N<Item>::WHERE(_::Out<Likes>::ID::EQ(id))',
  'N<Item, Owner>::WHERE(_::ID::EQ(id))',
  'E<Owns>::WHERE(_::FromN::ID::EQ(owner))::ToN',
  'UNION(N<Item>, N<Owner>)::WHERE(_::ID::EQ(id))',
];
const places = [
  (list: string) => `{ a: EXISTS(${list}) }`,
  (list: string) => `{ a: IF(EXISTS(${list}), 1, 2), b: !EXISTS(${list}) }`,
  (list: string) => `{ a: ${list}::COUNT::GT(0), b: ${list}::COUNT::EQ(0) }`,
  (list: string) => `{ a: ${list}::CONTAINS(id), b: ${list}::ID::EQ(id) }`,
  (list: string) => `{ a: ${list}::FIRST::{key}, b: ${list}::ID, c: ${list}::RANGE(0, 1)::ID }`,
  (list: string) => `N<Owner>::WHERE(EXISTS(${list}))::{key}`,
  (list: string) => `N<Owner>::WHERE(EXISTS(${list}::WHERE(_::ID::EQ(id))))::{key}`,
  (list: string) => `N<Owner>::{ key, n: ${list}::COUNT, e: EXISTS(${list}) }`,
];
const grid = some.flatMap((list) =>
  places.map((place): [string, number] => [`RETURN ${place(list)}`, 2_000]),
);

test.each([...cases, ...grid])('%s', (body, most) => {
  const optional = /z <-/.test(body) ? '' : ', z?: String';
  const text = `QUERY q(id: ID, owner: ID, y: I32${optional}) => ${body}`;
  const [planned, literal] = [false, true].map((as) => compileShop(text, as).queries[0]!);
  const [id, owner] = shop.ids;
  const answer = shop.run(planned!, { id, owner, y: 1 }, most);
  expect(answer).toBe(shop.run(literal!, { id, owner, y: 1 }));
  expect(answer).toMatch(/^\{/);
});

test('members with names are computed one time per row, however often they are read', () => {
  const once = 'n <- SUM(_::Out<Likes>::Out<Likes>::{year})';
  const rest = '::WHERE(_::{n}::GT(0))::ORDER<Desc, Asc>(_::{n}, _::{key})::RANGE(0, 5)';
  const body = (member: string) =>
    `QUERY q() => x <- N<Item>::RANGE(0, 100)::{ ${member} }${rest} RETURN x`;
  const work = 100 * next * next;
  const [query] = compileShop(body(`${once}, key, twice: ADD(n, n)`), false).queries;
  // Two steps and a value for each that is reached, and not four times as many.
  expect(shop.run(query!, {}, 5 * work)).toMatch(/^\{"x"/);
});
