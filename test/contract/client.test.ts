// `trellisdb/client` against a scripted server: what is sent again and
// what is not, exact integers, deadlines.
import { getEventListeners } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decodeReply } from '../../engine/contract/decode-reply.js';
import {
  bind,
  connect,
  decode,
  encode,
  TimeoutError,
  TrellisError,
  UnknownOutcomeError,
  UnsafeIntegerError,
} from '../../server/client/client.js';
import { expectFigure } from '../support/run/figure.js';

type Act = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
/** Of each test another one: what a test has given up may arrive while the next one runs. */
let url: string;
let turn = 0;
/** What the next calls meet; the last one stays. */
let script: Act[] = [];
let seen: { url: string; headers: IncomingMessage['headers']; body: string }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      if (!request.url!.startsWith(`/base${turn}/`)) return request.socket.destroy();
      seen.push({ url: request.url!, headers: request.headers, body });
      (script.length > 1 ? script.shift()! : script[0]!)(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => server.close());
beforeEach(() => {
  seen = [];
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base${++turn}/`;
});

const answer =
  (text: string): Act =>
  (_, response) =>
    response.end(text);
const refuse =
  (status: number, code: string, retryable: boolean, headers: Record<string, string> = {}): Act =>
  (_, response) =>
    response.writeHead(status, headers).end(JSON.stringify({ error: 'no', code, retryable }));
const reset: Act = (request) => request.socket.destroy();
const half: Act = (request, response) => {
  response.writeHead(200, { 'Content-Length': '100' });
  response.write('{"a"');
  setTimeout(() => request.socket.destroy(), 5);
};
const silent: Act = () => {};

describe('what is sent again [P11]', () => {
  const refusals: [number, string][] = [
    [503, 'OVERLOADED'],
    [503, 'NOT_READY'],
    [503, 'SHUTTING_DOWN'],
    [429, 'RATE_LIMITED'],
    [503, 'READ_ONLY'],
    [504, 'QUERY_TIMEOUT'],
  ];
  const repeated = [false, true].flatMap((writes) =>
    refusals.map(([status, code]): [string, Act, boolean, number, unknown] => {
      return [
        `${writes ? 'write' : 'read'}, ${code}`,
        refuse(status, code, true),
        writes,
        2,
        undefined,
      ];
    }),
  );
  const table: [string, Act, boolean, number, unknown][] = [
    ...repeated,
    ['read, another retryable code', refuse(503, 'EMBEDDING_FAILED', true), false, 2, undefined],
    ['read, reset', reset, false, 2, undefined],
    ['read, half an answer', half, false, 2, undefined],
    ['read, 400', refuse(400, 'PARAM_TYPE', false), false, 1, TrellisError],
    ['write, another retryable code', refuse(503, 'EMBEDDING_FAILED', true), true, 2, undefined],
    ['write, reset', reset, true, 2, undefined],
    ['write, half an answer', half, true, 2, undefined],
    ['write, 400', refuse(400, 'PARAM_TYPE', false), true, 1, TrellisError],
  ];
  test.each(table)('%s', async (_, act, writes, calls, error) => {
    script = [act, answer('{"a":1}')];
    const call = connect({ url, retries: 3 }).call('q', {}, { shape: { writes, at: 0 } });
    if (error === undefined) expect(await call).toEqual({ a: 1 });
    else await expect(call).rejects.toBeInstanceOf(error);
    expect(seen.length).toBe(calls);
    // The server does a write once because all of its tries have one key; a read has none.
    const keys = new Set(seen.map(({ headers }) => headers['idempotency-key']));
    expect(keys.size).toBe(1);
    expect(/^[\x21-\x7e]{16,128}$/.test([...keys][0] as string)).toBe(writes);
  });

  // What has no key is done at most once: it goes out again only where nothing was done.
  const walks: [string, Act, number, unknown][] = [
    ...refusals.map(([status, code]): [string, Act, number, unknown] => {
      return [code, refuse(status, code, true), 2, undefined];
    }),
    ['another retryable code', refuse(503, 'EMBEDDING_FAILED', true), 1, TrellisError],
    ['reset', reset, 1, UnknownOutcomeError],
    ['half an answer', half, 1, UnknownOutcomeError],
    ['400', refuse(400, 'PARAM_TYPE', false), 1, TrellisError],
  ];
  test.each(walks)('a write without a key, %s', async (_, act, calls, error) => {
    script = [answer('"id"')];
    const session = await connect({ url, retries: 3 }).session();
    script = [act, answer('"item"')];
    seen = [];
    const call = session.next();
    if (error === undefined) expect(await call).toBe('item');
    else await expect(call).rejects.toBeInstanceOf(error);
    expect(seen.length).toBe(calls);
  });

  test.each(['read', 'write'])('a %s to which nothing is said is not sent again', async (kind) => {
    script = [silent];
    const options = { timeoutMs: 200, writes: kind === 'write' };
    const call = connect({ url, retries: 3 }).call('q', {}, options);
    await expect(call).rejects.toBeInstanceOf(TimeoutError);
    expect(seen.length).toBe(1);
  });

  test('each write has a key of its own', async () => {
    script = [answer('1')];
    const caller = connect({ url });
    for (let i = 0; i < 100; i++) await caller.call('q');
    expect(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(100);
  });

  test('a write without a reply: the outcome is unknown', async () => {
    script = [reset];
    const call = connect({ url, retries: 2 }).call('q');
    await expect(call).rejects.toBeInstanceOf(UnknownOutcomeError);
    expect(seen.length).toBe(3);
  });

  test.each([
    ['next', 1],
    ['collect', 2],
  ])('a session step, which has no idempotency key, is not repeated: %s', async (tool, calls) => {
    script = [answer('"id"')];
    const session = await connect({ url }).session();
    script = [reset, answer('[]')];
    seen = [];
    const call = tool === 'next' ? session.next() : session.collect();
    if (calls === 1) await expect(call).rejects.toBeInstanceOf(UnknownOutcomeError);
    else expect(await call).toEqual([]);
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(
      Array.from({ length: calls }, () => undefined),
    );
  });

  test.each([
    ['read', false],
    ['write', true],
  ])('a %s that was refused by the system is sent again', async (_, writes) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const free = (other.address() as AddressInfo).port;
    await new Promise((resolve) => other.close(resolve));
    const waits: number[] = [];
    const closed = connect({
      url: `http://127.0.0.1:${free}`,
      onRetry: ({ waitMs }) => waits.push(waitMs),
    });
    await expect(closed.call('q', {}, { writes })).rejects.toThrow();
    expect(waits.length).toBe(3);
  });

  test('Retry-After is waited for', async () => {
    script = [refuse(503, 'OVERLOADED', true, { 'Retry-After': '1' }), answer('1')];
    const waits: number[] = [];
    await connect({ url, onRetry: ({ waitMs }) => waits.push(waitMs) }).call('q');
    expect(waits).toEqual([1000]);
  });
});

describe('time [P12]', () => {
  test('the deadline holds over all tries', async () => {
    script = [refuse(503, 'OVERLOADED', true)];
    const took: number[] = [];
    // Other work of this machine may be in the way of one of them, not of all.
    for (let i = 0; i < 4 && Math.min(...took) >= 350; i++) {
      const began = performance.now();
      const call = connect({ url, retries: 100 }).call('q', {}, { timeoutMs: 300 });
      await expect(call).rejects.toBeInstanceOf(TimeoutError);
      took.push(performance.now() - began);
    }
    expectFigure(Math.min(...took), 350, 'ms of a deadline of 300');
  });

  test('a silent server: the call ends at its timeout, which the server knows', async () => {
    script = [silent];
    const call = connect({ url }).call('q', {}, { timeoutMs: 200, writes: false });
    await expect(call).rejects.toBeInstanceOf(TimeoutError);
    const told = Number(seen[0]!.headers['x-request-timeout-ms']);
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThanOrEqual(150);
  });

  test('the timeout error of a server is thrown, not a TimeoutError', async () => {
    script = [refuse(504, 'EMBEDDING_TIMEOUT', true, { 'Retry-After': '1' })];
    const call = connect({ url }).call('q', {}, { timeoutMs: 500 });
    await expect(call).rejects.toMatchObject({ name: 'TrellisError', code: 'EMBEDDING_TIMEOUT' });
    expect(seen.length).toBe(1);
  });

  test.each([
    [200, 150],
    [10_000, 9_500],
    [30_000, 29_000],
  ])('a deadline of %i ms leaves time for the reply', async (timeoutMs, most) => {
    script = [answer('1')];
    seen = [];
    await connect({ url }).call('q', {}, { timeoutMs });
    const sent = Number(seen[0]!.headers['x-request-timeout-ms']);
    expect(sent).toBeGreaterThan(most - 150);
    expect(sent).toBeLessThanOrEqual(most);
  });

  test('an aborted call ends with the reason given', async () => {
    script = [silent];
    const call = connect({ url }).call('q', {}, { signal: AbortSignal.timeout(50) });
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

test('P12 a signal that outlives its calls keeps nothing of them', async () => {
  script = [refuse(503, 'OVERLOADED', true), answer('1'), answer('1')];
  const { signal } = new AbortController();
  const caller = connect({ url });
  for (let calls = 0; calls < 2; calls++) await caller.call('q', {}, { signal });
  expect(getEventListeners(signal, 'abort').length).toBe(0);
});

test('names, keys and bodies', async () => {
  script = [answer('{"ok":true}')];
  await connect({ url, apiKey: 'k', headers: { 'X-A': 'b' } }).query('my query', {
    n: 7n,
    f: new Float32Array([0.1]),
  });
  expect(seen[0]).toMatchObject({
    url: `/base${turn}/my%20query`,
    body: '{"n":7,"f":[0.1]}',
    headers: { 'x-api-key': 'k', 'x-a': 'b', 'content-type': 'application/json' },
  });
});

describe('exact integers [P06]', () => {
  const text =
    '{"a":9007199254740993,"b":[{"n":-9223372036854775808,"s":"9007199254740993"}],"c":5,"d":1e300}';
  const places = (p: 1 | 2 | 3) => ({ a: p, b: [{ n: p }] as const, c: p, d: 0 as const });

  test('refused, as bigint, as a string', () => {
    expect(() => decode(text, places(1))).toThrow(UnsafeIntegerError);
    expect(decode(text, places(2))).toEqual({
      a: 9007199254740993n,
      b: [{ n: -9223372036854775808n, s: '9007199254740993' }],
      c: 5n,
      d: 1e300,
    });
    expect(decode(text, places(3))).toMatchObject({ a: '9007199254740993', c: '5' });
  });

  test('fuzzed digits agree with BigInt', () => {
    const count = process.env.TRELLIS_TEST_LONG === '1' ? 2_000_000 : 20_000;
    for (let i = 0; i < count; i++) {
      const length = 1 + Math.floor(Math.random() * 38);
      let digits = String(1 + Math.floor(Math.random() * 9));
      while (digits.length < length) digits += Math.floor(Math.random() * 10);
      const body = `{"a":${Math.random() < 0.5 ? '-' : ''}${digits}}`;
      const { a } = decode<{ a: bigint }>(body, { a: 2 });
      if (`{"a":${a}}` !== body) expect.fail(body);
    }
  });

  test('numbers that are no integers of the schema stay as JSON.parse has them', () => {
    const body =
      '{"x":12345678901234567890,"y":[1.5,12345678901234567890.5],"t":"12345678901234567"}';
    expect(decode(body, { z: 2 })).toEqual(JSON.parse(body));
  });

  test('floats, strings and names with many digits are no integers', () => {
    const values = [
      ...['0.8414709848078965', '-1.12345678901234567', '5e-324', '1.7976931348623157e308'],
      ...['1e-1234567890123456', '0.1234567890123456789e+12', '-0.00000000000000001'],
    ];
    for (const float of values) {
      for (const int of ['9007199254740993', '-9007199254740993', '7']) {
        const body = `{"f":${float},"n":${int},"l":[${float},${float}],"t":"x${int}\\"${int}","${int}":"\\\\"}`;
        const plain = JSON.parse(body);
        for (const exact of [decode(body, { n: 2 }), decodeReply(body, { n: 2 })]) {
          expect(exact).toEqual({ ...plain, n: BigInt(int) });
        }
      }
    }
  });

  test('a string of any length next to an integer', () => {
    for (const piece of ['abc', '\\n', '\\\\', '\\"', '1234567890123456']) {
      const body = `{"s":"${piece.repeat(400_000)}","n":9007199254740993}`;
      for (const exact of [decode(body, { n: 3 }), decodeReply(body, { n: 3 })]) {
        expect((exact as { n: string }).n).toBe('9007199254740993');
        expect((exact as { s: string }).s === JSON.parse(body).s).toBe(true);
      }
    }
  });

  test('many of them, in time that grows as they do', () => {
    const digits = Array.from({ length: 30_000 }, (_, i) => `${9007199254740993n + BigInt(i)}`);
    const body = `[${digits.join()}]`;
    expect(decode<bigint[]>(body, [2]).join()).toBe(digits.join());
    expect((decodeReply(body, [2]) as bigint[]).join()).toBe(digits.join());
  });

  test('sent as digits', () => {
    expect(encode({ a: 2n ** 64n, b: ['x', -1n] })).toBe('{"a":18446744073709551616,"b":["x",-1]}');
    expect(encode({ v: new Float32Array([0.1, 1e-7, 3.4e38, -2.5]) })).toBe(
      '{"v":[0.1,1e-7,3.4e+38,-2.5]}',
    );
  });
});

test('bound functions call by name, with what is known of the query', async () => {
  const calls: unknown[] = [];
  const caller = {
    call: async <T>(...given: unknown[]) => {
      calls.push(given);
      return 7 as T;
    },
  };
  const shape = { writes: false, at: 0 } as const;
  const db = bind<{ find(params: object, options?: object): Promise<number> }>(caller, {
    find: shape,
  });
  expect(await db.find({ a: 1 }, { timeoutMs: 5 })).toBe(7);
  expect(calls).toEqual([
    ['find', { a: 1 }, { timeoutMs: 5, shape: { ...shape, decode: expect.any(Function) } }],
  ]);
});
