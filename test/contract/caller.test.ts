// The functions of a generated module over a connection and over an embedded database: the same file,
// the same answers, the same errors.
import { writeFileSync } from 'node:fs';
import { connect as dial, createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { computeContract } from '../../engine/contract/contract-hash.js';
import { decodeReply } from '../../engine/contract/decode-reply.js';
import { printTypeScript } from '../../engine/contract/typescript.js';
import { type EmbeddedDatabase, open } from '../../engine/database/embedded.js';
import { compile } from '../../engine/lang/compile.js';
import { bind, type Caller, connect, decode } from '../../server/client/client.js';
import { randomSource } from '../mcp/random-json.js';
import { makeFolder, root } from '../support/project.js';
import { type Server, startServer } from '../support/server/server.js';

const source = `
N::Item { UNIQUE INDEX name: String, big: I64, tags: [String], at: Date }
E::Near { From: Item, To: Item, Properties: { weight: F64 } }
QUERY add(name: String, big: I64, tags: [String]) =>
  item <- AddN<Item>({name: name, big: big, tags: tags})
  RETURN item
QUERY one(name: String) => item <- N<Item>({name: name}) RETURN item
QUERY all() => items <- N<Item> RETURN items::{name, big}
V::Point { name: String }
QUERY near(at: [F64]) => v <- SearchV<Point>(at, 1) RETURN v
QUERY texts(text: [String], n: I64) => RETURN text, n
QUERY same(given: U128) => n <- given RETURN n
`;

// biome-ignore lint/suspicious/noExplicitAny: types are another test's
type Functions = any;

let server: Server;
let embedded: EmbeddedDatabase;
const generated: Record<string, (caller: Caller) => Functions> = {};

beforeAll(async () => {
  server = await startServer({ sources: { 'main.hx': source } });
  const folder = makeFolder();
  const dataDir = join(folder, 'data');
  embedded = await open({ dataDir, sources: [{ path: 'main.hx', text: source }], minFreeBytes: 0 });
  const { program } = compile([{ path: 'main.hx', text: source }], { compat: false });
  for (const int64 of ['number', 'bigint', 'string'] as const) {
    const settings = { version: '1.0.0', files: 1, int64, dates: 'string' } as const;
    const { code } = transformSync(printTypeScript(program!, settings), { loader: 'ts' });
    const client = pathToFileURL(join(root, 'dist/bin/client.js')).href;
    const path = join(folder, `${int64}.mjs`);
    writeFileSync(path, code.replace('"trellisdb/client"', JSON.stringify(client)));
    const { href } = pathToFileURL(path);
    generated[int64] = (await import(/* @vite-ignore */ href)).queries;
  }
});
afterAll(async () => {
  await embedded.close();
  await server.dispose();
});

const wide = '9007199254740993';

describe.each(['connect', 'open'] as const)('%s', (way) => {
  const caller = (): Caller =>
    way === 'open' ? embedded : connect({ url: `http://127.0.0.1:${server.port}` });
  const bound = (int64 = 'bigint'): Functions => generated[int64]!(caller());

  test('P14 calls, answers and errors are the same', async () => {
    const db = bound();
    const { item } = await db.add({ name: 'a', big: 7, tags: ['x', 'y'] });
    expect(item).toMatchObject({ label: 'Item', name: 'a', big: 7n, tags: ['x', 'y'], at: null });
    expect((await db.one({ name: 'a' })).item).toEqual(item);
    expect(await db.all()).toEqual({ items: [{ name: 'a', big: 7n }] });
    await expect(db.one({ name: 5 })).rejects.toMatchObject({ code: 'PARAM_TYPE' });
    await expect(db.one({})).rejects.toMatchObject({ code: 'PARAM_MISSING' });
    await expect(db.add({ name: 'a', big: 1, tags: [] })).rejects.toMatchObject({
      code: 'UNIQUE_VIOLATION',
    });
    await expect(caller().call('nothing')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('vectors can be typed arrays, and strings can have any form', async () => {
    const db = bound();
    for (const vector of [[0.1, 1], new Float32Array([0.1, 1]), new Float64Array([0.1, 1])]) {
      expect(await db.near({ at: vector })).toEqual({ v: [] });
    }
    const texts = ['\u0000n12', 'n0:12', '","n":9007199254740993,"x":"', '\\'];
    const given = { text: texts, n: BigInt(wide), o: { '\u0000n5': '\u0000n5' } };
    expect(await db.texts(given)).toEqual({ text: texts, n: BigInt(wide) });
  });

  test('P06 a wide integer is exact in both directions in each mode', async () => {
    for (const given of [wide, BigInt(wide)]) {
      expect(await bound('bigint').same({ given: given })).toEqual({ n: BigInt(wide) });
      expect(await bound('string').same({ given: given })).toEqual({ n: wide });
      await expect(bound('number').same({ given: given })).rejects.toMatchObject({
        name: 'UnsafeIntegerError',
        path: '/n',
        digits: wide,
      });
    }
    expect(await bound('number').same({ given: 42 })).toEqual({ n: 42 });
    expect(await bound('string').same({ given: 42 })).toEqual({ n: '42' });
  });
});

test('P11 a write whose reply is lost is done one time, however often it is sent', async () => {
  let sent = 0;
  // Lets a request through to the server, and ends the connection before or within its answer.
  const relay = createServer((socket) => {
    const onward = dial(server.port, '127.0.0.1');
    for (const one of [socket, onward]) one.on('error', () => socket.destroy());
    socket.on('close', () => onward.destroy());
    socket.pipe(onward);
    onward.on('data', (answer: Buffer) => {
      const fate = sent++ % 3;
      if (fate === 0) socket.destroy();
      else if (fate === 1)
        socket.write(answer.subarray(0, answer.length - 5), () => socket.destroy());
      else socket.write(answer);
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const { port } = relay.address() as { port: number };
  const db = generated.bigint!(connect({ url: `http://127.0.0.1:${port}`, retries: 5 }));
  const many = process.env.TRELLIS_TEST_LONG ? 300 : 10;
  for (let i = 0; i < many; i++) {
    // Done twice, it would meet its own name.
    const { item } = await db.add({ name: `lost ${i}`, big: i, tags: [] });
    expect(item.big).toBe(BigInt(i));
  }
  expect(sent).toBe(3 * many);
  relay.close();
  const left = await connect({ url: `http://127.0.0.1:${server.port}` }).call<{
    items: { name: string }[];
  }>('all');
  const names = left.items.map(({ name }) => name).filter((name) => name.startsWith('lost '));
  expect(names.sort()).toEqual(Array.from({ length: many }, (_, i) => `lost ${i}`).sort());
});

test('P06 a call by name on an embedded database says what 64-bit integers become', async () => {
  const n = BigInt(wide);
  expect(await embedded.call('same', { given: n }, { int64: 'bigint' })).toEqual({ n });
  expect(await embedded.call('same', { given: n }, { int64: 'string' })).toEqual({ n: wide });
  expect(await embedded.call('same', { given: 1 }, { int64: 'bigint' })).toEqual({ n: 1n });
  expect(await embedded.call('same', { given: 1 })).toEqual({ n: 1 });
  const wrong = embedded.call('same', { given: 1 }, { int64: 'float' as 'string' });
  await expect(wrong).rejects.toMatchObject({ code: 'PARAM_TYPE' });
});

test('a caller with types of other sources gets the list of changes', async () => {
  const other = source
    .replace('RETURN item\n', 'RETURN item::{name}\n')
    .replace('at: Date', 'at: I8');
  const { program } = compile([{ path: 'main.hx', text: other }], { compat: false });
  const connection = connect({ url: `http://127.0.0.1:${server.port}` });
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
  for (const caller of [connection, embedded]) {
    bind(
      caller,
      {},
      computeContract(compile([{ path: 'main.hx', text: source }], { compat: false }).program!),
    );
    bind(caller, {}, computeContract(program!));
  }
  expect(await connection.check()).toEqual(['add', 'N::Item']);
  const { name, message } = await warned;
  expect([name, message]).toEqual([
    'TrellisWarning',
    'The generated types are not those of the sources: add, N::Item.',
  ]);
});

test('a session has the tools as its methods', async () => {
  const db = generated.bigint!(embedded);
  await db.add({ name: 'walked', big: 1, tags: [] }).catch(() => undefined);
  const connection = connect({ url: `http://127.0.0.1:${server.port}` });
  await connection.call('add', { name: 'walked', big: 1, tags: ['y'] });
  const walk = await connection.session<'Item', 'Near', 'Point'>();
  const filter = { properties: [[{ key: 'name', value: 'walked', operator: '==' }]] };
  expect(await walk.nFromType({ node_type: 'Item' })).toMatchObject({ label: 'Item' });
  expect(await walk.filterItems({ filter })).toMatchObject({ name: 'walked' });
  expect(await walk.collect({ start: 0, end: 9 })).toHaveLength(1);
  await expect(walk.outStep({ edge_label: 'Far' as 'Near' })).rejects.toMatchObject({
    code: 'UNKNOWN_TYPE',
  });
  const found: unknown[] = [];
  for await (const item of walk) found.push(item);
  expect(found).toHaveLength(1);
  await walk[Symbol.asyncDispose]();
});

test('P06 both decoders agree on any reply', () => {
  const random = randomSource(5);
  const digits = ['9007199254740993', '-18446744073709551616', '1', '12345678901234567', '1e300'];
  const count = process.env.TRELLIS_TEST_LONG ? 100_000 : 500;
  for (let i = 0; i < count; i++) {
    const noise = JSON.stringify(random.value(3));
    const [a, b] = [digits[i % 5]!, digits[(i * 7) % 5]!];
    const text = `{"n":${a},"l":[${b},${a}],"noise":${noise},"t":"${a}","o":{"n":${b}},"m":{"constructor":${a}}}`;
    for (const place of [2, 3] as const) {
      if ([a, b].includes('1e300')) continue;
      const places = { n: place, l: [place], o: { n: place }, m: [place] } as const;
      const given = { ...places, l: [place] as [typeof place], m: [place] as [typeof place] };
      const wanted = place === 2 ? BigInt(a) : a;
      expect(decode(text, places)).toMatchObject({ m: { constructor: wanted } });
      expect(decodeReply(text, given)).toEqual(decode(text, places));
    }
  }
});
