// RANGE after a path through an index or an order by an index. Windows of every position and size are parts
// of the whole, for values with few elements or with keys of their own (property-index.ts), and at the end of
// the index.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedDatabase, open } from '../../engine/internal.js';
import { makeFolder } from '../support/project.js';
import { Random } from '../support/random.js';

const random = new Random(41);
const isLong = process.env.TRELLIS_TEST_LONG === '1';
const rows = {
  kAsc: 'N<P>::ORDER<Asc>(_::{k})',
  kDesc: 'N<P>::ORDER<Desc>(_::{k})',
  kBetween: 'N<P>::WHERE(_::{k}::GTE(3))::ORDER<Asc>(_::{k})',
  kDescBelow: 'N<P>::WHERE(_::{k}::LT(9))::ORDER<Desc>(_::{k})',
  uAsc: 'N<P>::ORDER<Asc>(_::{u})',
  uDesc: 'N<P>::ORDER<Desc>(_::{u})',
  uBetween: 'N<P>::WHERE(_::{u}::GT(300))::ORDER<Asc>(_::{u})',
  uDescBelow: 'N<P>::WHERE(_::{u}::LTE(1100))::ORDER<Desc>(_::{u})',
  many: 'N<P>({k: 7})',
  few: 'N<P>({k: 2})',
  none: 'N<P>({k: 1000})',
  manyWhere: 'N<P>::WHERE(_::{k}::EQ(7))',
  manyAlso: 'N<P>::WHERE(AND(_::{k}::EQ(7), _::{no}::GT(400)))',
  wholeType: 'N<P>',
};
const text = `
N::P { no: I64, INDEX k: I64, UNIQUE INDEX u: I64 }
QUERY fill(rows: [{no: I64, k: I64, u: I64}]) =>
  FOR {no, k, u} IN rows { AddN<P>({no: no, k: k, u: u}) }
  RETURN 1
QUERY bare(nos: [I64]) => FOR no IN nos { AddN<P>({no: no}) } RETURN 1
QUERY drop(no: I64) => DROP N<P>::WHERE(_::{no}::EQ(no)) RETURN 1
QUERY own(a: U32, b: U32) =>
  one <- AddN<P>({no: 5000, k: 7})
  p <- N<P>({k: 7})::RANGE(a, b)
  q <- N<P>::ORDER<Desc>(_::{k})::RANGE(a, b)
  RETURN p::{no}, q::{no}
${Object.entries(rows)
  .map(
    ([name, of]) => `
QUERY ${name}(a: U32, b: U32) => p <- ${of}::RANGE(a, b)::{no} RETURN p
QUERY ${name}All() => p <- ${of}::{no} RETURN p`,
  )
  .join('')}
`;

let db: EmbeddedDatabase;
beforeAll(async () => {
  const sources = [{ path: 'a.hx', text }];
  db = await open({ dataDir: `${makeFolder()}/data`, sources, minFreeBytes: 0 });
  const keys = [2, 2, 3, 5, 7, 7, 7, 7, 7, 9, 9, 9];
  const all = Array.from({ length: 1500 }, (_, no) => {
    const k = random.chance(0.8) ? random.pick(keys) : random.below(400);
    return { no, k, u: (no * 7919) % 1500 };
  });
  await db.call('fill', { rows: all.slice(0, 900) });
  await db.call('bare', { nos: Array.from({ length: 150 }, (_, i) => 2000 + i) });
  await db.call('fill', { rows: all.slice(900) });
  for (let no = 0; no < 1500; no += 37) await db.call('drop', { no });
});
afterAll(() => db.close());

type Nos = { p: { no: number }[] };

it.each(Object.keys(rows))('%s', async (name) => {
  const { p: all } = await db.call<Nos>(`${name}All`);
  const ends = new Set([0, 1, 9, 63, 64, 65, 128, 500, all.length - 1, all.length, 1e6]);
  for (let i = 0; i < (isLong ? 100 : 4); i++) ends.add(random.below(all.length + 2));
  for (const start of ends) {
    if (start < 0) continue;
    for (const size of [0, 1, 10, 90, 700, 1e6]) {
      const { p } = await db.call<Nos>(name, { a: start, b: start + size });
      expect(p, `${start} ${size}`).toEqual(all.slice(start, start + size));
    }
  }
});

it('a write sees what it has made', async () => {
  const { p: before } = await db.call<Nos>('manyAll');
  const { p, q } = await db.call<Nos & { q: { no: number }[] }>('own', {
    a: before.length - 1,
    b: before.length + 5,
  });
  expect(p.map(({ no }) => no)).toEqual([before.at(-1)!.no, 5000]);
  const { p: ordered } = await db.call<Nos>('kDescAll');
  expect(q).toEqual(ordered.slice(before.length - 1, before.length + 5));
});
