// Pages of what the edges of an element lead to, against the whole list sorted here: every step along edges,
// with and without a condition, through any history of the data: edges that are deleted (also those where a
// page ended), that loads bring with ids of their own, in any order, and that come later, also after a
// restart. A page costs what is on it, not the degree.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { verifyStorage } from '../../engine/database/maintenance/verify.js';
import { type EmbeddedDatabase, open } from '../../engine/database/embedded.js';
import { openStorage } from '../../engine/storage/open-storage.js';
import { readState, writeState } from '../../engine/storage/table/meta.js';
import { makeFolder } from '../support/project.js';
import { Random } from '../support/random.js';

const schema = `
N::Hub { UNIQUE INDEX k: String }
N::Leaf { UNIQUE INDEX n: I64 }
E::L { From: Hub, To: Leaf, Properties: { w: I64, t?: String } }
E::M { From: Hub, To: Leaf, Properties: { w: I64, t?: String } }
E::S { From: Hub, To: Hub, Properties: { w: I64, t?: String } }
QUERY hubs(ks: [String]) => FOR k IN ks { AddN<Hub>({ k: k }) } RETURN "made"
QUERY leaves(ns: [I64]) => FOR n IN ns { AddN<Leaf>({ n: n }) } RETURN "made"
QUERY l(k: String, n: I64, ws: [I64]) =>
  FOR w IN ws { AddE<L>({ w: w })::From(N<Hub>({ k: k }))::To(N<Leaf>({ n: n })) }
  RETURN "made"
QUERY m(k: String, n: I64, w: I64) =>
  AddE<M>({ w: w, t: "m" })::From(N<Hub>({ k: k }))::To(N<Leaf>({ n: n }))
  RETURN "made"
QUERY s(a: String, b: String, w: I64) =>
  AddE<S>({ w: w })::From(N<Hub>({ k: a }))::To(N<Hub>({ k: b }))
  RETURN "made"
QUERY cut(id: ID) => DROP E<L>(id) RETURN "gone"
QUERY cutM(id: ID) => DROP E<M>(id) RETURN "gone"
QUERY cutS(id: ID) => DROP E<S>(id) RETURN "gone"
QUERY edges() => a <- E<L> b <- E<M> c <- E<S> RETURN { l: a::{id}, m: b::{id}, s: c::{id} }
QUERY ends() => h <- N<Hub>({ k: "h" })::ID x <- N<Leaf>({ n: 0 })::ID RETURN h, x
`;

const hub = 'N<Hub>({ k: "h" })';
const conditions = {
  '': '',
  ' where w > 40': '::WHERE(_::{w}::GT(40))',
  ' where t is unset': '::WHERE(!EXISTS(_::{t}))',
};
const streams: [chain: string, ofEdges: boolean, seeks: boolean][] = [
  [`${hub}::OutE<L>`, true, true],
  [`${hub}::OutE<M>`, true, true],
  [`${hub}::OutE<L, M>`, true, true],
  [`${hub}::OutE<L, M, S>`, true, true],
  [`${hub}::OutE<S>`, true, true],
  [`${hub}::InE<S>`, true, true],
  ['N<Leaf>({ n: 0 })::InE<L>', true, true],
  ['N<Leaf>({ n: 0 })::InE<L, M>', true, true],
  ['N<Hub>({ k: "none" })::OutE<L>', true, true],
  ['N<Hub>::OutE<L>', true, true],
  ['N<Leaf>::InE<M>', true, true],
  [`${hub}::BothE<S>`, true, false],
  [`${hub}::OutE<L>(_::{w}::GT(20))`, true, false],
  [`${hub}::Out<L>`, false, false],
  [`${hub}::Out<S>`, false, false],
  [`${hub}::Both<S>`, false, false],
  ['N<Leaf>({ n: 0 })::In<L>', false, false],
  ['N<Leaf>::In<M>', false, false],
  [`${hub}::Out<L>::In<L>`, false, false],
];

const cases = streams.flatMap(([chain, ofEdges, seeks], i) =>
  Object.entries(conditions)
    .filter(([text]) => ofEdges || text === '')
    .map(([text, condition], j) => ({
      name: `q${i}x${j}`,
      text: chain + text,
      seeks,
      chain,
      condition,
    })),
);
const queries = cases.map(
  ({ name, chain, condition }) => `
QUERY ${name}(n: I64, after?: String) => p <- ${chain}${condition}::{id}::PAGE(n, after) RETURN p
QUERY ${name}all() => p <- ${chain}${condition} RETURN p::{id}`,
);

interface Page {
  p: { items: { id: string }[]; next: string | null };
}
type Rows = { p: { id: string }[] };

const sources = [{ path: 'main.hx', text: schema + queries.join('') }];
const options = { dataDir: join(makeFolder(), 'data'), sources, minFreeBytes: 0 };
const isLong = process.env.TRELLIS_TEST_LONG === '1';
const random = new Random(11);
let db: EmbeddedDatabase;

beforeAll(async () => {
  db = await open(options);
});
afterAll(() => db.close());

const sorted = (ids: readonly string[]): string[] => [...new Set(ids)].sort();

/** All pages of all cases are the whole list. */
async function check(): Promise<void> {
  for (const { name, text } of cases) {
    const { p: all } = await db.call<Rows>(`${name}all`);
    const ids = sorted(all.map(({ id }) => id));
    for (const n of isLong ? [1, 3, 40, ids.length, ids.length + 1] : [23, ids.length]) {
      if (n === 0) continue;
      const found: string[] = [];
      for (let after: string | null = null; ; ) {
        const { p }: Page = await db.call<Page>(name, { n, ...(after !== null && { after }) });
        found.push(...p.items.map(({ id }) => id));
        after = p.next;
        if (after === null) break;
        expect(p.items, text).toHaveLength(n);
      }
      expect(found, `${text}, ${n} a page`).toEqual(ids);
    }
  }
}

const numbers = (count: number): number[] => Array.from({ length: count }, () => random.below(100));
type Edges = Record<'l' | 'm' | 's', string[]>;
const cuts = { l: 'cut', m: 'cutM', s: 'cutS' } as const;

async function add(): Promise<void> {
  for (let i = 0; i < 10; i++) {
    await db.call('l', { k: random.pick(['h', 'other']), n: random.below(4), ws: numbers(6) });
    await db.call('m', {
      k: random.pick(['h', 'other']),
      n: random.below(3),
      w: random.below(100),
    });
    const [a, b] = [random.pick(['h', 'other']), random.pick(['h', 'other'])];
    await db.call('s', { a, b, w: random.below(100) });
  }
}

async function remove(share: number): Promise<void> {
  const { data } = await db.call<{ data: Edges }>('edges');
  for (const [kind, list] of Object.entries(data) as [keyof Edges, Edges['l']][]) {
    for (const id of list) if (random.chance(share)) await db.call(cuts[kind], { id });
  }
}

/** Loads edges of `h` with these ids, or with new ones. */
async function load(name: string, ids: readonly (string | undefined)[]): Promise<void> {
  const { h, x } = await db.call<{ h: string; x: string }>('ends');
  const rows = ids.map((id) => {
    const edge = random.pick(['L', 'M']);
    return JSON.stringify({ edge, id, from: h, to: x, properties: { w: random.below(100) } });
  });
  const text = Buffer.from(`${rows.join('\n')}\n`);
  const bytes = new Uint8Array(new ArrayBuffer(text.length));
  bytes.set(text);
  const run = db.database.load(name);
  const { rejects } = await run.rows(bytes, 1, { offset: text.length, line: rows.length + 1 });
  expect(rejects).toEqual([]);
  await run.finish();
}

/** As an earlier build has left the data. */
async function forget(): Promise<void> {
  await db.close();
  const storage = openStorage(join(options.dataDir, 'graph'), {
    limits: defaultLimits,
    mode: 'attach',
  });
  const { env } = storage;
  env.transact(() => {
    writeState(env.meta, { ...readState(env.meta), risenFrom: 0 });
    return true;
  });
  storage.close();
  db = await open(options);
}

const hex = (length: number): string =>
  Array.from({ length }, () => random.below(16).toString(16)).join('');
const anyId = (): string => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
const idOf = (at: number): string => `f${String(at).padStart(7, '0')}-0000-7000-8000-${hex(12)}`;

const steps: [what: string, run: () => Promise<void>][] = [
  [
    'a few elements',
    async () => {
      await db.call('hubs', { ks: ['h', 'other', 'none'] });
      await db.call('leaves', { ns: [0, 1, 2, 3] });
      await add();
    },
  ],
  ['more than a chunk of a list', () => db.call('l', { k: 'h', n: 0, ws: numbers(150) })],
  ['deleted ones', () => remove(0.3)],
  [
    'a restart',
    async () => {
      await db.close();
      db = await open(options);
    },
  ],
  ['new ones after it', add],
  ['a load that gives ids', () => load('new', [undefined, undefined, undefined])],
  [
    'a load of ids of far ahead, that rise',
    () => load('ahead', [idOf(1), idOf(2), undefined, idOf(3)]),
  ],
  ['new ones behind those', add],
  ['a load of ids in any order', () => load('any', Array.from({ length: 12 }, anyId))],
  [
    'a mixed load',
    () => load('mixed', [undefined, anyId(), undefined, idOf(9), anyId(), undefined]),
  ],
  ['new ones at last', add],
  [
    'another restart',
    async () => {
      await db.close();
      db = await open(options);
    },
  ],
  ['data of a build that did not note how ids rise', forget],
  ['new ones behind those of before', add],
  ['nearly all deleted', () => remove(0.9)],
  ['new ones in the rest', add],
  ['ids in any order once more', () => load('more', Array.from({ length: 9 }, anyId))],
];

describe('pages along edges are the whole list', () => {
  test.each(steps)('with %s', async (_, run) => {
    await run();
    await check();
  });
});

test('verify checks that ids ascend where the list says so', async () => {
  await db.close();
  const storage = openStorage(join(options.dataDir, 'graph'), {
    limits: defaultLimits,
    mode: 'attach',
  });
  const { env } = storage;
  expect(verifyStorage(storage)).toEqual([]);
  expect(readState(env.meta).risenFrom).toBeGreaterThan(1);
  env.transact(() => {
    writeState(env.meta, { ...readState(env.meta), risenFrom: 1 });
    const [fault] = verifyStorage(storage);
    expect(fault).toMatchObject({ invariant: 'I16', what: expect.stringContaining('rise') });
    return false;
  });
  storage.close();
  db = await open(options);
});

test('a page continues after an edge that was deleted or added', async () => {
  for (const n of [3, 7]) {
    let after: string | null = null;
    let last = '';
    const seen: string[] = [];
    do {
      const { p }: Page = await db.call<Page>('q0x0', { n, ...(after !== null && { after }) });
      const ids = p.items.map(({ id }) => id);
      for (const id of ids) expect(id > last).toBe(true);
      seen.push(...ids);
      after = p.next;
      if (ids.length === 0) break;
      last = ids.at(-1)!;
      await db.call('cut', { id: last });
      if (seen.length < 20) await db.call('l', { k: 'h', n: 1, ws: [1] });
      const { p: left } = await db.call<Rows>('q0x0all');
      const behind = sorted(left.map(({ id }) => id)).filter((id) => id > last);
      if (after === null) break;
      const next: Page = await db.call<Page>('q0x0', { n, after });
      expect(next.p.items.map(({ id }) => id)).toEqual(behind.slice(0, n));
    } while (after !== null);
    expect(seen.length).toBeGreaterThan(10);
  }
});

test.each(cases)('explain of $text', async ({ chain, condition, seeks }) => {
  const source = `
    QUERY q(n: I64, after?: String) => p <- ${chain}${condition}::PAGE(n, after) RETURN p`;
  const told = JSON.stringify(await db.call('_query', { source, explain: true }));
  expect(told.includes('seeking in list')).toBe(seeks);
});

test('a page costs what is on it', async () => {
  await db.call('hubs', { ks: ['large'] });
  for (let i = 0; i < 8; i++) await db.call('l', { k: 'large', n: 3, ws: numbers(2_500) });
  const visitsOf = async (query: string, after?: string) => {
    let visits = 0;
    const source = `
      QUERY q(after?: String) =>
        p <- N<Hub>({ k: "large" })::${query}::PAGE(100, after) RETURN p`;
    const body = { source, profile: true, parameters: { ...(after && { after }) } };
    const { result, profile } = await db.call<{
      result: Page;
      profile: { pipelines: { steps: { rows?: number }[] }[] };
    }>('_query', body);
    for (const { steps: of } of profile.pipelines) {
      for (const step of of) visits = Math.max(visits, step.rows ?? 0);
    }
    return { visits, next: result.p.next! };
  };
  for (const query of ['OutE<L>', 'OutE<L, M>', 'OutE<L>::WHERE(_::{w}::GT(10))']) {
    const first = await visitsOf(query);
    expect(first.visits).toBeLessThan(1_000);
    const second = await visitsOf(query, first.next);
    expect(second.visits).toBeLessThan(1_000);
  }
});
