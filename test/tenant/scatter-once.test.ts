// K47: what one database decides one time must not be decided by each shard of a sharded type: the dimension
// of vectors, and the instant of a call. For every metric and store, results are those of one database.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../engine/internal.js';
import { parseUuid, printUuid, computeShard } from '../../engine/base/id.js';
import { Random } from '../support/random.js';
import { type RunningTenants, startTenants } from './running-tenants.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const shards = 2;
/** A vector type of each form, and how it is stored. */
const forms: Record<string, Record<string, string>> = {
  Dot: { metric: 'dot', store: 'f32' },
  ...(isLong && {
    Far: { metric: 'l2' },
    Cos: { metric: 'cosine', store: 'f32' },
    Wide: { metric: 'dot' },
    Close: { metric: 'l2', store: 'f32' },
  }),
};
const types = Object.keys(forms);
const queriesOf = (type: string): string => `
  V::${type} { text: String, rank: I64 }
  QUERY near${type}(near: [F64], k: U32) =>
      RETURN SearchV<${type}>(near, k)::{ id, score, distance, rank }
  QUERY some${type}(near: [F64], k: U32) =>
      RETURN SearchV<${type}>(near, k)::PREFILTER(_::{rank}::LT(5))::{ id, score }
  QUERY fused${type}(near: [F64], k: U32) =>
      hits <- RerankRRF(SearchV<${type}>(near, k), SearchV<${type}>(near, 3))
      RETURN hits::{ id, score }
  QUERY add${type}(near: [F64]) =>
      made <- AddV<${type}>(near, { text: "made", rank: 1 })
      RETURN made::{ id }
  QUERY drop${type}(id: ID) =>
      DROP V<${type}>(id)
      RETURN NONE
  QUERY dated${type}(near: [F64]) =>
      RETURN SearchV<${type}>(near, 50)::{ id, at: NOW }
  QUERY fixed${type}() =>
      RETURN SearchV<${type}>(Embed("a b"), 2)::{ id, score }`;
const source = types.map(queriesOf).join('\n');

const settings = (more: Record<string, string> = {}): Record<string, string> => ({
  'embedding.model': 'hash:3',
  'storage.ballast': '0',
  'server.workers': '1',
  ...Object.fromEntries(
    types.flatMap((type) =>
      Object.entries({ ...forms[type], exact: 'true', dimensions: '3' }).map(([key, value]) => [
        `vectors.${type}.${key}`,
        value,
      ]),
    ),
  ),
  ...more,
});
const scatter = Object.fromEntries(types.map((type) => [`sharding.types.${type}`, `${shards}`]));

const random = new Random(471);
const vector = (): number[] => [0, 0, 0].map(() => (random.next() - 0.5) * 10 ** random.below(5));
const idOf = (at: number): string => {
  const bytes = Buffer.alloc(16);
  for (const [i, word] of [0x01a00000 + at, 0x00007000, 0x80000000].entries())
    bytes.writeUInt32BE(word, 4 * i);
  bytes.writeUInt32BE(Math.floor(random.next() * 2 ** 32), 12);
  return printUuid(bytes);
};

let whole: RunningTenants;
let parts: RunningTenants;
const shardOfId = (id: string): number => computeShard(parseUuid(id)!, shards);

async function load(server: RunningTenants, rows: string[], tenant = ''): Promise<object> {
  const headers = {
    'Content-Type': 'application/x-ndjson',
    ...(tenant !== '' && { 'Trellis-Tenant': tenant }),
  };
  return JSON.parse((await server.send('/_admin/import', rows.join('\n'), headers)).text);
}

beforeAll(async () => {
  whole = await startTenants(source, openDatabase, settings());
  parts = await startTenants(source, openDatabase, settings(scatter));
});
afterAll(async () => {
  await whole?.close();
  await parts?.close();
});

/** As one database says it: what it answers, or why it refuses. */
async function same(query: string, body: string): Promise<[number, string]> {
  const headers = { 'Content-Type': 'application/json' };
  const [one, many] = [
    await whole.send(`/${query}`, body, headers),
    await parts.send(`/${query}`, body, headers),
  ];
  const told = ({ status, text }: typeof one): [number, string] =>
    status === 200 ? [status, text] : [status, JSON.parse(text).code];
  expect([query, body, ...told(many)]).toEqual([query, body, ...told(one)]);
  return told(one);
}

it('K47 the dimension of a sharded type is declared, not inferred', async () => {
  const { 'vectors.Dot.dimensions': _, ...without } = settings(scatter);
  await expect(startTenants(source, openDatabase, without)).rejects.toMatchObject({
    data: {
      code: 'CONFIG_INVALID',
      args: { what: expect.stringMatching(/sharding\.types\.Dot needs vectors\.Dot\.dimensions/) },
    },
  });
});

describe.each(types)('K47 with vectors that are empty, or not: %s', (type) => {
  it('no shard accepts another dimension, on any path', async () => {
    const wrong = [
      [1, 2],
      [1, 2, 3, 4],
    ];
    // Each of them would be the first of its shard.
    for (const near of wrong)
      for (let i = 0; i < shards; i++)
        expect(await same(`add${type}`, JSON.stringify({ near }))).toEqual([
          400,
          'VECTOR_DIMENSION',
        ]);
    for (let at = 0; at < shards; at++) {
      const properties = { text: 'a', rank: 1 };
      const rows = wrong.map((values) => JSON.stringify({ vector: type, values, properties }));
      const tenant = `${type.toLowerCase()}-${at}`;
      expect(await load(parts, rows, tenant)).toMatchObject({ vectors: 0, rejected: 2 });
    }
    expect(await same(`near${type}`, '{"near":[1,2],"k":3}')).toEqual([200, '{"data":[]}']);
  });

  it('results are those of one database to the byte', async () => {
    const rows = Array.from({ length: 60 }, (_, at) => {
      const [id, properties] = [idOf(at), { text: 'a b', rank: at % 9 }];
      return { id, line: JSON.stringify({ vector: type, id, values: vector(), properties }) };
    });
    const lines = (of: typeof rows) => of.map(({ line }) => line);
    expect(await load(whole, lines(rows))).toMatchObject({ vectors: 60, rejected: 0 });
    for (let at = 0; at < shards; at++) {
      const mine = rows.filter(({ id }) => shardOfId(id) === at);
      const loaded = await load(parts, lines(mine), `${type.toLowerCase()}-${at}`);
      expect(loaded).toMatchObject({ vectors: mine.length, rejected: 0 });
    }
    for (let round = 0; round < (isLong ? 200 : 3); round++)
      for (const query of ['near', 'some', 'fused'])
        for (const k of [1, 4, 60])
          await same(`${query}${type}`, JSON.stringify({ near: vector(), k }));
    for (const near of [
      [1, 2],
      [0, 0, 0],
      [1e300, 0, 0],
    ])
      await same(`near${type}`, JSON.stringify({ near, k: 3 }));
    for (const body of ['', 'null', '{}', ' { } ', '[]', '{', '1'])
      await same(`fixed${type}`, body);
  });

  it('a call has one NOW', async () => {
    for (let round = 0; round < 5; round++) {
      const { text } = await parts.post(`/dated${type}`, { near: [1, 2, 3] });
      const hits: { id: string; at: string }[] = JSON.parse(text).data;
      expect(new Set(hits.map(({ id }) => shardOfId(id))).size).toBe(shards);
      const [at, ...others] = [...new Set(hits.map((hit) => hit.at))];
      expect(others).toEqual([]);
      expect(Math.abs(Date.parse(at!) - Date.now())).toBeLessThan(60_000);
    }
    const printed = (text: string): string => /"at":"([^"]*)"/.exec(text)![1]!.replace(/\d/g, '0');
    const [one, many] = [
      await whole.post(`/dated${type}`, { near: [1, 2, 3] }),
      await parts.post(`/dated${type}`, { near: [1, 2, 3] }),
    ];
    expect(printed(many.text)).toBe(printed(one.text));
    expect((await same(`dated${type}`, '[]'))[1]).toBe('BODY_NOT_OBJECT');
  });
});
