// Writes with an idempotency key run once, and every repeat gets the same response, whatever happens between
// the write and its repeat. On an open database, and (the header) on a server.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerKey, replyQueue } from '../../engine/database/idempotency/stored-reply.js';
import { verifyStorage } from '../../engine/database/maintenance/verify.js';
import type { EmbeddedDatabase, OpenOptions } from '../../engine/public.js';
import { defaultLimits } from '../../engine/base/limits.js';
import { openStorage } from '../../engine/storage/open-storage.js';
import { bind } from '../../server/client/client.js';
import { makeFolder, root } from '../support/project.js';
import { type Server, startServer } from '../support/server/server.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const { open, TrellisError } = (await import(
  pathToFileURL(join(root, 'dist/bin/index.js')).href
)) as typeof import('../../engine/public.js');

const text = `
N::Note { UNIQUE INDEX name: String, no: I64 }
V::Point { no: I64 }
#[mcp]
QUERY note(no: I64) => n <- AddN<Note>({ no }) RETURN n
QUERY add(no: I64) => n <- AddN<Note>({ no }) RETURN n
QUERY named(name: String) => n <- AddN<Note>({ name, no: 0 }) RETURN n::{name}
QUERY put(no: I64, vec: [F64]) => v <- AddV<Point>(vec, { no }) RETURN v::ID
QUERY clear() => DROP N<Note> RETURN "gone"
QUERY count() => n <- N<Note>::COUNT RETURN n
`;
const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const textOf = (body: Uint8Array): string => new TextDecoder().decode(body);
const isOdd = (n: number): boolean => n % 2 === 1;

let db: EmbeddedDatabase;
const dataDir = join(makeFolder(), 'data');
const openAt = (path: string, more: Partial<OpenOptions> = {}) =>
  open({ dataDir: path, sources: [{ path: 'main.hx', text }], minFreeBytes: 0, ...more });

/** The answer, or the code of the refusal. */
async function call(name: string, args: unknown, key: string, scope = '', profile = false) {
  const idempotency = { scope, key };
  try {
    return textOf(await db.database.call(name, bytes(args), { idempotency, profile }));
  } catch (error) {
    if (error instanceof TrellisError) return error.code;
    throw error;
  }
}
const count = async (): Promise<number> => (await db.call<{ n: number }>('count')).n;

/** What verify says of the closed data, and how many answers it holds. */
async function inspect(path: string): Promise<{ faults: unknown[]; kept: number }> {
  const storage = openStorage(join(path, 'graph'), { limits: defaultLimits, mode: 'attach' });
  const faults = verifyStorage(storage);
  const { first, next } = replyQueue.read(storage.env.derived.get(answerKey.order));
  storage.close();
  return { faults, kept: next - first };
}

beforeAll(async () => {
  db = await openAt(dataDir);
});
afterAll(() => db.close());

describe('a repeat', () => {
  test('gets the first response, and nothing is done', async () => {
    const first = await call('add', { no: 1 }, 'a');
    expect(await call('add', { no: 1 }, 'a')).toBe(first);
    await db.call('clear');
    expect(await call('add', { no: 1 }, 'a')).toBe(first);
    expect(await count()).toBe(0);
  });

  test('of vectors, too', async () => {
    const first = await call('put', { no: 1, vec: [1, 2] }, 'vec');
    expect(await call('put', { no: 1, vec: [1, 2] }, 'vec')).toBe(first);
  });

  test.each([
    ['another body', 'add', { no: 2 }, false],
    ['another query', 'clear', {}, false],
    ['another answer of the same', 'add', { no: 1 }, true],
  ])('with %s is refused', async (_, name, args, profile) => {
    await call('add', { no: 1 }, 'b');
    expect(await call(name, args, 'b', '', profile)).toBe('IDEMPOTENCY_MISMATCH');
  });

  test('under another API key is another write', async () => {
    const first = await call('add', { no: 1 }, 'c', 'one');
    expect(await call('add', { no: 1 }, 'c', 'two')).not.toBe(first);
    expect(await call('add', { no: 1 }, 'c', 'one')).toBe(first);
  });

  test('with a profile gets the profile of the first', async () => {
    const first = await call('add', { no: 1 }, 'd', '', true);
    expect(first).toContain('"profile"');
    expect(await call('add', { no: 1 }, 'd', '', true)).toBe(first);
  });

  test('of a refused write is tried again', async () => {
    await call('named', { name: 'x' }, 'e');
    expect(await call('named', { name: 'x' }, 'f')).toBe('UNIQUE_VIOLATION');
    await db.call('clear');
    expect(await call('named', { name: 'x' }, 'f')).toBe('{"n":{"name":"x"}}');
  });

  test('while the first runs waits for its result', async () => {
    const before = await count();
    const all = Array.from({ length: 200 }, (_, i) => call('add', { no: 7 }, `g${i % 2}`));
    const answers = await Promise.all(all);
    expect(new Set(answers).size).toBe(2);
    expect(new Set(answers.filter((_, i) => isOdd(i))).size).toBe(1);
    expect(await count()).toBe(before + 2);
  });

  test('reads know no key', async () => {
    const before = await call('count', {}, 'h');
    await db.call('add', { no: 1 });
    expect(await call('count', {}, 'h')).not.toBe(before);
  });

  test('finds its answer after a restart, and in a backup', async () => {
    const first = await call('add', { no: 1 }, 'i');
    const backup = join(makeFolder(), 'backup');
    await db.database.backUp(backup);
    for (const path of [dataDir, backup]) {
      await db.close();
      db = await openAt(path);
      expect(await call('add', { no: 1 }, 'i')).toBe(first);
      expect(await call('add', { no: 2 }, 'i')).toBe('IDEMPOTENCY_MISMATCH');
    }
    await db.close();
    expect((await inspect(backup)).faults).toEqual([]);
    db = await openAt(dataDir);
  });
});

describe('answers go', () => {
  const many = long ? 2000 : 60;
  const bounds: [string, NonNullable<OpenOptions['limits']>, (kept: number) => boolean][] = [
    ['when they are too many', { idempotency_keys: 10 }, (kept) => kept === 10],
    ['when they are too large', { idempotency_bytes: 2000 }, (kept) => kept > 2 && kept < 30],
    ['when their time is over', { idempotency_ttl: 1 }, (kept) => kept < 20],
    ['but not before', {}, (kept) => kept === many],
  ];
  test.each(bounds)('%s', async (_, limits, isRight) => {
    await db.close();
    const path = join(makeFolder(), 'data');
    // First without bounds: what is there when they are narrowed shrinks with each write.
    for (const [round, given] of [{}, limits].entries()) {
      db = await openAt(path, { limits: given });
      for (let i = 0; i < many / 2; i++) {
        await call('add', { no: i }, `${round}-${i}`);
        // A key that is used anew after its time leaves a hole in the order.
        if (given.idempotency_ttl && i % 5 === 0) {
          await new Promise((resolve) => setTimeout(resolve, 3));
          await call('add', { no: i }, `${round}-${i}`);
        }
      }
      await db.close();
    }
    const { faults, kept } = await inspect(path);
    expect(faults).toEqual([]);
    expect(isRight(kept), `${kept} are kept`).toBe(true);
    db = await openAt(path, { limits });
  });
});

test('verify knows what is wrong with them [I18]', async () => {
  await db.close();
  const path = join(makeFolder(), 'data');
  db = await openAt(path);
  await call('add', { no: 1 }, 'a');
  await call('add', { no: 2 }, 'b');
  await db.close();
  const storage = openStorage(join(path, 'graph'), { limits: defaultLimits, mode: 'attach' });
  const { derived } = storage.env;
  const numbered = answerKey.numbered(0);
  const spoil: [RegExp, () => void][] = [
    [
      /0 is out of order/,
      () => derived.put(answerKey.order, replyQueue.write({ first: 1, next: 2, bytes: 0 })),
    ],
    [
      /bytes/,
      () => derived.put(answerKey.order, replyQueue.write({ first: 0, next: 2, bytes: 1 })),
    ],
    [/0 is not what/, () => derived.put(numbered, new Uint8Array(32))],
    [/2 answers are kept, 1 stand/, () => derived.remove(numbered)],
  ];
  for (const [said, change] of spoil) {
    storage.env.transact(() => {
      change();
      return true;
    });
    const found = verifyStorage(storage);
    expect(found.map(({ invariant }) => invariant)).toContain('I18');
    expect(
      found.some(({ what }) => said.test(what)),
      JSON.stringify(found),
    ).toBe(true);
  }
  storage.close();
  db = await openAt(join(makeFolder(), 'data'));
});

test('generated functions read the answers of an open database exactly [P06]', async () => {
  type Client = { add(params: object): Promise<{ n: { no: bigint } }> };
  const bound = bind<Client>(db, { add: { writes: true, at: { n: { no: 2 } } } });
  expect((await bound.add({ no: 2n ** 53n + 1n })).n.no).toBe(2n ** 53n + 1n);
});

describe('the header', () => {
  let server: Server;
  const post = (path: string, key: string | null, body: unknown = { no: 1 }) =>
    server.client.request({
      path,
      body: JSON.stringify(body),
      headers: { 'Idempotency-Key': key },
    });
  beforeAll(async () => {
    const config = { 'server.ad_hoc_queries': true };
    server = await startServer({ sources: { 'main.hx': text }, config, workers: 1 });
  });
  afterAll(() => server?.dispose());

  test('names a write, the same over a kill', async () => {
    const first = await post('add', 'k');
    expect((await post('add', 'k')).text).toBe(first.text);
    await server.kill();
    await server.start({});
    expect((await post('add', 'k')).text).toBe(first.text);
    const other = await post('add', 'k', { no: 2 });
    expect([other.status, JSON.parse(other.text).code]).toEqual([409, 'IDEMPOTENCY_MISMATCH']);
    expect((await post('add', null)).text).not.toBe(first.text);
  });

  test.each([
    ['nothing', ''],
    ['too long', 'k'.repeat(129)],
    ['a space', 'a b'],
    ['another alphabet', '\u00e9'],
  ])('is refused: %s', async (_, key) => {
    const { status, text: body } = await post('add', key);
    expect([status, JSON.parse(body).code]).toEqual([400, 'IDEMPOTENCY_KEY_INVALID']);
    expect((await post('count', key, {})).status, 'a read has no use for it').toBe(200);
  });

  const rpc = (name: string): object => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: { no: 1 } },
  });
  const source = 'QUERY one(no: I64) => n <- AddN<Note>({ no: no }) RETURN n';
  test.each([
    ['a query in the call', '_admin/query', { source, parameters: { no: 1 }, write: true }],
    ['an import', '_admin/import', { rows: [] }],
    ['a tool', 'mcp', rpc('note')],
  ])('is refused where no answer is kept: %s', async (_, path, body) => {
    const { text: before } = await post('count', null, {});
    expect((await post(path, 'once', body)).text).toContain('Idempotency-Key');
    expect((await post('count', null, {})).text).toBe(before);
  });

  test('is taken at its full length', async () => {
    expect((await post('add', 'k'.repeat(128))).status).toBe(200);
  });
});
