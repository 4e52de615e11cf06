// Texts that are embedded in queries about sharded types (K47). For any model of the form, the type, the
// query or the server, shards get what one database would search its index with.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Gatherer, defaultLimits, openDatabase } from '../../engine/internal.js';
import type { Query } from '../../engine/plan/plan.js';
import { type RunningTenants, startTenants } from './running-tenants.js';

/** Two scattered types with models of their own, one with that of the server, and a plain one. */
const models = { A: 'hash:48', B: 'hash:32', D: 'hash:40' };
const standard = 'hash:64';
const dimensions = { A: 48, B: 32, C: 64 };
const isLong = process.env.TRELLIS_TEST_LONG === '1';
const types = isLong ? ['A', 'B', 'C', 'D'] : ['A', 'C'];
const scattered = isLong ? { A: 2, B: 3, C: 2 } : { A: 2, C: 2 };

const queriesOf = (type: string): string => `
  QUERY add${type}(t: String) =>
      added <- AddV<${type}>(Embed(t), { note: t })
      RETURN added::{ note }
  QUERY addBound${type}(t: String) =>
      vector <- Embed(t)
      added <- AddV<${type}>(vector, { note: t })
      RETURN added::{ note }
  QUERY addGiven${type}(vector: [F64], t: String) =>
      added <- AddV<${type}>(vector, { note: t })
      RETURN added::{ note }
  QUERY find${type}(t: String) =>
      RETURN SearchV<${type}>(Embed(t), 2)::{ note, score, distance }
  QUERY bound${type}(t: String) =>
      vector <- Embed(t)
      hits <- SearchV<${type}>(vector, 2)
      RETURN hits::{ note, score }
  QUERY shown${type}(t: String) =>
      vector <- Embed(t)
      hits <- SearchV<${type}>(vector, 2)
      RETURN vector, hits::{ note, score }
  QUERY twice${type}(t: String, u: String) =>
      a <- SearchV<${type}>(Embed(t), 1)
      b <- SearchV<${type}>(Embed(u), 1)
      RETURN a::{ note, score }, b::{ note, score }
  QUERY fused${type}(t: String) =>
      hits <- RerankRRF(SearchV<${type}>(Embed(t), 3), SearchBM25<${type}>(t, 3))
      RETURN hits::{ note }
  QUERY literal${type}() =>
      RETURN SearchV<${type}>(Embed("red fish"), 1)::{ note, score }
  QUERY given${type}(t: String = "blue bird") =>
      RETURN SearchV<${type}>(Embed(t), 1)::{ note, score }
  QUERY empty${type}(t: String = "") =>
      RETURN SearchV<${type}>(Embed(t), 1)::{ note, score }
  QUERY maybe${type}(t?: String) =>
      RETURN SearchV<${type}>(Embed(t), 1)::{ note, score }
  QUERY named${type}(t: String, k: U32) =>
      more <- ADD(k, 1)
      note <- "red tree"
      three <- 3
      vector <- Embed(t)
      hits <- SearchV<${type}>(vector, more)::WHERE(_::{note}::NEQ(note))
      near <- SearchV<${type}>(vector, three)
      both <- RerankRRF(near, SearchBM25<${type}>(note, more), k: more, weights: [k, three])
      RETURN more, hits::{ note, also: note, n: more }, both::{ note, score }
  QUERY before${type}(t: String) =>
      note <- "red tree"
      RETURN SearchV<${type}>(Embed(t), 3)::PREFILTER(_::{note}::EQ(note))::{ note }
  QUERY meant${type}(t: String, u: String) =>
      vector <- Embed(t)
      a <- SearchV<${type}>(Embed(u), 1)
      RETURN vector, a::{ note, score }
  #[model("hash:48")]
  QUERY own${type}(t: String) =>
      RETURN SearchV<${type}>(Embed(t), 1)::{ note, score }
`;
const source = `
${types.map((type) => `V::${type} { note: String }${queriesOf(type)}`).join('\n')}`;
const texts = ['red fish', 'blue bird', 'green tree', 'red tree'];

describe('texts for sharded types', () => {
  let whole: RunningTenants;
  let parts: RunningTenants;
  const config = {
    'embedding.model': standard,
    'storage.ballast': '0',
    'server.workers': '1',
    ...Object.fromEntries(types.map((type) => [`vectors.${type}.exact`, 'true'])),
    ...Object.fromEntries(
      Object.entries(dimensions)
        .filter(([type]) => types.includes(type))
        .map(([type, count]) => [`vectors.${type}.dimensions`, `${count}`]),
    ),
    ...Object.fromEntries(
      Object.entries(models)
        .filter(([type]) => types.includes(type))
        .map(([type, model]) => [`vectors.${type}.embedding_model`, model]),
    ),
  };
  beforeAll(async () => {
    whole = await startTenants(source, openDatabase, config);
    const of = Object.entries(scattered).map(([type, n]) => [`sharding.types.${type}`, `${n}`]);
    parts = await startTenants(source, openDatabase, { ...config, ...Object.fromEntries(of) });
    for (const server of [whole, parts])
      for (const type of types)
        for (const t of texts)
          expect(await server.post(`/add${type}`, { t })).toMatchObject({ status: 200 });
  });
  afterAll(async () => {
    await whole?.close();
    await parts?.close();
  });

  /** As one database answers, to the byte; of a refusal the code. */
  async function expectSame(query: string, body: object): Promise<void> {
    const [one, many] = [await whole.post(query, body), await parts.post(query, body)];
    const told = ({ status, text }: typeof one) =>
      status === 200 ? [status, text] : [status, JSON.parse(text).code];
    expect([query, body, ...told(many)]).toEqual([query, body, ...told(one)]);
  }

  it.each(types)('are embedded as one database does it: %s', async (type) => {
    for (const t of ['red fish', 'tree', ''])
      for (const query of ['find', 'bound', 'shown', 'fused', 'own', 'maybe', 'before'])
        await expectSame(`/${query}${type}`, { t });
    for (const query of ['twice', 'meant'])
      await expectSame(`/${query}${type}`, { t: 'red fish', u: 'green tree' });
    for (const k of [1, 2]) await expectSame(`/named${type}`, { t: 'red fish', k });
    for (const query of ['literal', 'given', 'empty'])
      for (const body of [{}, ...(query === 'literal' ? [] : [{ t: 'red tree' }, { t: null }])])
        await expectSame(`/${query}${type}`, body);
  });

  it.each(types)('are refused as one database does it: %s', async (type) => {
    for (const query of ['find', 'bound', 'given', 'maybe', 'add', 'addBound'])
      for (const body of [{}, { t: null }, { t: 1 }, { t: ['x'] }])
        await expectSame(`/${query}${type}`, body);
  });
});

it('K48 another replica gets the same vectors, which are computed one time', async () => {
  const embedded: unknown[][] = [];
  const asked: string[] = [];
  const texts = [
    { vector: 'v0', type: 'T', parameter: 't' },
    { vector: 'v1', parameter: 't' },
    { vector: 'v2', type: 'T', parameter: 'none', text: '' },
  ];
  const merge = { kind: 'all', texts, members: [{ kind: 'same', key: 'at' }] };
  const query = { name: 'q', plan: { writes: false }, scatter: { type: 'T', merge } };
  const place = (isSlow: boolean) => ({
    call: (_: string, body: Uint8Array) => {
      asked.push(Buffer.from(body).toString());
      return isSlow ? new Promise<never>(() => undefined) : Buffer.from('{"0":1}');
    },
  });
  const gatherer = new Gatherer({
    shards: () => [[place(true), place(false)]],
    limits: defaultLimits,
    embed: async (...given) => {
      embedded.push(given.slice(0, 3));
      return given[2].map((text) => Float64Array.of(text.length, given[1] === 'T' ? 1 : 2));
    },
    claim: () => new Uint8Array(0),
    hedgeMs: 1,
    waitMs: 0,
  });
  await gatherer.call(query as unknown as Query, Buffer.from('{"t":"moss"}'));
  expect(embedded).toEqual([
    [undefined, 'T', ['moss', '']],
    [undefined, undefined, ['moss']],
  ]);
  const told = { t: 'moss', v0: [4, 1], v1: [4, 2], v2: [0, 1] };
  expect(asked.map((body) => JSON.parse(body))).toEqual([told, told]);
});
