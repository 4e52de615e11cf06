// A vector type over several databases answers as one database does (cluster.md 11.2 to 11.6): K47 merge,
// K48 second places, K49 partial answers.
import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Database,
  type ErrorCode,
  Gatherer,
  type OpenDatabase,
  TrellisError,
  defaultLimits,
  openDatabase,
} from '../../engine/internal.js';
import { parseUuid, printUuid, computeShard } from '../../engine/base/id.js';
import type { Query } from '../../engine/plan/plan.js';
import { Random } from '../support/random.js';
import { type RunningTenants, startTenants } from './running-tenants.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const shards = 3;

const source = `
  V::Passage { text: String, INDEX lang: String, rank: I64, share: F64 }
  QUERY nearest(near: [F64], k: U32) =>
      RETURN SearchV<Passage>(near, k)::{ id, text, score, distance, rank, share }
  QUERY whole(near: [F64], k: U32) =>
      hits <- SearchV<Passage>(near, k)
      RETURN hits
  QUERY spread(near: [F64], k: U32) =>
      RETURN SearchV<Passage>(near, k)::{ double: _::{rank}, .. }
  QUERY filtered(near: [F64], k: U32) =>
      RETURN SearchV<Passage>(near, k)::PREFILTER(_::{lang}::EQ("de"))::{ id, lang }
  QUERY fewer(near: [F64], k: U32) =>
      hits <- SearchV<Passage>(near, k)::WHERE(_::{rank}::GT(4))
      german <- hits::WHERE(_::{lang}::EQ("de"))
      RETURN hits::{ id, rank }, german::{ text }
  QUERY reranked(near: [F64], k: U32) =>
      RETURN SearchV<Passage>(near, k)::RerankRRF(k: 7)::{ id, score }
  QUERY fused(near: [F64], far: [F64], k: U32) =>
      hits <- RerankRRF(SearchV<Passage>(near, k), SearchV<Passage>(far, k), weights: [1, 2])
      RETURN hits::{ id, score, text }
  QUERY told(near: [F64], k: U32) =>
      hits <- SearchV<Passage>(near, k)
      RETURN k, hits::{ id }
  QUERY wordy(words: String, k: U32) =>
      RETURN SearchBM25<Passage>(words, k)::{ id, text, score }
  QUERY meant(words: String, k: U32) =>
      RETURN SearchV<Passage>(Embed(words), k)::{ id, text }
  QUERY add(near: [F64], text: String) =>
      passage <- AddV<Passage>(near, { text: text, lang: "de", rank: 1, share: 0.5 })
      RETURN passage::{ id, text }
  QUERY one(id: ID) =>
      RETURN V<Passage>(id)::{ id, text }
  QUERY drop(id: ID) =>
      DROP V<Passage>(id)
      RETURN NONE
  N::Note { text: String }
  QUERY note(text: String) =>
      note <- AddN<Note>({ text: text })
      RETURN note::{ id }`;

const words = ['rain', 'river', 'mountain', 'light', 'ä"ö{[', 'winter'];
/** Few different values, so that many are equally near. */
const coordinate = (random: Random): number => (random.below(5) - 2) / 2;
const vector = (random: Random): number[] => {
  const values = [coordinate(random), coordinate(random), coordinate(random)];
  return values.every((value) => value === 0) ? [1, 0, 0] : values;
};

const rowOf = (random: Random, at: number): { id: string; line: string } => {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(0x01a00000 + at);
  bytes.writeUInt32BE(0x00007000, 4);
  bytes.writeUInt32BE(0x80000000, 8);
  bytes.writeUInt32BE(Math.floor(random.next() * 2 ** 32), 12);
  const id = printUuid(bytes);
  const properties = {
    text: `${random.pick(words)} ${random.pick(words)}`,
    lang: random.pick(['de', 'en']),
    rank: random.below(9),
    share: random.next(),
  };
  return {
    id,
    line: JSON.stringify({ vector: 'Passage', id, values: vector(random), properties }),
  };
};

describe('K47: the answer of shards', () => {
  let whole: RunningTenants;
  let scattered: RunningTenants;
  const opened = new Map<string, Database>();
  const random = new Random(47);
  const rows = Array.from({ length: 160 }, (_, at) => rowOf(random, at));
  const settings = {
    'vectors.Passage.exact': 'true',
    'vectors.Passage.dimensions': '3',
    'embedding.model': 'hash:3',
    'storage.ballast': '0',
    'server.workers': '1',
  };
  beforeAll(async () => {
    whole = await startTenants(source, openDatabase, settings);
    const more = { ...settings, 'sharding.types.Passage': String(shards) };
    const open: OpenDatabase = async (options) => {
      const database = await openDatabase(options);
      opened.set(basename(options.dataDir), database);
      return database;
    };
    scattered = await startTenants(source, open, more);
    const load = async (server: RunningTenants, of: typeof rows, tenant: string) => {
      const headers = {
        'Content-Type': 'application/x-ndjson',
        ...(tenant && { 'Trellis-Tenant': tenant }),
      };
      const reply = await server.send(
        '/_admin/import',
        of.map((row) => row.line).join('\n'),
        headers,
      );
      expect(JSON.parse(reply.text)).toMatchObject({ vectors: of.length, rejected: 0 });
    };
    await load(whole, rows, '');
    for (let at = 0; at < shards; at++) {
      const mine = rows.filter(({ id }) => computeShard(parseUuid(id)!, shards) === at);
      await load(scattered, mine, `passage-${at}`);
    }
  });
  afterAll(async () => {
    await whole?.close();
    await scattered?.close();
  });

  const queries = ['told', 'nearest', 'whole', 'spread', 'filtered', 'fewer', 'reranked', 'fused'];

  it('is that of one database, to the byte, where search is exact', async () => {
    for (let round = 0; round < (isLong ? 400 : 5); round++) {
      const [near, far] = [vector(random), vector(random)];
      // Many are equally near: also those at the end of a list.
      const k = random.pick([1, 2, 7, 30, 200]);
      const body = { near, k, far };
      for (const query of queries) {
        const { far: _, ...given } = body;
        const sent = query === 'fused' ? body : given;
        const [a, b] = [
          await whole.post(`/${query}`, sent),
          await scattered.post(`/${query}`, sent),
        ];
        expect([query, body.k, b.status, b.text]).toEqual([query, body.k, a.status, a.text]);
      }
    }
  });

  it('embeds a text one time for all shards', async () => {
    const body = { words: 'river light', k: 200 };
    const [a, b] = [await whole.post('/meant', body), await scattered.post('/meant', body)];
    expect([b.status, b.text]).toEqual([200, a.text]);
    const missing = await scattered.post('/meant', { k: 3 });
    expect(JSON.parse(missing.text)).toMatchObject({ code: 'PARAM_MISSING', path: '/words' });
  });

  it('is refused as one database refuses', async () => {
    const bodies = [{}, { near: [1, 2], k: 3 }, { near: [1, 2, 3], k: 0 }, { near: 'x', k: 3 }];
    for (const body of bodies) {
      const [a, b] = [await whole.post('/nearest', body), await scattered.post('/nearest', body)];
      const codeOf = (text: string) => JSON.parse(text).code;
      expect([b.status, codeOf(b.text)]).toEqual([a.status, codeOf(a.text)]);
    }
  });

  it('has the hits of words of all shards, best first', async () => {
    const reply = await scattered.post('/wordy', { words: 'river', k: 20 });
    const hits: { id: string; text: string; score: number }[] = JSON.parse(reply.text).data;
    const has = rows.filter(({ line }) => line.includes('river'));
    expect(hits.length).toBe(Math.min(20, has.length));
    expect(new Set(hits.map(({ id }) => computeShard(parseUuid(id)!, shards))).size).toBe(shards);
    expect(hits.map(({ score }) => score)).toEqual(
      hits.map(({ score }) => score).sort((a, b) => b - a),
    );
    // Each as its own shard scores it, by the documents that it has.
    for (let at = 0; at < shards; at++) {
      const of = { 'Trellis-Tenant': `passage-${at}` };
      const own = JSON.parse((await scattered.post('/wordy', { words: 'river', k: 20 }, of)).text);
      const shown: typeof hits = own['0.l0'].map(({ v }: { v: (typeof hits)[0] }) => v);
      const mine = hits.filter(({ id }) => computeShard(parseUuid(id)!, shards) === at);
      expect(shown.slice(0, mine.length)).toEqual(mine);
    }
  });

  it('writes touch the shard of their element, which its id names', async () => {
    const made: string[] = [];
    for (let i = 0; i < 2 * shards; i++) {
      const reply = await scattered.post('/add', { near: [9, 0.1, 0.2], text: `new ${i}` });
      const { id } = JSON.parse(reply.text).passage;
      made.push(id);
      expect(await scattered.post('/one', { id })).toMatchObject({ status: 200 });
      const at = computeShard(parseUuid(id)!, shards);
      const there = await scattered.post('/one', { id }, { 'Trellis-Tenant': `passage-${at}` });
      expect(there.status).toBe(200);
    }
    const found = await scattered.post('/nearest', { near: [9, 0.1, 0.2], k: 2 * shards });
    const ids = JSON.parse(found.text).data.map(({ id }: { id: string }) => id);
    expect(ids.sort()).toEqual([...made].sort());
    for (const id of made) expect((await scattered.post('/drop', { id })).status).toBe(200);
    expect((await scattered.post('/one', { id: made[0]! })).status).toBe(404);
  });

  it('a repeated write is done one time', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const body = { near: [8, 8, 8], text: 'once' };
    const [a, b] = [
      await scattered.post('/add', body, headers),
      await scattered.post('/add', body, headers),
    ];
    expect(b.text).toBe(a.text);
    expect((await scattered.post('/drop', { id: JSON.parse(a.text).passage.id })).status).toBe(200);
  });

  describe('one key stands for one request, whichever shards it is about', () => {
    /** An element on each shard. */
    const makeAll = async (): Promise<string[]> => {
      const made = new Map<number, string>();
      while (made.size < shards) {
        const { text } = await scattered.post('/add', { near: [8, 8, 8], text: 'made' });
        const { id } = JSON.parse(text).passage;
        made.set(computeShard(parseUuid(id)!, shards), id);
      }
      return [...made.keys()].sort().map((at) => made.get(at)!);
    };
    const under = (key: string) => (request: Request) =>
      scattered.post(request.path, request.body, { 'Idempotency-Key': key });
    type Request = { path: string; body: object };
    afterAll(async () => {
      const { text } = await scattered.post('/nearest', { near: [8, 8, 8], k: 500 });
      const hits: { id: string; text: string }[] = JSON.parse(text).data;
      const known = new Set(rows.map(({ id }) => id));
      for (const { id } of hits) if (!known.has(id)) await scattered.post('/drop', { id });
    });
    const requestsOf = (ids: string[]): Request[] => [
      ...ids.map((id) => ({ path: '/drop', body: { id } })),
      { path: '/add', body: { near: [8, 8, 8], text: 'a' } },
      { path: '/add', body: { near: [8, 8, 8], text: 'b' } },
      { path: '/note', body: { text: 'in the main database' } },
    ];

    it('so that another is refused, and the same is answered', async () => {
      for (const first of requestsOf(['', '', '']).keys()) {
        const requests = requestsOf(await makeAll());
        const ask = under(`first-${first}`);
        const answer = await ask(requests[first]!);
        expect(answer.status).toBe(200);
        for (const other of requests) {
          const reply = await ask(other);
          const isFirst = other === requests[first];
          expect([reply.status, JSON.parse(reply.text).code]).toEqual(
            isFirst ? [200, undefined] : [409, 'IDEMPOTENCY_MISMATCH'],
          );
          if (isFirst) expect(reply.text).toBe(answer.text);
        }
        for (const { path, body } of requests.slice(0, shards)) {
          const there = await scattered.post('/one', body);
          expect(there.status).toBe(requests[first]!.body === body && path === '/drop' ? 404 : 200);
        }
      }
    });

    it('also of simultaneous ones', async () => {
      for (let round = 0; round < 5; round++) {
        const requests = requestsOf(await makeAll()).slice(0, shards);
        const replies = await Promise.all(requests.map(under(`together-${round}`)));
        const statuses = replies.map(({ status }) => status).sort();
        expect(statuses).toEqual([200, ...Array<number>(shards - 1).fill(409)]);
      }
    });

    it('and a refused write uses up no key', async () => {
      const [id, other] = await makeAll();
      const refused: Request[] = [
        { path: '/drop', body: { id: 'nonsense' } },
        { path: '/add', body: { near: [1, 2], text: 'of another dimension' } },
        { path: '/add', body: { near: [1, 2, 3] } },
      ];
      for (const [i, request] of refused.entries()) {
        const ask = under(`refused-${i}`);
        expect((await ask(request)).status).toBe(400);
        const { status } = await ask({ path: '/drop', body: { id: i === 0 ? id : other } });
        expect(status).toBe(200);
      }
    });
  });

  it('no other door stores what belongs on shards', async () => {
    const reply = await scattered.send('/_admin/import', rows[0]!.line, {
      'Content-Type': 'application/x-ndjson',
    });
    expect(JSON.parse(reply.text)).toMatchObject({ vectors: 0, rejected: 1 });
    const session = JSON.parse((await scattered.post('/mcp/init', {})).text);
    const data = { type: 'Passage', vector: [1, 0, 0], k: 3 };
    const searched = await scattered.post('/mcp/search_v', { connection_id: session, data });
    expect(searched.status).toBeGreaterThanOrEqual(400);
  });

  it('K49: a missing shard fails the response, unless partial results are requested', async () => {
    const near = { near: [1, 0, 0], k: 200 };
    const all = await scattered.post('/nearest', near, { 'Trellis-Partial': 'allow' });
    expect(all.headers.get('trellis-shards')).toBe(`${shards}/${shards}`);
    await opened.get('passage-1')!.close();
    const refused = await scattered.post('/nearest', near);
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([503, 'SHARD_MISSING']);
    const part = await scattered.post('/nearest', near, { 'Trellis-Partial': 'allow' });
    expect([part.status, part.headers.get('trellis-shards')]).toEqual([200, `2/${shards}`]);
    const ids: string[] = JSON.parse(part.text).data.map(({ id }: { id: string }) => id);
    const there = rows
      .map(({ id }) => id)
      .filter((id) => computeShard(parseUuid(id)!, shards) !== 1);
    expect(ids.sort()).toEqual(there.sort());
  });
});

describe('K49: what is answered without some of the shards', () => {
  const merge = { kind: 'all', texts: [], members: [{ kind: 'same', key: 'at' }] };
  const scatter = { type: 'T', merge };
  const query = { name: 'q', plan: { writes: false }, scatter } as unknown as Query;
  const one = { ...query, scatter: { type: 'T', merge: { kind: 'one', id: 'id' } } } as Query;
  const answer = Buffer.from('{"0":1}');
  type Said = ErrorCode | undefined;

  /** Asks shards of which each answers, or refuses with that code. */
  const gather = (asked: Query, codes: Said[], partial: boolean): Promise<[string, unknown]> => {
    const told: number[] = [];
    const shards = codes.map((code) => [
      {
        call: () => {
          if (code !== undefined) throw new TrellisError({ code, args: {} });
          return answer;
        },
      },
    ]);
    const gatherer = new Gatherer({
      shards: () => shards,
      limits: defaultLimits,
      embed: async () => [],
      claim: () => answer,
      hedgeMs: 1,
      waitMs: 0,
    });
    const onShards = (...counts: number[]): void => void told.push(...counts);
    return gatherer.call(asked, Buffer.from('{}'), { partial, onShards }).then(
      () => ['answered', told],
      (error: TrellisError) => [error.code, told],
    );
  };

  it.each<[Said[], string, string]>([
    [[undefined, 'NOT_READY', undefined], 'SHARD_MISSING', 'answered'],
    // Nothing is no part of an answer.
    [['NOT_READY', 'OVERLOADED', 'TENANT_CLOSED'], 'SHARD_MISSING', 'SHARD_MISSING'],
    // A request at fault is so on the shards that are there.
    [[undefined, 'PARAM_TYPE', undefined], 'PARAM_TYPE', 'PARAM_TYPE'],
    [['NOT_READY', undefined, 'VECTOR_DIMENSION'], 'VECTOR_DIMENSION', 'VECTOR_DIMENSION'],
    [[undefined, 'INTERNAL', undefined], 'INTERNAL', 'INTERNAL'],
    [[undefined, undefined, undefined], 'answered', 'answered'],
  ])('K49 %j: %s, and where less is welcome %s', async (codes, whole, part) => {
    const there = codes.filter((code) => code === undefined).length;
    const isCounted = (how: string): boolean => how === 'answered' || how === 'SHARD_MISSING';
    for (const [partial, how] of [
      [false, whole],
      [true, part],
    ] as const)
      expect(await gather(query, codes, partial)).toEqual([how, isCounted(how) ? [there, 3] : []]);
  });

  it('K49 the one shard of an element is no part that may be missing', async () => {
    for (const partial of [false, true])
      expect((await gather(one, ['NOT_READY', undefined], partial))[0]).toBe('NOT_READY');
  });
});

describe('K48: a slow shard', () => {
  const claim = (): Uint8Array => new Uint8Array(0);
  const query = {
    name: 'q',
    plan: { writes: false },
    scatter: {
      type: 'T',
      merge: { kind: 'all', texts: [], members: [{ kind: 'same', key: 'at' }] },
    },
  } as unknown as Query;
  const embed = async () => [];
  const limits = {} as ConstructorParameters<typeof Gatherer>[0]['limits'];
  const answer = (at: number): Uint8Array => Buffer.from(`{"0":${at}}`);
  type Call = () => Uint8Array | Promise<Uint8Array>;

  /** One shard with these places; `asked` notes which were. */
  function gather(places: Call[], hedgeMs: number) {
    const asked: number[] = [];
    const shard = places.map((call, at) => ({
      call: () => {
        asked.push(at);
        return call();
      },
    }));
    const gatherer = new Gatherer({
      shards: () => [shard],
      limits,
      embed,
      claim,
      hedgeMs,
      waitMs: 0,
    });
    const told = gatherer
      .call(query, new Uint8Array(0))
      .then((body) => Buffer.from(body).toString());
    return { told, asked, gatherer };
  }
  const never: Call = () => new Promise(() => undefined);
  const fails =
    (code: 'OVERLOADED' | 'PARAM_TYPE'): Call =>
    () => {
      throw new TrellisError({ code, args: {} });
    };

  it('is asked at another replica, whose reply counts', async () => {
    const { told, asked } = gather([never, () => answer(1)], 1);
    expect([await told, asked]).toEqual(['{"at":1}', [0, 1]]);
  });

  it('is not asked twice while it is fast', async () => {
    const { told, asked } = gather([() => answer(0), () => answer(1)], 60_000);
    expect([await told, asked]).toEqual(['{"at":0}', [0]]);
  });

  it('is asked elsewhere immediately when a replica has no capacity, and not when the request is wrong', async () => {
    const busy = gather([fails('OVERLOADED'), () => answer(1)], 60_000);
    expect([await busy.told, busy.asked]).toEqual(['{"at":1}', [0, 1]]);
    const wrong = gather([fails('PARAM_TYPE'), () => answer(1)], 60_000);
    await expect(wrong.told).rejects.toMatchObject({ data: { code: 'PARAM_TYPE' } });
    expect(wrong.asked).toEqual([0]);
  });

  it('is missing when no replica answers', async () => {
    const { told } = gather([fails('OVERLOADED'), fails('OVERLOADED')], 60_000);
    const args = { answered: 0, shards: 1 };
    await expect(told).rejects.toMatchObject({ data: { code: 'SHARD_MISSING', args } });
  });

  it('takes no write a second time', async () => {
    const write = {
      ...query,
      plan: { writes: true },
      scatter: { type: 'T', merge: { kind: 'one' } },
    } as unknown as Query;
    const asked: number[] = [];
    const place = (at: number) => ({
      call: async () => {
        asked.push(at);
        await new Promise((resolve) => setTimeout(resolve, 20));
        return answer(at);
      },
    });
    const shard = [place(0), place(1)];
    const gatherer = new Gatherer({
      shards: () => [shard],
      limits,
      embed,
      claim,
      hedgeMs: 1,
      waitMs: 0,
    });
    await gatherer.call(write, new Uint8Array(0));
    expect(asked).toEqual([0]);
  });
});
