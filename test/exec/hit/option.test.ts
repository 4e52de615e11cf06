// Options of searches: the lowest score [HT02], the width, a stored vector that finds itself [HT04], and the
// score of hits wherever a query can name it [HT06]; on a real database.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedDatabase, open } from '../../../engine/internal.js';
import { makeFolder } from '../../support/project.js';
import { Random } from '../../support/random.js';

/** Forms that read the scores of `h`, two hits; each returns them in order. */
const readers: Record<string, string> = {
  projection: 'h::{score}',
  'a renamed member': 'h::{s: score}',
  'an item of the projection': 'h::{s: _::{score}}',
  'a closure': 'h::|x|{s: x::{score}}',
  'a condition': 'h::WHERE(_::{score}::GT(0.0))::{score}',
  'an order': 'h::ORDER<Desc>(_::{score})::{score}',
  'a slice': 'h::RANGE(0, 2)::{score}',
  'a set': 'UNION(h, h)::{score}',
  'distinct items': 'h::DEDUP::{score}',
  arithmetic: 'h::{s: ADD(_::{score}, 0.0)}',
  'a group': 'h::GROUP_BY(text)::{s: MAX(_::{score})}',
  'the items of a group': 'h::GROUP_BY(text)::{s: _.data::FIRST::{score}}',
};

/** Statements that store the scores of `h` in the property `last` of some elements. */
const writers: Record<string, string> = {
  'an update of the hits': 'h::UPDATE({last: _::{score}})',
  'an update in a loop': 'FOR x IN h { x::UPDATE({last: x::{score}}) }',
  'a loop over members': 'FOR {score} IN h { AddN<Log>({last: score}) }',
  'created elements': 'FOR x IN h { AddN<Log>({last: x::{score}}) }',
  'an update of the best':
    'b <- h::FIRST b::UPDATE({last: _::{score}}) h::RANGE(1, 2)::UPDATE({last: _::{score}})',
};

const searches: Record<string, string> = {
  vector: 'SearchV<P>([1.0, 0.2], 2)',
  within: 'V<P>::SearchV<P>([1.0, 0.2], 2)',
  text: 'SearchBM25<P>("word", 2)',
  fused: 'RerankRRF(SearchV<P>([1.0, 0.2], 2), SearchBM25<P>("word", 2))',
  reranked: 'SearchV<P>([1.0, 0.2], 2)::RerankRRF',
  varied: 'SearchV<P>([1.0, 0.2], 2)::RerankMMR(lambda: 0.9)',
};

const grid = Object.values(searches).flatMap((source, i) => [
  `QUERY plain${i}() => h <- ${source} RETURN h`,
  ...Object.values(readers).map(
    (form, j) => `QUERY read${i}x${j}() => h <- ${source} RETURN { out: ${form} }`,
  ),
  ...Object.values(writers).map(
    (form, j) =>
      `QUERY write${i}x${j}() => h <- ${source} ${form} RETURN { out: UNION(V<P>::WHERE(_::{last}::GT(-9.0)), N<Log>)::{last} }`,
  ),
]);

const source = `
V::P { text: String, last: F64 }
N::Log { last: F64 }
V::Far { n: I64 }
QUERY clear() => DROP N<Log> V<P>::UPDATE({last: NONE}) RETURN 1
QUERY addFar(v: [F64], n: I64) => AddV<Far>(v, {n: n}) RETURN 1
QUERY nearest(v: [F64], k: I64, least?: F64, ef?: I64) =>
  h <- SearchV<Far>(v, k, min_score: least, ef: ef) RETURN h::{n, score, distance}
QUERY within(v: [F64], k: I64, least: F64) =>
  h <- V<Far>::SearchV<Far>(v, k, min_score: least) RETURN h::{n, score, distance}
QUERY words(t: String, k: I64, least: F64) =>
  h <- SearchBM25<P>(t, k, min_score: least) RETURN h::{text, score}
QUERY own(n: I64) => RETURN V<Far>({n: n})::FIRST::{data}
QUERY seed() =>
  AddV<P>([1.0, 0.0], {text: "word one"})
  AddV<P>([0.6, 0.4], {text: "word two words"})
  RETURN 1
${grid.join('\n')}
`;

let db: EmbeddedDatabase;
const random = new Random(2);
const vectors = Array.from({ length: 300 }, (_, n) => {
  const scale = 10 ** ((n % 61) - 38);
  return Array.from({ length: 24 }, () => (random.next() - 0.5) * scale);
});

interface Hit {
  n: number;
  score: number;
  distance: number;
}
const hits = async (name: string, body: Record<string, unknown>): Promise<Hit[]> =>
  ((await db.call(name, body)) as { h: Hit[] }).h;

beforeAll(async () => {
  db = await open({
    dataDir: makeFolder(),
    sources: [{ path: 'a.hx', text: source }],
  });
  await db.call('seed');
  for (const [n, v] of vectors.entries()) await db.call('addFar', { v, n });
});
afterAll(() => db.close());

describe('HT02', () => {
  it('returns exactly the hits of the same search that reach the lowest score', async () => {
    for (let i = 0; i < 40; i++) {
      const v = random.pick(vectors);
      const k = 1 + (i % 30);
      const all = await hits('nearest', { v, k });
      const least = i % 4 === 0 ? all.at(-1)!.score : random.next() - 0.3;
      const wanted = all.filter(({ score }) => score >= least);
      expect(await hits('nearest', { v, k, least })).toEqual(wanted);
      expect(await hits('within', { v, k, least })).toEqual(wanted);
    }
  });
  it('drops keyword hits below the lowest score', async () => {
    const all = (await db.call('words', { t: 'word', k: 5, least: 0 })) as { h: Hit[] };
    expect(all.h).toHaveLength(2);
    const least = all.h[0]!.score;
    expect(await db.call('words', { t: 'word', k: 5, least })).toEqual({ h: [all.h[0]] });
    expect(await db.call('words', { t: 'word', k: 5, least: least * 1.001 })).toEqual({ h: [] });
  });
  it('takes a width, which changes no score', async () => {
    for (const ef of [1, 20, 4096, 100_000])
      expect(await hits('nearest', { v: vectors[7], k: 5, ef })).toEqual(
        await hits('nearest', { v: vectors[7], k: 5 }),
      );
  });
  it.each([
    [{ ef: 0 }, 'PARAM_RANGE'],
    [{ ef: -1 }, 'PARAM_RANGE'],
    [{ k: 0 }, 'PARAM_RANGE'],
    [{ least: 'x' }, 'PARAM_TYPE'],
  ])('refuses %j with %s', async (body, code) => {
    const call = db.call('nearest', { v: vectors[0], k: 3, ...body });
    await expect(call).rejects.toMatchObject({ code });
  });
});

describe('HT04', () => {
  it('a stored vector finds itself with score 1, as it was sent and as it is stored', async () => {
    for (const [n, v] of vectors.entries()) {
      const stored = (await db.call('own', { n })) as { data: { data: number[] } };
      for (const query of [v, stored.data.data, v.map((x) => x * 3), v.map((x) => x / 7)]) {
        const found = await hits('nearest', { v: query, k: 1, least: 1 });
        expect(found.map((hit) => [hit.n, hit.score])).toEqual([[n, 1]]);
      }
    }
  });
  it('a vector that differs in more than rounding scores below 1', async () => {
    const v = vectors[38]!.map((x, i) => (i === 0 ? x + 1e-5 * Math.abs(x) + 1e-6 : x));
    const [hit] = await hits('nearest', { v, k: 1 });
    expect(hit!.n).toBe(38);
    expect(hit!.score).toBeLessThan(1);
  });
});

describe.each(Object.keys(searches).map((name, i) => [name, i] as const))('HT06 %s', (_, i) => {
  const scores = async (): Promise<number[]> =>
    ((await db.call(`plain${i}`)) as { h: Hit[] }).h.map(({ score }) => score);
  it.each(Object.keys(readers).map((name, j) => [name, j] as const))('%s', async (_, j) => {
    const reply = (await db.call(`read${i}x${j}`)) as { data: { out: unknown[] } };
    expect(reply.data.out).toEqual(await scores());
  });
  it.each(Object.keys(writers).map((name, j) => [name, j] as const))('%s', async (_, j) => {
    await db.call('clear');
    const wanted = (await scores()).sort();
    const reply = (await db.call(`write${i}x${j}`)) as { data: { out: number[] } };
    expect(reply.data.out.sort()).toEqual(wanted);
  });
});
