// The bytes of bodies and responses that one caller can hold while others are active (access.md 8; A28). Each
// test has one caller that takes everything, and others that get their share.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeKeyFile } from '../../../server/auth/key-file.js';
import { makeKey } from '../../../server/auth/key-record.js';
import { ByteShares, shareBuffer, forgetShares } from '../../../server/http/byte-shares.js';
import type { Exchange } from '../../../server/http/exchange.js';
import { makeFolder } from '../../support/project.js';
import { Connection, requestBytes } from '../../support/server/http.js';
import { startServer } from '../../support/server/server.js';
import { startApp, transports } from '../running-app.js';

const keys = ['hog', 'other', 'third'].map((name) => makeKey({ name, role: 'admin' }, new Date()));
const [hog, other, third] = keys.map(({ text }) => ({ 'x-api-key': text }));
type Who = typeof hog;

const kB = 1_000;
const MB = 1_000 * kB;

async function start(transport: (typeof transports)[number], settings: Record<string, string>) {
  const path = join(makeFolder(), 'keys.json');
  writeKeyFile(
    path,
    keys.map(({ record }) => record),
  );
  return startApp(transport, { ...settings, 'auth.keys_file': path });
}

/** The head of a body of 300 kB, and so much of it. */
async function begin(connecting: Promise<Connection>, who: Who, bytes: number, path = '/size') {
  const connection = await connecting;
  const headers = { ...who, 'Content-Length': String(300 * kB) };
  connection.send(requestBytes({ path, headers }));
  connection.send('x'.repeat(bytes));
  return connection;
}

const told = async (connection: Connection) => {
  const { status, text, headers } = await connection.reply({ timeoutMs: 10_000 });
  const code = status === 200 ? text : JSON.parse(text).code;
  return [status, code, headers.get('retry-after')];
};
const refused = [429, 'SHARE_EXCEEDED', '1'];
const whole = [200, '{"size":300000}', undefined];

describe.each(transports)('on %s', (transport) => {
  const setting = { 'limits.buffered_body_bytes': '1MiB' };
  type App = Awaited<ReturnType<typeof start>>;
  const metric = async (app: App, name: string) => {
    const { text } = await app.request({ method: 'GET', path: '/metrics', headers: third! });
    const line = text.split('\n').find((one) => one.startsWith(`trellis_${name} `));
    return Number(line?.split(' ').at(-1));
  };

  test('bodies: a single caller has all, next to others half, by their lengths', async () => {
    const app = await start(transport, setting);
    const held = [];
    for (let i = 0; i < 3; i++) held.push(await begin(app.connect(), hog, 200 * kB));
    await expect.poll(() => metric(app, 'buffered_body_bytes')).toBe(600 * kB);
    const mine = await begin(app.connect(), other, 100 * kB);
    await expect.poll(() => metric(app, 'buffered_body_bytes')).toBe(700 * kB);
    // Nothing of its body was read.
    expect(await told(await begin(app.connect(), hog, 0))).toEqual(refused);
    expect(await told(await begin(app.connect(), third, 300 * kB))).toEqual(whole);
    mine.send('x'.repeat(200 * kB));
    expect(await told(mine)).toEqual(whole);
    for (const connection of held) {
      connection.send('x'.repeat(100 * kB));
      expect(await told(connection)).toEqual(whole);
    }
    expect(await told(await begin(app.connect(), hog, 300 * kB))).toEqual(whole);
    expect(await metric(app, 'share_exceeded_total{what="bytes of bodies"}')).toBe(1);
    app.close();
  });

  test('bodies: a caller that filled the buffer alone loses its newest bodies when others arrive', async () => {
    const app = await start(transport, setting);
    const held = [];
    for (let i = 0; i < 4; i++) {
      held.push(await begin(app.connect(), hog, 240 * kB));
      await expect.poll(() => metric(app, 'buffered_body_bytes')).toBe((i + 1) * 240 * kB);
    }
    const mine = await begin(app.connect(), other, 200 * kB);
    expect(await told(held.pop()!)).toEqual(refused);
    mine.send('x'.repeat(100 * kB));
    expect(await told(mine)).toEqual(whole);
    for (const connection of held) {
      connection.send('x'.repeat(60 * kB));
      expect(await told(connection)).toEqual(whole);
    }
    app.close();
  });

  test('responses: a caller that does not read is refused next to others, and frees its share first', async () => {
    const app = await start(transport, { 'limits.buffered_response_bytes': '64MiB' });
    const leave = async (who: Who, bytes: number) => {
      const connection = await app.connect();
      const before = await metric(app, 'buffered_response_bytes');
      connection.socket.pause();
      connection.send(requestBytes({ path: '/big', headers: who!, body: `{"n":${bytes}}` }));
      await expect.poll(() => metric(app, 'buffered_response_bytes')).toBeGreaterThan(before);
      return connection;
    };
    const ping = async (who: Who) => {
      const connection = await app.connect();
      connection.send(requestBytes({ path: '/ping', headers: who!, body: '{}' }));
      return told(connection);
    };
    const pong = [200, '{"pong":true}', undefined];
    const held = [await leave(hog, 26 * MB), await leave(hog, 26 * MB)];
    expect(await metric(app, 'buffered_response_bytes')).toBeGreaterThan(2 ** 25);
    expect(await ping(hog)).toEqual(pong);
    const mine = await leave(other, 12 * MB);
    expect(await ping(hog)).toEqual(refused);
    expect(await ping(other)).toEqual(pong);
    // Together too much: of the one who has most.
    const connection = await app.connect();
    connection.socket.pause();
    connection.send(requestBytes({ path: '/big', headers: third!, body: '{"n":28000000}' }));
    await expect
      .poll(() => metric(app, 'limit_hits_total{limit="buffered_response_bytes"}'))
      .toBeGreaterThan(0);
    const all = { hog: held, other: [mine], third: [connection] };
    const lengths: Record<string, number[]> = {};
    for (const [name, ones] of Object.entries(all)) {
      lengths[name] = [];
      for (const one of ones) {
        one.socket.resume();
        const length = one.reply({ timeoutMs: 20_000 }).then(
          ({ body }) => body.length,
          () => 0,
        );
        lengths[name].push(await length);
      }
    }
    expect(lengths).toEqual({ hog: [0, 26 * MB], other: [12 * MB], third: [28 * MB] });
    await expect.poll(() => ping(hog)).toEqual(pong);
    app.close();
  });
});

test('bodies are counted over all threads', async () => {
  const config = { 'limits.buffered_body_bytes': '1MiB', 'server.http_threads': 3 };
  const sources = { 'main.hx': 'QUERY ping() => RETURN "pong"' };
  const server = await startServer({ sources, config });
  try {
    writeKeyFile(
      join(server.data, 'keys.json'),
      keys.map(({ record }) => record),
    );
    const connect = () => Connection.open(server.port);
    const ping = (who: Who) =>
      server.client.request({ path: 'ping', headers: who!, body: '{}' }, 10_000);
    for (const who of [hog, other])
      await expect.poll(async () => (await ping(who)).status).toBe(200);
    // Until the key file was read nobody was asked for a key.
    const anonymous = async () => (await server.client.request({ path: 'ping' })).status;
    await expect.poll(anonymous).toBe(401);
    for (const who of [hog, other]) await ping(who);
    const held: Connection[] = [];
    for (let i = 0; i < 3; i++) held.push(await begin(connect(), hog, 20 * kB, '/ping'));
    await new Promise((done) => setTimeout(done, 200));
    held.push(await begin(connect(), other, 20 * kB, '/ping'));
    await new Promise((done) => setTimeout(done, 200));
    for (let i = 0; i < 4; i++) {
      const connection = await begin(connect(), hog, 0, '/ping');
      expect(await told(connection)).toEqual(refused);
    }
    for (const connection of held) connection.close();
  } finally {
    await server.dispose();
  }
});

describe('the table of threads', () => {
  const limits = { buffered_body_bytes: 1_000, buffered_response_bytes: 1_000 } as never;
  const by = (holder: string) => ({ holder, method: 'POST' }) as Exchange;
  const two = () => {
    const buffer = shareBuffer(2);
    return {
      buffer,
      rows: [0, 1].map((row) => new ByteShares({ limits, shares: { buffer, row } })),
    };
  };

  test('counts what a caller has on each, and forgets a thread that has ended', () => {
    const { buffer, rows } = two();
    const [first, second] = rows as [ByteShares, ByteShares];
    first.holding('bodies', by('hog')).hold(300);
    second.holding('bodies', by('hog')).hold(300);
    expect(first.holding('bodies', by('hog')).refusalOfBody(1)).toBeUndefined();
    const mine = second.holding('bodies', by('other'));
    mine.hold(10);
    const { code } = first.holding('bodies', by('hog')).refusalOfBody(1) ?? {};
    expect(code).toBe('SHARE_EXCEEDED');
    mine.release();
    // Who was there a moment ago counts as well.
    expect(first.holding('bodies', by('hog')).refusalOfBody(1)).toBeDefined();
    forgetShares(buffer, 1);
    expect(first.isAnyOver('bodies')).toBe(false);
    expect(first.holding('bodies', by('hog')).refusalOfBody(1)).toBeUndefined();
  });

  test('shares of responses are only computed after a caller has had more than half', () => {
    const [shares] = two().rows as [ByteShares];
    let asked = 0;
    const caller = {
      method: 'POST',
      get holder() {
        asked++;
        return 'hog';
      },
    } as Exchange;
    expect(shares.refusalOfCall(caller)).toBeUndefined();
    expect(asked).toBe(0);
    shares.holding('answers', by('other')).hold(1);
    const unread = shares.holding('answers', by('hog'));
    unread.hold(501);
    expect(shares.refusalOfCall(caller)?.code).toBe('SHARE_EXCEEDED');
    expect(shares.refusalOfCall(by('other'))).toBeUndefined();
    unread.release();
    expect(shares.refusalOfCall(caller)).toBeUndefined();
    const before = asked;
    expect(shares.refusalOfCall(caller)).toBeUndefined();
    expect(asked).toBe(before);
  });

  test('more callers than it has places', () => {
    const [shares] = two().rows as [ByteShares];
    const all = Array.from({ length: 3_000 }, (_, i) =>
      shares.holding('bodies', by(`caller ${i}`)),
    );
    for (const one of all) one.hold(600);
    expect(shares.isAnyOver('bodies')).toBe(true);
    for (const one of all) one.release();
    expect(shares.isAnyOver('bodies')).toBe(false);
    const [late] = all;
    late!.hold(600);
    expect(late!.isOver).toBe(true);
  });
});
