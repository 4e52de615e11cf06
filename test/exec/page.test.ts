// PAGE [X025]: page after page is the whole in its order, whatever the keys, their kinds, ties and
// nulls; whatever text comes as a position is one of ours or refused.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedDatabase, open } from '../../engine/internal.js';
import { makeFolder } from '../support/project.js';
import { Random } from '../support/random.js';

const keys = ['s', 'i', 'big', 'f', 'b', 'd', 'o', 'l', 't'];
const places = ['', ' NULLS FIRST', ' NULLS LAST'];
const random = new Random(25);

const orders: { name: string; order: string }[] = [
  { name: 'q0', order: '' },
  ...Array.from({ length: 24 }, (_, at) => {
    const own = at < keys.length ? [keys[at]!] : random.some(keys, 0.4);
    const by = own.length === 0 ? ['s'] : own;
    const directions = by.map(() => random.pick(['Asc', 'Desc']) + random.pick(places));
    const values = by.map((key) => `_::{${key}}`).join(', ');
    return { name: `q${at + 1}`, order: `::ORDER<${directions.join(', ')}>(${values})` };
  }),
];

const read = ({ name, order }: (typeof orders)[number]): string =>
  `QUERY ${name}(n: U32, after?: String) =>
    p <- N<P>${order}::WHERE(_::{i}::NEQ(3))::{no}::PAGE(n, after)
    RETURN p
  QUERY ${name}all() => RETURN N<P>::ORDER<Asc>(_::ID)${order}::WHERE(_::{i}::NEQ(3))::{no}`;

const text = `
N::P {
  no: I64, s: String, INDEX i: I32, big: U128, f: F64, b: Boolean, d: Date, o: ID,
  l: [String], t: [F64]
}
E::Near { From: P, To: P }
N::Q { INDEX at: I64 }
N::Own { INDEX key: I64 }
QUERY own(n: U32, after?: String) => p <- N<Own>::{key, i: ID}::PAGE(n, after) RETURN p
QUERY ownall() => RETURN N<Own>::ORDER<Asc>(_::ID)::{key, i: ID}
QUERY ownby(n: U32, after?: String) =>
  p <- N<Own>::ORDER<Asc>(_::{key})::{key, i: ID}::PAGE(n, after) RETURN p
QUERY ownbyall() => RETURN N<Own>::ORDER<Asc, Asc>(_::{key}, _::ID)::{key, i: ID}
QUERY owndown(n: U32, after?: String) =>
  p <- N<Own>::ORDER<Desc>(_::{key})::{key, i: ID}::PAGE(n, after) RETURN p
QUERY owndownall() => RETURN N<Own>::ORDER<Desc, Asc>(_::{key}, _::ID)::{key, i: ID}
QUERY fill(ats: [I64]) => FOR at IN ats { AddN<Q>({ at: at }) } RETURN 1
QUERY deep(n: U32, after?: String) =>
  p <- N<Q>::ORDER<Desc>(_::{at})::WHERE(_::{at}::NEQ(7))::{at}::PAGE(n, after) RETURN p
QUERY add(
  no: I64, s?: String, i?: I32, big?: U128, f?: F64, b?: Boolean, d?: Date, o?: ID,
  l?: [String], t?: [F64]
) =>
  p <- AddN<P>({no: no, s: s, i: i, big: big, f: f, b: b, d: d, o: o, l: l, t: t}) RETURN p::ID
QUERY join() => FOR a IN N<P>::RANGE(0, 6) { AddE<Near>::From(a)::To(N<P>::RANGE(0, 9)) } RETURN 1
QUERY walk(n: U32, after?: String) =>
  p <- N<P>::RANGE(0, 3)::Both<Near>{1, 2}::ORDER<Asc>(_::{no})::{no, hops}::PAGE(n, after)
  RETURN p
QUERY walkall() =>
  RETURN N<P>::RANGE(0, 3)::Both<Near>{1, 2}::DEDUP::ORDER<Asc>(_::{no})::{no, hops}
${orders.map(read).join('\n')}
`;

const count = 60;
let db: EmbeddedDatabase;
const id = (n: number): string => `00000000-0000-7000-8000-0000000000${String(n).padStart(2, '0')}`;

beforeAll(async () => {
  const sources = [{ path: 'a.hx', text }];
  db = await open({ dataDir: `${makeFolder()}/data`, sources, minFreeBytes: 0 });
  const maybe = <T>(value: T): T | null => (random.chance(0.2) ? null : value);
  for (let no = 0; no < count; no++) {
    await db.call('add', {
      no,
      s: maybe(random.pick(['', 'a', 'A', 'é', '\u{1F331}', '\uFFFD', 'rose'])),
      i: maybe(random.pick([-5, 0, 3, 7])),
      big: maybe(random.pick([0n, 5n, 2n ** 64n, 2n ** 127n])),
      f: maybe(random.pick([-0.5, 0, 2, 1e300])),
      b: maybe(random.chance(0.5)),
      d: maybe(random.pick(['1969-12-31T23:59:59.000001+00:00', '2026-01-01', '0001-01-01'])),
      o: maybe(id(random.below(5))),
      l: random.pick([null, [], ['b'], ['a', 'b'], ['a']]),
      t: random.pick([null, [], [1.5], [2]]),
    });
  }
  await db.call('join');
});

afterAll(() => db.close());

type Page = { p: { items: Record<string, unknown>[]; next: string | null } };

async function pages(name: string, n: number): Promise<Record<string, unknown>[][]> {
  const found: Record<string, unknown>[][] = [];
  for (let after: string | null = null; ; ) {
    const { p } = (await db.call(name, { n, after })) as Page;
    found.push(p.items);
    after = p.next;
    if (after === null) return found;
    expect(p.items.length).toBe(n);
    expect(found.length).toBeLessThan(count);
  }
}

describe('pages [X025]', () => {
  for (const { name, order } of orders) {
    it(`are the whole: ${order || 'by id'}`, async () => {
      const { data } = (await db.call(`${name}all`)) as { data: { no: number }[] };
      expect(data.length).toBeGreaterThan(40);
      for (const n of [7, data.length]) {
        const found = await pages(name, n);
        expect(found.flat()).toEqual(data);
        expect(found.at(-1)).not.toEqual([]);
      }
    });
  }

  it('contain each item one time, in the order of the first visit', async () => {
    const { data } = (await db.call('walkall')) as { data: unknown[] };
    const found = await pages('walk', 4);
    expect(data.length).toBeGreaterThan(4);
    expect(found.flat()).toEqual(data);
  });

  it('are the whole where an import brings ids that do not rise', async () => {
    const load = db.database.load('ids');
    const order = [3, 1, 2, 9, 0, 5];
    const rows = order.map((n) =>
      JSON.stringify({ node: 'Own', id: id(n), properties: { key: n % 2 } }),
    );
    const text = Buffer.from(`${rows.join('\n')}\n`);
    const bytes = new Uint8Array(new ArrayBuffer(text.length));
    bytes.set(text);
    const { rejects } = await load.rows(bytes, 1, { offset: text.length, line: rows.length + 1 });
    expect(rejects).toEqual([]);
    await load.finish();
    for (const name of ['own', 'ownby', 'owndown']) {
      const { data } = (await db.call(`${name}all`)) as { data: unknown[] };
      expect(data.length).toBe(order.length);
      for (const n of [1, 2, 5]) expect((await pages(name, n)).flat()).toEqual(data);
    }
  });

  it('cost the same at any depth where the first key is indexed [X028]', async () => {
    await db.call('fill', { ats: Array.from({ length: 3_000 }, (_, at) => at) });
    const visits: number[] = [];
    const onWork = (cost: { visits: number }): void => void visits.push(cost.visits);
    const seen: unknown[] = [];
    for (let after: string | null = null; ; ) {
      const body = new TextEncoder().encode(JSON.stringify({ n: 100, after }));
      const answer = await db.database.call('deep', body, { onWork });
      const { p } = JSON.parse(Buffer.from(answer).toString()) as Page;
      seen.push(...p.items.map(({ at }) => at));
      after = p.next;
      if (after === null) break;
    }
    expect(seen).toEqual(Array.from({ length: 3_000 }, (_, i) => 2_999 - i).filter((n) => n !== 7));
    // The last one looks for items without the key.
    for (const each of visits.slice(0, -1)) expect(each).toBeLessThan(3 * visits[0]!);
    expect(visits[0]).toBeLessThan(3_000);
  });

  it('refuse every other string', async () => {
    const { p } = (await db.call('q20', { n: 1 })) as Page;
    const sound = p.next!;
    const bytes = Buffer.from(sound, 'base64url');
    const damaged = Array.from(bytes, (byte, at) => {
      const copy = Buffer.from(bytes);
      copy[at] = byte ^ (1 << random.below(8));
      return copy.toString('base64url');
    });
    const cut = Array.from({ length: sound.length }, (_, at) => sound.slice(0, at));
    const foreign = orders.slice(0, 20).map(async ({ name }) => {
      return ((await db.call(name, { n: 1 })) as Page).p.next!;
    });
    const other = [`${sound}=`, `${sound} `, ` ${sound}`, '\0', '🌱', 'x'.repeat(100_000)];
    const all = [...damaged, ...cut, ...other, ...(await Promise.all(foreign))];
    for (const after of all) {
      await expect(db.call('q20', { n: 1, after })).rejects.toMatchObject({ code: 'PARAM_VALUE' });
    }
  });
});
