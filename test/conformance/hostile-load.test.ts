// Hostile rows that are behaviour over time: slow senders, pipelining, idle connections, clients
// that do not read, calls in parallel, and queries that want too much. Numbers are smaller in the
// fast run.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasUws } from '../support/server/has-uws.js';
import { corpus, textOf } from '../support/corpus/case.js';
import { Client, Connection, ConnectionClosed, requestBytes } from '../support/server/http.js';
import type { ConfigValue } from '../support/project.js';
import { runCli, type Server, startServer } from '../support/server/server.js';
import { expectFigure } from '../support/run/figure.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const fixture = JSON.parse(readFileSync(join(corpus, 'fixture/hostile.json'), 'utf8'));
const sources = {
  'schema.hx': textOf(fixture.schema),
  'queries.hx': textOf(fixture.queries),
  'load.hx': `
QUERY linkAll(id: ID) => e <- AddE<Knows>::From(id)::To(N<Person>) RETURN e::COUNT
QUERY walk4() => n <- N<Person>::Out<Knows>::Out<Knows>::Out<Knows>::Out<Knows>::COUNT RETURN n
QUERY greedy() =>
  xs <- N<Person>::Out<Knows>::Out<Knows>::Out<Knows>
  n <- xs::DEDUP::COUNT
  ys <- xs::ORDER<Desc>(_::{age})
  RETURN n, ys::RANGE(0, 1)::ID
QUERY ids() => p <- N<Person> RETURN p::ID
QUERY texts() => x <- N<Scalars> RETURN x::{text}
`,
};

/** The default of `limits.body_bytes`. */
const bodyMiB = 32;

const start = (config: Record<string, ConfigValue> = {}, env: Record<string, string> = {}) =>
  startServer({ sources, config, env });

async function withServer(
  config: Record<string, ConfigValue>,
  work: (server: Server) => Promise<void>,
): Promise<void> {
  const server = await start(config);
  try {
    await work(server);
  } finally {
    await server.dispose();
  }
}

/** Sends all requests together and expects the responses in order. */
async function pipelineWrites(port: number, count: number): Promise<void> {
  const connection = await Connection.open(port);
  const requests = Array.from({ length: count }, (_, v) =>
    requestBytes({ path: '/putU32', body: `{"v":${v}}` }),
  );
  connection.send(Buffer.concat(requests));
  for (let v = 0; v < count; v++) {
    const reply = await connection.reply({ timeoutMs: 60_000 });
    expect([v, reply.status, JSON.parse(reply.text).x?.u32]).toEqual([v, 200, v]);
  }
  connection.close();
}

const head = (path: string, more: string) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;

/** Writes until the peer closes; gives the seconds it took and the status of an answer, if any. */
async function trickle(port: number, first: string, piece: Buffer, everyMs: number) {
  // The server may count from here on: it hears of a connection before this process hears that it has one.
  const started = Date.now();
  const connection = await Connection.open(port);
  connection.send(first);
  const timer = setInterval(() => connection.send(piece), everyMs);
  const closed = await connection.closed(40_000);
  clearInterval(timer);
  const seconds = (Date.now() - started) / 1000;
  let status: number | undefined;
  try {
    status = (await connection.reply({ timeoutMs: 10 })).status;
  } catch (error) {
    if (!(error instanceof ConnectionClosed)) throw error;
  }
  connection.close();
  return { closed, seconds, status };
}

describe.concurrent('senders', () => {
  let server: Server;
  beforeAll(async () => {
    // Opens all connections together: one above the limit would be closed without a response.
    server = await start({ 'limits.connections': 12_000 });
  });
  afterAll(() => server?.dispose());

  test('a chunked body that passes the limit in the middle [XH39]', async () => {
    const connection = await Connection.open(server.port);
    connection.send(head('/ping', 'Transfer-Encoding: chunked'));
    const chunk = Buffer.concat([
      Buffer.from('100000\r\n'),
      Buffer.alloc(1 << 20, ' '),
      Buffer.from('\r\n'),
    ]);
    // As much as the limit allows. Then one byte more, in a piece of its own: what a client sends behind the
    // refusal may meet a closed socket, whose reset would take the answer with it.
    for (let sent = 0; sent < bodyMiB; sent++) connection.send(chunk);
    connection.send('1\r\n \r\n');
    const { status, text } = await connection.reply();
    expect([status, JSON.parse(text).code]).toEqual([413, 'BODY_TOO_LARGE']);
    expect(await connection.closed(20_000)).toBe(true);
    connection.close();
  });

  test.skipIf(!hasUws)(
    'a body of 1 byte per second [XH41]',
    async () => {
      const first = head('/ping', 'Content-Length: 1000');
      const { closed, seconds } = await trickle(server.port, first, Buffer.from(' '), 1000);
      expect(closed).toBe(true);
      expect(seconds).toBeGreaterThan(5);
      expectFigure(seconds, 20, 's to the end of a trickle');
    },
    60_000,
  );

  // uWebSockets.js closes a connection on which a request arrives while an earlier one waits for its
  // answer, so pipelined writes need the node:http twin; answers given at once pipeline on both.
  test('1,000 pipelined requests are answered in order [XH45]', async () => {
    await withServer({ 'server.transport': 'node' }, async ({ port }) => {
      await pipelineWrites(port, 1000);
    });
  });

  test('1,000 pipelined requests that are answered immediately', async () => {
    const connection = await Connection.open(server.port);
    const one = requestBytes({ path: '/mcp/init', body: '{}' });
    connection.send(Buffer.concat(Array.from({ length: 1000 }, () => one)));
    for (let i = 0; i < 1000; i++) {
      const reply = await connection.reply({ timeoutMs: 60_000 });
      expect([i, reply.status, reply.text.length]).toEqual([i, 200, 38]);
    }
    connection.close();
  });

  test('a connection that never sends a byte is no error [H01]', async () => {
    const connection = await Connection.open(server.port);
    await pause(200);
    connection.close();
    const client = new Client(server.port);
    expect(await client.post('ping')).toEqual({ data: 'pong' });
    client.close();
    expect(server.stderr).not.toMatch(
      /"level":"(error|warn)","msg":"(?!uWebSockets.js does not load)/,
    );
  });

  test('idle connections do not slow others and are closed [XH47]', async () => {
    const count = long ? 10_000 : 400;
    const idle: Connection[] = [];
    for (let i = 0; i < count; i += 100)
      idle.push(
        ...(await Promise.all(Array.from({ length: 100 }, () => Connection.open(server.port)))),
      );
    const client = new Client(server.port);
    const started = Date.now();
    for (let i = 0; i < 200; i++) await client.post('ping');
    expectFigure((Date.now() - started) / 200, 50, 'ms beside idle connections');
    client.close();
    const closed = await Promise.all(idle.map((connection) => connection.closed(30_000)));
    expect(closed.filter((each) => !each)).toEqual([]);
  });

  test('a pooled connection that was idle is seen closed or still works [H23]', async () => {
    const waits = long ? [5_000, 15_000, 60_000, 85_000] : [5_000, 15_000];
    await Promise.all(
      waits.map(async (wait) => {
        const connection = await Connection.open(server.port);
        expect((await connection.request({ path: 'ping' })).status).toBe(200);
        await pause(wait);
        if (wait <= 9000) expect(connection.ended).toBe(false);
        const next = connection.ended ? await Connection.open(server.port) : connection;
        expect((await next.request({ path: 'ping' })).status).toBe(200);
        next.close();
      }),
    );
  });

  test('800 connections with a request each in flight: no 503 [H36]', async () => {
    const connections = await Promise.all(
      Array.from({ length: 800 }, () => Connection.open(server.port)),
    );
    for (let round = 0; round < 3; round++) {
      const path = ['people', 'putText', 'countPeople'][round]!;
      const replies = await Promise.all(
        connections.map((one) => one.request({ path, body: '{"v":"x"}' }, 60_000)),
      );
      expect(replies.filter((reply) => reply.status !== 200).map((reply) => reply.text)).toEqual(
        [],
      );
    }
    for (const connection of connections) connection.close();
  });
});

test.concurrent('900 KB at 20 KB/s against limits.receive_time [XH43]', async () => {
  await withServer({ 'limits.receive_time': '10s' }, async (server) => {
    const first = head('/ping', 'Content-Length: 900000');
    const slow = await trickle(server.port, first, Buffer.alloc(2048, ' '), 100);
    expect(slow.closed).toBe(true);
    // The limit is never early; 50 ms allow for the clock of this process.
    expect(slow.seconds).toBeGreaterThan(9.95);
    expectFigure(slow.seconds, 16, 's of a receive time of 10');
  });
});

describe('on one server', () => {
  let server: Server;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.dispose());

  test('parallel calls of one session [XS34] [S41]', async () => {
    for (let i = 0; i < 20; i++) await server.client.post('addPerson', { name: `p${i}`, age: i });
    const session = await server.client.post('mcp/init');
    const call = { connection_id: session };
    await server.client.post('mcp/n_from_type', { ...call, data: { node_type: 'Person' } });
    const clients = Array.from({ length: 20 }, () => new Client(server.port));
    const items = await Promise.all(clients.map((client) => client.post('mcp/next', call)));
    expect(new Set(items.map((item) => item.id)).size).toBe(20);
    expect(await server.client.post('mcp/next', call)).toBeNull();
    for (const client of clients) client.close();
  });

  test('more than 32 waiting calls of one session are 429 SESSION_BUSY [XS34]', async () => {
    const session = await server.client.post('mcp/init');
    const clients = Array.from({ length: 120 }, () => new Client(server.port));
    await Promise.all(clients.map((client) => client.open()));
    const body = JSON.stringify({ connection_id: session, data: { node_type: 'Person' } });
    const replies = await Promise.all(
      clients.map((client) => client.request({ path: 'mcp/n_from_type', body })),
    );
    const codes = replies.map(({ status, text }) => (status === 200 ? 200 : JSON.parse(text).code));
    expect(codes.filter((code) => code !== 200 && code !== 'SESSION_BUSY')).toEqual([]);
    expect(codes.filter((code) => code === 200).length).toBeGreaterThanOrEqual(33);
    for (const client of clients) client.close();
  });

  test('two first vectors of different dimension: exactly one wins [XV11]', async () => {
    const clients = Array.from({ length: 8 }, () => new Client(server.port));
    const replies = await Promise.all(
      clients.map((client, i) => {
        const body = JSON.stringify({ vec: Array(3 + (i % 2)).fill(1) });
        return client.request({ path: 'addWide', body });
      }),
    );
    const lost = replies.filter((reply) => reply.status !== 200);
    expect(lost).toHaveLength(4);
    for (const reply of lost) expect(JSON.parse(reply.text).code).toBe('VECTOR_DIMENSION');
    for (const client of clients) client.close();
  });

  test('the same vector many times [XV15]', async () => {
    const vec = Array.from({ length: 32 }, (_, i) => Math.sin(i));
    const count = long ? 100_000 : 1500;
    const clients = Array.from({ length: 50 }, () => new Client(server.port));
    await Promise.all(
      clients.map(async (client, c) => {
        for (let i = c; i < count; i += clients.length)
          await client.post('addEmb', { vec, tag: String(i) });
        client.close();
      }),
    );
    const started = Date.now();
    for (let i = 0; i < 50; i++) {
      const { xs } = await server.client.post('near', { vec, k: 10 });
      expect(xs).toHaveLength(10);
      expect(xs[0].score).toBeCloseTo(1, 5);
    }
    expectFigure((Date.now() - started) / 50, 200, 'ms for a search among equals');
  }, 600_000);
});

/** A complete Knows graph, loops included. */
async function sowComplete(server: Server, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, i) => ({ name: `p${i}`, age: i % 100 }));
  await server.client.post('addMany', { rows });
  for (const id of (await server.client.post('ids')).p) await server.client.post('linkAll', { id });
}

const metric = async (server: Server, name: string): Promise<number> => {
  const { text } = await server.client.request({ method: 'GET', path: 'metrics' });
  const lines = text.split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};

describe('queries that want too much', () => {
  const people = long ? 1001 : 150;
  let server: Server;
  beforeAll(async () => {
    // Long, so that a busy machine reaches the limit of memory before that of time.
    server = await start({ 'limits.query_time': '2m', 'limits.query_memory': '16MiB' });
    await sowComplete(server, people);
  }, 600_000);
  afterAll(() => server?.dispose());

  test('visits: 504 QUERY_TIMEOUT, and the next is served [XR01]', async () => {
    const restarts = await metric(server, 'trellis_worker_restarts_total');
    const other = new Client(server.port);
    const started = Date.now();
    // Few people are through with three steps in less than the time.
    const headers = { 'X-Request-Timeout-Ms': '1000' };
    const reply = await other.request({ path: long ? 'walk3' : 'walk4', headers });
    const seconds = (Date.now() - started) / 1000;
    expect([reply.status, JSON.parse(reply.text).code]).toEqual([504, 'QUERY_TIMEOUT']);
    expectFigure(seconds, 1.1, 's of a query time of 1');
    const next = Date.now();
    expect(await server.client.post('countPeople')).toEqual({ n: people });
    expectFigure(Date.now() - next, 500, 'ms behind it');
    expect(await metric(server, 'trellis_worker_restarts_total')).toBe(restarts);
    other.close();
  });

  test('memory: 413 QUERY_MEMORY, and the next is served [XR03]', async () => {
    const reply = await server.client.request({ path: 'greedy' }, 60_000);
    expect([reply.status, JSON.parse(reply.text).code]).toEqual([413, 'QUERY_MEMORY']);
    expect(await server.client.post('countPeople')).toEqual({ n: people });
  });
});

test('clients that do not read are closed, others are served [XR05]', async () => {
  await withServer({ 'limits.buffered_response_bytes': '32MiB' }, async (server) => {
    const v = 'x'.repeat(1 << 20);
    // The kernel takes some megabytes of each answer; the rest has to wait in the server.
    for (let i = 0; i < 24; i++) await server.client.post('putText', { v });
    const greedy = await Promise.all(Array.from({ length: 6 }, () => Connection.open(server.port)));
    for (const connection of greedy) {
      connection.socket.pause();
      connection.send(requestBytes({ path: 'texts' }));
    }
    await pause(3000);
    const started = Date.now();
    expect(await server.client.post('ping')).toEqual({ data: 'pong' });
    expectFigure(Date.now() - started, 500, 'ms beside those who do not read');
    for (const connection of greedy) connection.socket.resume();
    await expect.poll(() => greedy.some(({ ended }) => ended)).toBe(true);
    for (const connection of greedy) connection.close();
    expect((await server.client.post('texts')).x).toHaveLength(24);
  });
});

test('wrong keys: other length, prefix, empty, 10 KB [XA02]', async () => {
  const key = 'tk_right_0123456789abcdef0123456789abcdef';
  const server = await start({ 'limits.auth_failures': 1000 }, { TRELLIS_API_KEY: key });
  try {
    const attempt = async (value: string) => {
      const reply = await server.client.request({ path: 'ping', headers: { 'x-api-key': value } });
      return `${reply.status} ${JSON.parse(reply.text).code ?? ''}`;
    };
    const wrong = ['x', key.slice(0, -1), `${key}0`, 'k'.repeat(10_000), key.toUpperCase()];
    for (const value of wrong) expect(await attempt(value)).toBe('403 INVALID_API_KEY');
    expect(await attempt('')).toBe('401 API_KEY_REQUIRED');
    expect(await attempt(key)).toBe('200 ');
  } finally {
    await server.dispose();
  }
});

test('roles and query scopes [XA04]', async () => {
  const server = await start();
  try {
    const add = async (name: string, ...flags: string[]) => {
      const env = { TRELLIS_DATA_DIR: server.data };
      const argv = ['keys', 'add', name, server.project, ...flags];
      const done = await runCli(argv, { env, cwd: server.project });
      expect(done.code, done.stderr).toBe(0);
      return /tk_\S+/.exec(done.stdout)![0];
    };
    const keys = {
      read: await add('reader', '--role', 'read'),
      write: await add('writer', '--role', 'write'),
      metrics: await add('prometheus', '--role', 'metrics'),
      scoped: await add('scoped', '--role', 'read', '--queries', 'count*'),
    };
    await pause(1500);
    const attempt = async (key: keyof typeof keys, path: string, body = '{}') => {
      const method = path === 'metrics' ? 'GET' : 'POST';
      const headers = { 'x-api-key': keys[key] };
      const reply = await server.client.request({ method, path, body, headers });
      return reply.status === 200 ? '200' : `${reply.status} ${JSON.parse(reply.text).code}`;
    };
    expect(await attempt('read', 'putText', '{"v":"x"}')).toBe('403 FORBIDDEN');
    expect(await attempt('read', 'people')).toBe('200');
    expect(await attempt('read', 'mcp/init')).toBe('200');
    expect(await attempt('write', 'putText', '{"v":"x"}')).toBe('200');
    expect(await attempt('metrics', 'metrics')).toBe('200');
    expect(await attempt('metrics', 'people')).toBe('403 FORBIDDEN');
    expect(await attempt('scoped', 'countPeople')).toBe('200');
    expect(await attempt('scoped', 'people')).toBe('403 FORBIDDEN');
    expect(await attempt('scoped', 'mcp/init')).toBe('403 FORBIDDEN');
    expect(await attempt('read', '_admin/reload')).toBe('403 FORBIDDEN');
    expect(await attempt('write', '_admin/check')).toBe('403 FORBIDDEN');
  } finally {
    await server.dispose();
  }
});
