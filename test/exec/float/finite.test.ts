// Numbers are finite by construction: whatever makes a float answers what the formula gives, or 400
// ARITHMETIC where that is not finite, and an answer is always JSON. Inputs are the ends of the range,
// the smallest floats, both zeros and a few between.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultLimits } from '../../../engine/base/limits.js';
import { type EmbeddedDatabase, open } from '../../../engine/database/embedded.js';
import { verifyStorage } from '../../../engine/database/maintenance/verify.js';
import { mergeReplies } from '../../../engine/database/scatter/merge.js';
import type { MathFunction } from '../../../engine/plan/function-name.js';
import { openStorage } from '../../../engine/storage/open-storage.js';
import { aggregate, calculate } from '../../support/oracle/oracle-math.js';
import { makeFolder } from '../../support/project.js';
import { Random } from '../../support/random.js';

const least = 5e-324;
const normal = 2.2250738585072014e-308;
const max = Number.MAX_VALUE;
const specials = [
  ...[max, -max, 1e308, -1e308, 8.99e307, least, -least, normal, -normal],
  ...[0, -0, 1, -1, 0.5, 2, 3.5, 1e-160, 1e154, 709.9, -745.5],
];

/** All of them in long tests. */
const isLong = process.env.TRELLIS_TEST_LONG === '1';
const few = isLong ? specials : [max, -1e308, 8.99e307, least, -normal, 0, -0, 1, 3.5, 1e154];

const unary = 'ABS CEIL FLOOR ROUND SQRT LN LOG10 EXP SIN COS TAN ASIN ACOS ATAN'.split(' ');
const binary = 'ADD SUB MUL DIV MOD POW LOG ATAN2 MIN MAX'.split(' ');
const totals = ['SUM', 'AVG', 'MIN', 'MAX', 'COUNT'] as const;
const metrics = { Cosine: 'cosine', Dot: 'dot', Far: 'l2' } as const;

const source = `
N::Item { INDEX g: I64, f: F64, single?: F32, list?: [F64], singles?: [F32] }
N::Bed { INDEX k: String, zero: F64 }
E::Lane { From: Bed, To: Bed, Properties: { w: F64, open: Boolean } }
${Object.keys(metrics)
  .map((name) => `V::${name} { n: I64 }`)
  .join('\n')}
QUERY items(rows: [{ g: I64, f: F64 }]) =>
  FOR { g, f } IN rows { AddN<Item>({ g: g, f: f }) } RETURN "made"
QUERY beds(keys: [String]) => FOR k IN keys { AddN<Bed>({ k: k, zero: 0 }) } RETURN "made"
QUERY lane(a: String, b: String, w: F64, open: Boolean) =>
  e <- AddE<Lane>({ w: w, open: open })::From(N<Bed>({ k: a }))::To(N<Bed>({ k: b }))
  RETURN e
${unary.map((f) => `QUERY f${f}(a: F64) => RETURN ${f}(a)`).join('\n')}
${binary.map((f) => `QUERY f${f}(a: F64, b: F64) => RETURN ${f}(a, b)`).join('\n')}
${totals.map((f) => `QUERY list${f}(xs: [F64]) => RETURN ${f}(xs)`).join('\n')}
${totals
  .map(
    (f) => `
QUERY rows${f}(g: I64) => x <- ${f}(N<Item>({ g: g })::{f}) RETURN x
QUERY group${f}(g: I64) =>
  x <- N<Item>::WHERE(_::{g}::EQ(g))::GROUP_BY(g)::{ x: ${f}(_.data::{f}) }
  RETURN x
QUERY twice${f}(g: I64) =>
  x <- N<Item>::WHERE(_::{g}::EQ(g))::GROUP_BY(g)
    ::{ x: ${f}(_.data::WHERE(_::{f}::GT(0))::{f}) } RETURN x`,
  )
  .join('\n')}
QUERY dijkstra(a: String, b: String) =>
  p <- N<Bed>({ k: a })::ShortestPathDijkstras<Lane>(_::{w})::To(N<Bed>({ k: b }))
  RETURN p::{ total_weight }
QUERY star(a: String, b: String) =>
  p <- N<Bed>({ k: a })::ShortestPathAStar<Lane>(_::{w}, "zero")::To(N<Bed>({ k: b }))
  RETURN p::{ total_weight }
QUERY opened(a: String, b: String) =>
  p <- N<Bed>({ k: a })::ShortestPathDijkstras<Lane>(_::{w}, _::{open})::To(N<Bed>({ k: b }))
  RETURN p::{ total_weight }
QUERY openedStar(a: String, b: String) =>
  p <- N<Bed>({ k: a })::ShortestPathAStar<Lane>(_::{w}, "zero", _::{open})::To(N<Bed>({ k: b }))
  RETURN p::{ total_weight }
${Object.keys(metrics)
  .map(
    (name) => `
QUERY put${name}(v: [F64], n: I64) => x <- AddV<${name}>(v, { n: n }) RETURN x::{n}
QUERY near${name}(v: [F64]) => x <- SearchV<${name}>(v, 100) RETURN x::{ n, score, distance, data }
QUERY diverse${name}(v: [F64], l: F64, m: String) =>
  x <- SearchV<${name}>(v, 100)::RerankMMR(lambda: l, distance: m)
  RETURN x::{ n, score }
QUERY fused${name}(v: [F64], u: [F64], k: F64, weights: [F64]) =>
  x <- RerankRRF(SearchV<${name}>(v, 4), SearchV<${name}>(u, 4), k: k, weights: weights)
  RETURN x::{ n, score }
QUERY both${name}(v: [F64], u: [F64], k: F64, weights: [F64], l: F64) =>
  x <- RerankRRF(SearchV<${name}>(v, 4), SearchV<${name}>(u, 4), k: k, weights: weights)
    ::RerankMMR(lambda: l)
  RETURN x::{ n, score }
QUERY ranked${name}(v: [F64], k: F64) =>
  x <- SearchV<${name}>(v, 100)::RerankRRF(k: k) RETURN x::{ score }`,
  )
  .join('\n')}
QUERY store(f: F64, g: F64) =>
  old <- N<Item>({ g: -1 })::UPDATE({ f: MUL(f, g), list: [MUL(f, g), f], single: NONE })
  RETURN old::{ f, list }
QUERY storeSingle(f: F64, g: F64) =>
  old <- N<Item>({ g: -1 })::UPDATE({ single: MUL(f, g), singles: [f, g] })
  RETURN old::{ single, singles }
QUERY storedPath(a: String, b: String) =>
  p <- N<Bed>({ k: a })::ShortestPathDijkstras<Lane>(_::{w})::To(N<Bed>({ k: b }))
  x <- AddN<Item>({ g: -2, f: p::{total_weight}, list: [p::{total_weight}] }) RETURN x::{ f, list }
`;

let db: EmbeddedDatabase;
const dataDir = join(makeFolder(), 'data');
const options = {
  ...{ dataDir, minFreeBytes: 0, sources: [{ path: 'main.hx', text: source }] },
  vectors: {
    types: Object.fromEntries(Object.entries(metrics).map(([name, metric]) => [name, { metric }])),
  },
};
beforeAll(async () => {
  db = await open(options);
});
afterAll(() => db.close());

/** The answer, or the code of the error; what is no JSON fails. */
async function ask(name: string, args: Record<string, unknown>): Promise<unknown> {
  let bytes: Uint8Array;
  try {
    bytes = await db.callBytes(name, args);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === undefined || code === 'INTERNAL') throw error;
    return code;
  }
  return JSON.parse(Buffer.from(bytes).toString()) as unknown;
}

/** What the oracle says: its value, or the code of its error. */
function wanted(make: () => unknown): unknown {
  try {
    const value = make();
    return typeof value === 'number' ? value + 0 : value;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const random = new Random(7);
const some = (count: number): number[] =>
  Array.from({ length: count }, () => random.pick(specials));

describe('functions', () => {
  test.each(unary)('%s', async (name) => {
    for (const a of specials) {
      const expected = wanted(() => calculate(name as MathFunction, false, [a]));
      const got = await ask(`f${name}`, { a });
      expect([a, typeof got === 'object' ? Object.values(got!)[0] : got]).toEqual([a, expected]);
    }
  });
  test.each(binary)('%s', async (name) => {
    for (const a of specials) {
      for (const b of specials) {
        const expected = wanted(() => calculate(name as MathFunction, false, [a + 0, b + 0]));
        const got = await ask(`f${name}`, { a, b });
        const value = typeof got === 'object' ? Object.values(got!)[0] : got;
        expect([a, b, value]).toEqual([a, b, near(name, value, expected)]);
      }
    }
  });
});

/** Logarithms by a base may differ in their last digits: three ways to compute them. */
function near(name: string, value: unknown, expected: unknown): unknown {
  if (name !== 'LOG' || typeof value !== 'number' || typeof expected !== 'number') return expected;
  return Math.abs(value - expected) <= 1e-14 * Math.abs(expected) ? value : expected;
}

test.each(totals)('%s of lists, rows and groups', async (name) => {
  const groups = Array.from({ length: 24 }, (_, g) => ({
    g: g + 100 * totals.indexOf(name),
    fs: some(random.below(5)),
  }));
  groups.push({ g: -3 - totals.indexOf(name), fs: [max, max, -max] });
  await db.call('items', { rows: groups.flatMap(({ g, fs }) => fs.map((f) => ({ g, f }))) });
  for (const { g, fs } of groups) {
    const expected = wanted(() => aggregate(name, false, fs));
    const shown = (value: unknown) => (typeof value === 'string' ? value : { x: value });
    const list = await ask(`list${name}`, { xs: fs });
    expect(typeof list === 'object' ? Object.values(list!)[0] : list).toEqual(expected);
    expect(await ask(`rows${name}`, { g })).toEqual(shown(expected));
    const grouped =
      typeof expected === 'string'
        ? expected
        : fs.length === 0
          ? { x: [] }
          : { x: [{ x: expected }] };
    expect(await ask(`group${name}`, { g })).toEqual(grouped);
    const positive = fs.filter((f) => f > 0);
    const part = wanted(() => aggregate(name, false, positive));
    const parted =
      typeof part === 'string' ? part : fs.length === 0 ? { x: [] } : { x: [{ x: part }] };
    expect(await ask(`twice${name}`, { g })).toEqual(parted);
  }
});

interface Lane {
  a: string;
  b: string;
  w: number;
  open: boolean;
}

/** The least sum over all simple paths, added from the start; the code of the error where there is none. */
function leastWeight(lanes: readonly Lane[], a: string, b: string): unknown {
  const walk = (at: string, met: readonly string[], sum: number): number[] =>
    at === b
      ? [sum]
      : lanes
          .filter((lane) => lane.a === at && !met.includes(lane.b))
          .flatMap((lane) => walk(lane.b, [...met, lane.b], sum + lane.w));
  const sums = walk(a, [a], 0);
  const best = Math.min(...sums);
  if (sums.length === 0) return 'NO_PATH';
  return Number.isFinite(best) ? { p: { total_weight: best } } : 'ARITHMETIC';
}

test('paths by weight', async () => {
  const weights = specials.filter((w) => w >= 0 && !Object.is(w, -0));
  let refused = 0;
  for (let graph = 0; graph < (isLong ? 60 : 6); graph++) {
    const keys = Array.from({ length: 5 }, (_, i) => `${graph}.${i}`);
    await db.call('beds', { keys });
    const lanes: Lane[] = [];
    for (let i = 0; i < 8; i++) {
      const [a, b] = [random.pick(keys), random.pick(keys)];
      const w = random.pick(graph % 3 === 0 ? [1e308, max, 8.99e307] : weights);
      const lane = { a, b, w, open: random.chance(0.7) };
      await db.call('lane', { ...lane });
      lanes.push(lane);
    }
    for (const a of keys) {
      for (const b of keys) {
        const [all, opened] = [lanes, lanes.filter(({ open }) => open)].map((list) =>
          leastWeight(list, a, b),
        );
        if (all === 'ARITHMETIC') refused++;
        expect(await ask('dijkstra', { a, b })).toEqual(all);
        expect(await ask('star', { a, b })).toEqual(all);
        expect(await ask('opened', { a, b })).toEqual(opened);
        expect(await ask('openedStar', { a, b })).toEqual(opened);
        if (a !== keys[0]) continue;
        const stored = await ask('storedPath', { a, b });
        if (typeof all === 'string') expect(stored).toBe(all);
        else {
          const { total_weight: f } = (all as { p: { total_weight: number } }).p;
          expect(stored).toEqual({ x: { f, list: [f] } });
        }
      }
    }
  }
  expect(refused).toBeGreaterThan(5);
});

const f32Max = 3.4028234663852886e38;
const vectors = [
  ...[
    [f32Max, f32Max, f32Max],
    [-f32Max, f32Max, 1],
    [1, 0, 0],
    [0, 0, 0],
    [-0, 0, -0],
  ],
  ...[
    [least, 0, 0],
    [least, least, -least],
    [1e-45, 0, 1e-45],
    [1e-200, -1e-200, 0],
    [1e-160, 1, 0],
  ],
  ...[
    [f32Max, least, 0],
    [0.1, 0.2, 0.3],
    [1e19, -1e19, 1e20],
    [1e-19, 1e-20, 0],
    [-1, 0, 0],
  ],
];

const dot = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, x, i) => sum + x * b[i]!, 0);
const largest = (a: readonly number[]) => Math.max(...a.map(Math.abs));

/** By vectors that are made larger first, so that no square is lost; what vanishes in 32 bits is zero. */
function cosine(a: readonly number[], b: readonly number[]): number {
  if (Math.fround(largest(a)) === 0 || Math.fround(largest(b)) === 0) return 0;
  const [x, y] = [a.map((n) => n / largest(a)), b.map((n) => n / largest(b))];
  return dot(x, y) / Math.sqrt(dot(x, x)) / Math.sqrt(dot(y, y));
}

const scores = {
  Cosine: cosine,
  Dot: dot,
  Far: (a: readonly number[], b: readonly number[]) =>
    1 / (1 + a.reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0)),
};

interface Hit {
  n: number;
  score: number;
  distance: number;
  data: number[];
}

describe.each(Object.keys(metrics) as (keyof typeof metrics)[])('vectors by %s', (name) => {
  beforeAll(async () => {
    for (const [n, v] of vectors.entries()) await db.call(`put${name}`, { v, n });
  });

  test('scores and distances', async () => {
    for (const v of vectors) {
      const { x } = (await ask(`near${name}`, { v })) as { x: Hit[] };
      expect(x.map(({ n }) => n).sort((a, b) => a - b)).toEqual([...vectors.keys()]);
      for (const [i, { n, score, distance, data }] of x.entries()) {
        expect(data).toEqual(vectors[n]!.map((each) => each + 0));
        const expected = scores[name](v, vectors[n]!);
        expect(Math.abs(score - expected)).toBeLessThanOrEqual(
          1e-12 * Math.abs(expected) + (name === 'Cosine' ? 1e-12 : 0),
        );
        expect(Number.isFinite(distance)).toBe(true);
        if (i > 0) expect(distance).toBeGreaterThanOrEqual(x[i - 1]!.distance);
      }
    }
  });

  test('diverse hits', async () => {
    for (const v of vectors) {
      for (const l of isLong ? [0, least, 0.5, 1] : [least, 0.5]) {
        for (const m of ['cosine', 'euclidean', 'dotproduct']) {
          const { x } = (await ask(`diverse${name}`, { v, l, m })) as { x: Hit[] };
          expect(x).toHaveLength(vectors.length);
          for (const { score } of x) expect(typeof score).toBe('number');
        }
      }
    }
  });

  test('fused hits', async () => {
    const [v, u] = [
      [1, 0, 0],
      [0.1, 0.2, 0.3],
    ] as const;
    const lists = await Promise.all(
      [v, u].map(async (each) => {
        const { x } = (await ask(`near${name}`, { v: each })) as { x: Hit[] };
        return x.slice(0, 4).map(({ n }) => n);
      }),
    );
    const weights = isLong ? few.filter((w) => w >= 0) : [max, 1e308, least, 0, 2.5];
    for (const k of [0, least, 1, 60, 1e308, max]) {
      for (const a of weights) {
        for (const b of weights) {
          const sums = new Map<number, number>();
          for (const [i, list] of lists.entries()) {
            const weight = [a, b][i]!;
            if (weight === 0) continue;
            for (const [rank, n] of list.entries()) {
              sums.set(n, (sums.get(n) ?? 0) + weight / (k + rank + 1));
            }
          }
          const isSound = [...sums.values()].every(Number.isFinite);
          const got = await ask(`fused${name}`, { v, u, k, weights: [a, b] });
          if (isSound) {
            const { x } = got as { x: Hit[] };
            expect(new Map(x.map(({ n, score }) => [n, score]))).toEqual(sums);
          } else expect(got).toBe('ARITHMETIC');
          const both = await ask(`both${name}`, { v, u, k, weights: [a, b], l: 0.5 });
          if (!isSound) expect(both).toBe('ARITHMETIC');
          else
            for (const { score } of (both as { x: Hit[] }).x) expect(typeof score).toBe('number');
        }
      }
      const { x } = (await ask(`ranked${name}`, { v, k })) as { x: Hit[] };
      expect(x.map(({ score }) => score)).toEqual(x.map((_, i) => 1 / (k + i + 1)));
    }
  });
});

test('the fused hits of several shards', () => {
  const list = '[{"s":1,"i":"a","v":{"n":1}}]';
  const bodyOf = (weights: string) =>
    Buffer.from(`{"0.k0":5,"0.k1":5,"0.l0":${list},"0.l1":${list},"0.n":0,"0.w":${weights}}`);
  const members = [{ kind: 'hits', key: 'p', lists: 2, rank: 'fuse' }] as const;
  const merge = (weights: string) => mergeReplies(members as never, [bodyOf(weights)]);
  expect(Buffer.from(merge('[1,1e308]')).toString()).toBe('{"p":[{"n":1}]}');
  expect(() => merge('[1e308,1e308]')).toThrow(/not finite/);
});

test('stored values are finite, and are read back unchanged', async () => {
  await db.call('items', { rows: [{ g: -1, f: 0 }] });
  for (const f of few) {
    for (const g of few) {
      const product = f * g;
      const expected = Number.isFinite(product)
        ? { old: [{ f: product + 0, list: [product + 0, f + 0] }] }
        : 'ARITHMETIC';
      expect(await ask('store', { f, g })).toEqual(expected);
      const isSingle = [f, g, product].every((each) => Number.isFinite(Math.fround(each)));
      const code = Number.isFinite(product) ? 'PARAM_RANGE' : 'ARITHMETIC';
      const single = await ask('storeSingle', { f, g });
      if (!isSingle) expect(single).toBe(code);
      else {
        const [{ single: stored, singles }] = (
          single as { old: [{ single: number; singles: number[] }] }
        ).old;
        const all = [stored, ...singles];
        expect(all.map(Math.fround)).toEqual([product, f, g].map((each) => Math.fround(each) + 0));
      }
    }
  }
});

test('the data is sound afterwards', async () => {
  await db.close();
  const storage = openStorage(join(dataDir, 'graph'), { limits: defaultLimits, mode: 'attach' });
  expect(verifyStorage(storage, { dataDir })).toEqual([]);
  storage.close();
  db = await open(options);
});
