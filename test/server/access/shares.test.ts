// What one caller may have of sessions, streams and connections while others are there (access.md 8; A28).
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { TrellisError } from '../../../engine/base/errors.js';
import { defaultLimits } from '../../../engine/base/limits.js';
import { SessionStore } from '../../../engine/session/session-store.js';
import { SeenConnections } from '../../../server/http/connection-share.js';
import { OpenStreams } from '../../../server/mcp/subscriptions/subscriptions.js';
import { Connection } from '../../support/server/http.js';
import { startServer } from '../../support/server/server.js';
import { startMcp } from '../../mcp/running-mcp.js';
import { startApp, transports } from '../running-app.js';

function codeOf(work: () => unknown): string {
  try {
    work();
    return 'ok';
  } catch (error) {
    if (error instanceof TrellisError) return error.code;
    throw error;
  }
}

let last = 0;
const randomBytes = (count: number) => {
  const bytes = new Uint8Array(count);
  new DataView(bytes.buffer).setUint32(0, ++last);
  return bytes;
};
const storeWith = (limits: Partial<typeof defaultLimits>) =>
  new SessionStore({ ...defaultLimits, ...limits }, randomBytes);

describe('sessions', () => {
  test('A29: a single caller has all of them; others take them from a caller with more than a quarter', () => {
    const store = storeWith({ sessions: 100 });
    const first = store.open('hog', 0);
    for (let i = 1; i < 100; i++) store.open('hog', i);
    expect(codeOf(() => store.open('hog', 200))).toBe('TOO_MANY_SESSIONS');
    // None of them has been idle for long.
    const others = Array.from({ length: 70 }, (_, i) => store.open(`other ${i % 3}`, 200));
    expect(codeOf(() => store.get(first.id, 'hog', 201))).toBe('CONNECTION_NOT_FOUND');
    for (const { id, keyId } of others) expect(codeOf(() => store.get(id, keyId, 201))).toBe('ok');
    expect(codeOf(() => store.open('hog', 202))).toBe('SHARE_EXCEEDED');
    expect(store.counts()).toMatchObject({ open: 100, evicted: 70 });
  });

  test('no caller takes from one with less than a quarter, and a running call keeps its session', () => {
    const store = storeWith({ sessions: 8 });
    const busy = store.open('hog', 0);
    store.enter(busy);
    for (let i = 1; i < 8; i++) store.open('hog', i);
    for (let i = 0; i < 6; i++) store.open(`other ${i % 3}`, 100);
    expect(codeOf(() => store.get(busy.id, 'hog', 101))).toBe('ok');
    expect(codeOf(() => store.open('new', 102))).toBe('TOO_MANY_SESSIONS');
  });

  test('without keys the address counts, and opens nothing', () => {
    const store = storeWith({ sessions: 4 });
    for (let i = 0; i < 4; i++) store.open('', i, '10.0.0.1');
    const { id } = store.open('', 10, '10.0.0.2');
    expect(codeOf(() => store.get(id, '', 11))).toBe('ok');
    expect(codeOf(() => store.open('', 12, '10.0.0.1'))).toBe('SHARE_EXCEEDED');
  });

  test('what they keep likewise', () => {
    const items = (count: number) => ({ ids: new Uint32Array(count) });
    const store = storeWith({ session_memory: 40_000 });
    const settle = (session: ReturnType<typeof store.open>) =>
      codeOf(() => store.settle(session, 'replace', items(1_000)));
    const told: string[] = [];
    while (told.at(-1) !== 'OVERLOADED') told.push(settle(store.open('hog', told.length)));
    expect(told.length).toBeGreaterThan(4);
    expect(settle(store.open('other', 100))).toBe('ok');
    expect(settle(store.open('hog', 101))).toBe('SHARE_EXCEEDED');
    expect(settle(store.open('third', 102))).toBe('ok');
    expect(store.counts().evicted).toBeGreaterThan(0);
  });
});

describe('streams', () => {
  test('are so many of one caller, and so many of all', () => {
    const streams = new OpenStreams({ streams: 6, streams_per_caller: 4 });
    const open = (holder: string): string =>
      codeOf(() => {
        streams.check(holder);
        streams.change(holder, 1);
      });
    expect(['a', 'a', 'a', 'a', 'a', 'b', 'b', 'b', 'c'].map(open)).toEqual([
      ...['ok', 'ok', 'ok', 'ok', 'SHARE_EXCEEDED', 'ok', 'ok', 'RATE_LIMITED', 'RATE_LIMITED'],
    ]);
    streams.change('a', -1);
    expect(['a', 'c'].map(open)).toEqual(['ok', 'RATE_LIMITED']);
  });

  test('of agents: a caller that has used its share gets an error, another one is served', async () => {
    const running = await startMcp('node', 'QUERY ping() => RETURN "pong"', {
      'limits.streams_per_caller': '2',
    });
    const [hog, other] = [running.key('read'), running.key('write')];
    const connections: Connection[] = [];
    const listen = async (key: string): Promise<string> => {
      const connection = await Connection.open(running.port);
      connections.push(connection);
      const id = connections.length;
      const meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const method = 'subscriptions/listen';
      const params = { notifications: { toolsListChanged: true }, _meta: meta };
      const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      const head = [
        'POST /mcp HTTP/1.1',
        'Host: localhost',
        'Content-Type: application/json',
        'MCP-Protocol-Version: 2026-07-28',
        `Mcp-Method: ${method}`,
        `x-api-key: ${key}`,
        `Content-Length: ${Buffer.byteLength(body)}`,
      ];
      const told = new Promise<string>((resolve) => {
        connection.socket.once('data', (chunk: Buffer) => resolve(String(chunk)));
      });
      connection.socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
      const text = await told;
      return /SHARE_EXCEEDED/.test(text) ? 'SHARE_EXCEEDED' : text.slice(9, 12);
    };
    const told: string[] = [];
    for (const key of [hog, hog, hog, other]) told.push(await listen(key));
    expect(told).toEqual(['200', '200', 'SHARE_EXCEEDED', '200']);
    for (const connection of connections) connection.close();
    running.close();
  });
});

const remote = Object.values(networkInterfaces())
  .flat()
  .find((entry) => entry?.family === 'IPv4' && !entry.internal)?.address;

describe('connections', () => {
  test.skipIf(remote === undefined).each(transports)(
    'of one address end above their number on %s, those of this machine do not',
    async (transport) => {
      const settings = { 'limits.connections_per_address': '8', 'server.host': '0.0.0.0' };
      const app = await startApp(transport, { ...settings, 'server.insecure_no_auth': 'true' });
      const open = async (count: number, host?: string) => {
        const all = await Promise.all(Array.from({ length: count }, () => app.connect(host)));
        const ask = (one: Connection) =>
          one.request({ path: '/ping', body: '{}' }).then(
            () => true,
            () => false,
          );
        const isOpen = await Promise.all(all.map(ask));
        return { all, served: isOpen.filter(Boolean).length };
      };
      const first = await open(12, remote);
      expect(first.served).toBe(8);
      const local = await open(12);
      expect(local.served).toBe(12);
      // Who has ended some may have others.
      for (const connection of first.all) connection.close();
      await expect.poll(async () => (await open(1, remote)).served).toBe(1);
      const { text } = await app.request({ method: 'GET', path: '/metrics' });
      expect(text).toMatch(/limit_hits_total\{limit="connections_per_address"\} [1-9]/);
      for (const connection of local.all) connection.close();
      app.close();
    },
  );

  test.skipIf(remote === undefined)('are counted over all threads', async () => {
    const config = {
      ...{ 'limits.connections_per_address': 8, 'server.host': '0.0.0.0' },
      ...{ 'server.insecure_no_auth': true, 'server.http_threads': 3 },
    };
    const sources = { 'main.hx': 'QUERY ping() => RETURN "pong"' };
    const server = await startServer({ sources, config });
    try {
      const all = await Promise.all(
        Array.from({ length: 30 }, () => Connection.open(server.port, remote)),
      );
      const served = await Promise.all(
        all.map((one) =>
          one.request({ path: 'ping', body: '{}' }).then(
            () => 1,
            () => 0,
          ),
        ),
      );
      const count = served.reduce<number>((sum, one) => sum + one, 0);
      expect(count).toBeGreaterThan(0);
      expect(count).toBeLessThanOrEqual(8);
      for (const connection of all) connection.close();
    } finally {
      await server.dispose();
    }
  });

  test('the tables of the system are read as they are written', () => {
    const line = (local: string, other: string, state: string) =>
      `   0: ${local}:1B39 ${other}:D431 ${state} 00000000:00000000 00:00000000 00000000`;
    const four = ['  sl  local_address rem_address   st', line('0700000A', '0900000A', '01')];
    four.push(line('0700000A', '0900000A', '08'), line('0700000A', '0900000A', '06'));
    const six = [
      line('B80D0120020001000000000001000000', 'B80D0120030001000000000001000000', '01'),
    ];
    six.push(line('0000000000000000FFFF00000700000A', '0000000000000000FFFF00000900000A', '01'));
    const seen = new SeenConnections(
      3,
      () => 0x1b39,
      (path) => (path.endsWith('6') ? six : four).join('\n'),
    );
    expect(seen.admits(() => '10.0.0.9', 3, 0)).toBe(true);
    // It is one of the three that the system tells.
    expect(seen.admits(() => '10.0.0.9', 4, 1)).toBe(true);
    expect(seen.admits(() => '10.0.0.8', 5, 1)).toBe(true);
    four.push(line('0700000A', '0900000A', '01'));
    expect(seen.admits(() => '10.0.0.9', 6, 1_000_000)).toBe(false);
    expect(seen.admits(() => '2001:db8:1:3::7', 7, 1_000_000)).toBe(true);
    expect(seen.admits(() => '127.0.0.1', 9, 1_000_000)).toBe(true);
    const elsewhere = new SeenConnections(
      1,
      () => 1,
      () => {
        throw new RangeError('no such file');
      },
    );
    expect(elsewhere.admits(() => '10.0.0.9', 50, 0)).toBe(true);
  });
});
