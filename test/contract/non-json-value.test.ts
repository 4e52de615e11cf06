// Values that JSON cannot express, passed to every interface of a program: they fail PARAM_TYPE with their
// path, and nothing is done. They never become null, nothing or an empty object, and so never a DEFAULT.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonText } from '../../engine/json/json-text.js';
import { type EmbeddedDatabase, open } from '../../engine/database/embedded.js';
import { type Connection, connect } from '../../server/client/client.js';
import { makeFolder, root } from '../support/project.js';
import { type Server, startServer } from '../support/server/server.js';

const source = `
N::Item { k: String, f: F64 DEFAULT 7.5, t: String DEFAULT "unsaid", at: Date }
QUERY add(k: String, f?: F64) => i <- AddN<Item>({ k: k, f: f }) RETURN i::{f}
QUERY addAll(rows: [{ k: String, f?: F64, t?: String, fs?: [F64], at?: Date }]) =>
  FOR { k, f, t, at } IN rows { AddN<Item>({ k: k, f: f, t: t, at: at }) }
  RETURN "added"
QUERY count() => n <- N<Item>::COUNT RETURN n
QUERY echo(rows: [{ k: String, f?: F64, t?: String, fs?: [F64], at?: Date }]) => RETURN rows
QUERY whole(n: U128) => RETURN n
`;

const cycle: Record<string, unknown> = { k: 'a' };
cycle.t = [cycle];
const endless = (): object =>
  Object.defineProperty({ k: 'a' }, 't', { enumerable: true, get: endless });
class Reading {
  constructor(private readonly value: unknown) {}
  toJSON(): unknown {
    return this.value;
  }
}

/** A member of the second row, what is said of it, and where it stands below that row. */
const cases: [what: string, member: Record<string, unknown>, at: string, got: string | RegExp][] = [
  ['NaN', { f: Number.NaN }, '/f', 'NaN'],
  ['Infinity', { f: Number.POSITIVE_INFINITY }, '/f', 'Infinity'],
  ['-Infinity', { f: Number.NEGATIVE_INFINITY }, '/f', '-Infinity'],
  ['NaN in a list', { fs: [1, Number.NaN] }, '/fs/1', 'NaN'],
  ['NaN in floats', { fs: new Float64Array([1, 2, Number.NaN]) }, '/fs/2', 'NaN'],
  ['Infinity in 32-bit floats', { fs: new Float32Array([1e39]) }, '/fs/0', 'Infinity'],
  ['undefined in a list', { fs: [undefined] }, '/fs/0', 'undefined'],
  // biome-ignore lint/suspicious/noSparseArray: what a caller may have
  ['a hole of a list', { fs: [1, , 2] }, '/fs/1', 'undefined'],
  ['a list of holes', { fs: new Array(3) }, '/fs/0', 'undefined'],
  ['a function', { t: () => 'text' }, '/t', 'a function'],
  ['a symbol', { t: Symbol('text') }, '/t', 'a symbol'],
  ['an invalid date', { at: new Date(Number.NaN) }, '/at', 'an invalid date'],
  ['half of a character', { t: 'a\ud800' }, '/t', 'a lone surrogate'],
  ['the other half', { t: '\udc00\ud800' }, '/t', 'a lone surrogate'],
  ['half of a character in a name', { x: { '\ud83d': 1 } }, '/x', 'a lone surrogate'],
  ['a cycle', { t: cycle }, '/t/t/0', 'a cycle'],
  ['a cycle that makes itself', { t: endless() }, `/t${'/t'.repeat(253)}`, 'more than 256 levels'],
  ['a map', { t: new Map([['a', 1]]) }, '/t', 'a Map'],
  ['a set', { fs: new Set([1]) }, '/fs', 'a Set'],
  ['a promise', { t: Promise.resolve('a') }, '/t', 'a Promise'],
  ['a pattern', { t: /a/ }, '/t', 'a RegExp'],
  ['an error', { t: new Error('a') }, '/t', 'a Error'],
  ['bytes without a view', { fs: new ArrayBuffer(8) }, '/fs', 'a ArrayBuffer'],
  ['a view of any bytes', { fs: new DataView(new ArrayBuffer(8)) }, '/fs', 'a DataView'],
  ['toJSON that gives NaN', { f: new Reading(Number.NaN) }, '/f', 'NaN'],
  ['toJSON that gives nothing', { t: new Reading(undefined) }, '/t', 'undefined'],
  ['toJSON that gives a function', { t: new Reading(() => 1) }, '/t', 'a function'],
  ['toJSON with NaN in it', { f: new Reading({ a: [Number.NaN] }) }, '/f/a/0', 'NaN'],
  ['a boxed NaN', { f: new Number(Number.NaN) }, '/f', 'NaN'],
  [
    'a getter that fails',
    {
      get t() {
        throw new Error('no');
      },
    },
    '',
    /fails with: Error: no/,
  ],
  ['a far member', { x: { 'a/b~c': [{ d: Number.NaN }] } }, '/x/a~1b~0c/0/d', 'NaN'],
];

let embedded: EmbeddedDatabase;
let server: Server;
let client: Connection;

beforeAll(async () => {
  const dataDir = join(makeFolder(), 'data');
  const sources = [{ path: 'main.hx', text: source }];
  embedded = await open({ dataDir, sources, minFreeBytes: 0 });
  server = await startServer({ sources: { 'main.hx': source } });
  client = connect({ url: `http://127.0.0.1:${server.port}` });
});
afterAll(async () => {
  await embedded.close();
  await server.dispose();
});

interface Fault {
  code: string;
  path: string | undefined;
  message: string;
  got: unknown;
}

/** What a call is refused with; fails when it is not. */
async function faultOf(call: () => unknown): Promise<Fault> {
  try {
    await call();
  } catch (error) {
    const { code, data, path, args, message } = error as Record<string, never>;
    const of = (data ?? { path, args }) as { path?: string; args: { got: unknown } };
    return { code, path: of.path, message, got: of.args.got };
  }
  throw new Error('the call was taken');
}

const rowsWith = (member: Record<string, unknown>) => {
  const row = Object.defineProperties({ k: 'b' }, Object.getOwnPropertyDescriptors(member));
  return { rows: [{ k: 'a' }, row] };
};

const doors: Record<string, (name: string, args: object) => unknown> = {
  'db.call': (name, args) => embedded.call(name, args as never),
  'db.callBytes': async (name, args) => embedded.callBytes(name, args as never),
  'client.call': (name, args) => client.call(name, args),
  'client.bytes': (name, args) => client.bytes(name, args),
  'client.query': (name, args) => client.query(name, args),
};

describe.each(Object.entries(doors))('%s', (door, call) => {
  const count = async () => {
    const db = door.startsWith('db') ? embedded : client;
    return (await db.call<{ n: number }>('count')).n;
  };

  test.each(cases)('%s is PARAM_TYPE at its path', async (_, member, at, got) => {
    const before = await count();
    const fault = await faultOf(() => call('addAll', rowsWith(member)));
    expect(fault.code).toBe('PARAM_TYPE');
    expect(fault.path).toBe(`/rows/1${at}`);
    if (typeof got === 'string') expect(fault.got).toBe(got);
    else expect(fault.got).toMatch(got);
    expect(fault.message).toContain('`rows[1]');
    expect(await count()).toBe(before);
  });

  test.each([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['a function', () => 1],
  ])('%s for an optional parameter stores no DEFAULT', async (got, f) => {
    const before = await count();
    expect(await faultOf(() => call('add', { k: 'a', f }))).toEqual({
      ...{ code: 'PARAM_TYPE', path: '/f', got },
      message: `\`f\` must be a JSON value, got ${got}.`,
    });
    expect(await count()).toBe(before);
  });

  test('an integer that no type holds is PARAM_RANGE', async () => {
    for (const n of [2n ** 128n, -1n, 10n ** 400n]) {
      expect(await faultOf(() => call('whole', { n }))).toMatchObject({
        ...{ code: 'PARAM_RANGE', path: '/n' },
      });
    }
    expect(await faultOf(() => call('add', { k: 'a', f: 10n ** 400n }))).toMatchObject({
      ...{ code: 'PARAM_RANGE', path: '/f' },
    });
  });
});

test('a thread that is attached refuses the same', async () => {
  const entry = JSON.stringify(pathToFileURL(join(root, 'dist/bin/index.js')).href);
  const code = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { attach } = await import(${entry});
    const db = await attach(workerData);
    const got = [];
    for (const f of [NaN, -Infinity, () => 1, Symbol('x'), new Date(NaN), new Map(), 'a\\ud800']) {
      for (const way of ['call', 'callBytes']) {
        try { await db[way]('add', { k: 'a', f }); got.push('taken'); }
        catch (error) { got.push(error.code + ' ' + error.data.path); }
      }
    }
    parentPort.postMessage(got);
    await db.close();`;
  const bundled = (await import(pathToFileURL(join(root, 'dist/bin/index.js')).href)) as {
    open: typeof open;
  };
  const sources = [{ path: 'main.hx', text: source }];
  const db = await bundled.open({ dataDir: join(makeFolder(), 'data'), sources, minFreeBytes: 0 });
  const attachment = db.attachment();
  const data = { workerData: attachment, transferList: [attachment.port] };
  const worker = new Worker(code, { eval: true, ...data });
  const got = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  expect(got).toEqual(Array.from({ length: 14 }, () => 'PARAM_TYPE /f'));
  await worker.terminate();
  await db.close();
});

test('a step of a session refuses the same before it is sent', async () => {
  await using walk = await client.session();
  await walk.nFromType({ node_type: 'Item' });
  for (const value of [Number.NaN, undefined]) {
    const filter = { properties: [[{ key: 'f', operator: '==', value: [value] }]] };
    const fault = await faultOf(() => walk.filterItems({ filter }));
    expect(fault).toMatchObject({
      ...{ code: 'PARAM_TYPE', path: '/data/filter/properties/0/0/value/0' },
    });
  }
  const vector = new Float64Array([1, Number.NaN]);
  expect(await faultOf(() => walk.searchVector({ vector, k: 1 }))).toMatchObject({
    ...{ code: 'PARAM_TYPE', path: '/data/vector/1' },
  });
});

test('what JSON can say arrives as it was', async () => {
  const rows = [
    { k: '', f: -0, t: '"\\\u0000\u2028😀\ud83d\ude00', fs: [1e308, 5e-324, -1e308] },
    { k: 'b', f: undefined, fs: new Float32Array([0.1]), at: new Date(0) },
    { k: 'c', fs: new BigInt64Array([3n]), f: new Number(2), t: new String('boxed') },
    Object.assign(Object.create(null) as object, { k: 'd', fs: Buffer.from([1, 2]) }),
    new Reading({ k: 'e', toJSON: 5 }),
  ];
  const shared = { k: 'twice' };
  const expected = [
    { k: '', f: 0, t: '"\\\u0000\u2028😀😀', fs: [1e308, 5e-324, -1e308], at: null },
    { k: 'b', f: null, t: null, fs: [0.1], at: '1970-01-01T00:00:00+00:00' },
    { k: 'c', f: 2, t: 'boxed', fs: [3], at: null },
    { k: 'd', f: null, t: null, fs: [1, 2], at: null },
    { k: 'e', f: null, t: null, fs: null, at: null },
  ];
  for (const db of [embedded, client]) {
    expect(await db.call('echo', { rows })).toEqual({ rows: expected });
    const { rows: both } = await db.call<{ rows: object[] }>('echo', { rows: [shared, shared] });
    expect(both).toHaveLength(2);
  }
});

test('a string is printed as by JSON.stringify, if that is right', () => {
  const refused = (): never => expect.fail('refused');
  const values = [
    ...[
      null,
      true,
      'x'.repeat(100),
      1e21,
      -1e-7,
      0.1 + 0.2,
      [],
      {},
      [[]],
      [null],
      { a: undefined },
    ],
    ...[
      { 'a b': { '"': '\\' } },
      [1, 'a', 2],
      { ä: '\u007f\u2029' },
      [new Date(5)],
      { 5: 1, a: 2 },
    ],
    JSON.parse('{"__proto__":1}') as object,
  ];
  for (const value of values) expect(jsonText(value, refused)).toBe(JSON.stringify(value));
});
