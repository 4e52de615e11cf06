// What a request may look like and what comes back, on both transports: order of checks, paths,
// methods, media types, ids, errors, times (http.md 3 to 5).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type Request, requestBytes } from '../support/server/http.js';
import { type RunningApp, startApp, transports } from './running-app.js';
import { expectFigure } from '../support/run/figure.js';

interface Case extends Request {
  name?: string;
  status: number;
  code?: string;
  /** Members of the body. */
  body?: string;
  like?: object;
  replyHeaders?: Record<string, string>;
}

const get = (path: string, status: number, more: Partial<Case> = {}): Case => ({
  method: 'GET',
  path,
  status,
  ...more,
});

const paths: Case[] = [
  { path: '/ping', status: 200, like: { pong: true } },
  { path: '//ping', status: 200 },
  { path: '////ping/', status: 200 },
  { path: '/ping/', status: 200 },
  { path: '/ping?x=1', status: 200 },
  { path: '/ping//', status: 404, code: 'NOT_FOUND' },
  { path: '/ping/x', status: 404, code: 'NOT_FOUND' },
  { path: '/%70ing', status: 404, code: 'NOT_FOUND' },
  { path: '/../../etc/passwd', status: 404, code: 'NOT_FOUND' },
  { path: '/./ping', status: 404, code: 'NOT_FOUND' },
  {
    path: '/Ping',
    status: 404,
    like: { hint: 'Did you mean `ping`?', error: "Couldn't find `Ping` of type Query" },
  },
  { path: '/__proto__', status: 404, code: 'NOT_FOUND' },
  { path: '/constructor', status: 404, code: 'NOT_FOUND' },
  { path: '/toString', status: 404, code: 'NOT_FOUND' },
  { path: '/mcp/toString', status: 404, like: { args: { name: 'toString', kind: 'MCP' } } },
  { path: '/mcp/inti', status: 404, like: { hint: 'Did you mean `init`?' } },
  { path: '/mcp/init/', status: 200 },
  { path: '//mcp/init', status: 200 },
  { path: '/metrics', status: 200, like: { pong: true } },
  get('/nope', 404, { code: 'NOT_FOUND' }),
  get('/ping', 405, { code: 'METHOD_NOT_ALLOWED', replyHeaders: { allow: 'POST' } }),
  get('/mcp/init', 405, { replyHeaders: { allow: 'POST' } }),
  { path: '/version', status: 405, replyHeaders: { allow: 'GET, HEAD' } },
  { method: 'PUT', path: '/metrics', status: 405, replyHeaders: { allow: 'GET, HEAD, POST' } },
  { method: 'OPTIONS', path: '/ping', status: 405, code: 'METHOD_NOT_ALLOWED' },
  { method: 'DELETE', path: '/nope', status: 404 },
  get('/', 200, { like: { name: 'trellisdb', ready: true } }),
  get('/livez', 200, { like: { live: true } }),
  get('/healthz', 200, { like: { live: true } }),
  get('/readyz', 200, { like: { ready: true, writes: true, phase: 'serving' } }),
  get('/version', 200, { like: { name: 'trellisdb', interface: 1, compat: 'trellis' } }),
  get('/slowlog', 200),
];

const typed = (type: string | null, body: string): Case => ({
  path: '/echo',
  headers: { 'Content-Type': type },
  body,
  status: 200,
});
const refusedType = (type: string): Case => ({
  ...typed(type, '{}'),
  status: 415,
  code: 'UNSUPPORTED_MEDIA_TYPE',
});

const media: Case[] = [
  typed(null, '{}'),
  typed('application/json', '{}'),
  typed('Application/JSON', '{}'),
  typed('application/json; charset=utf-8', '{}'),
  typed('application/json;charset="UTF-8"; x=1', '{}'),
  typed('text/plain', ''),
  refusedType('text/plain'),
  refusedType('application/x-www-form-urlencoded'),
  refusedType('application/json; charset=utf-16'),
  refusedType('application/json;    charset=utf-16'),
  refusedType('application/jsonx'),
  refusedType('multipart/form-data'),
  {
    ...typed(null, '{}'),
    headers: { 'Content-Encoding': 'gzip' },
    status: 415,
    code: 'UNSUPPORTED_ENCODING',
  },
  { ...typed(null, '{}'), headers: { 'Content-Encoding': 'identity' } },
  { ...typed(null, '{}'), headers: { 'Accept-Encoding': 'gzip', Accept: 'text/html' } },
];

const faults: Case[] = [
  { path: '/missing', status: 404, like: { error: 'No value found: User 1', retryable: false } },
  { path: '/full', status: 503, code: 'OVERLOADED', replyHeaders: { 'retry-after': '1' } },
  { path: '/defect', status: 500, code: 'INTERNAL' },
  { path: '/late', status: 500, code: 'INTERNAL' },
];

function check(reply: Reply, { status, code, like, replyHeaders }: Case): void {
  expect(reply.status, reply.text).toBe(status);
  expect(reply.headers.get('content-type')).toMatch(/^application\/json$/);
  expect(reply.headers.get('cache-control')).toBe('no-store');
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
  expect(reply.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  const value = JSON.parse(reply.text);
  if (like !== undefined) expect(value).toMatchObject(like);
  for (const [name, text] of Object.entries(replyHeaders ?? {})) {
    expect(reply.headers.get(name)).toBe(text);
  }
  if (status === 200) return;
  expect(value.request_id).toBe(reply.headers.get('x-request-id'));
  expect(typeof value.error).toBe('string');
  expect(typeof value.retryable).toBe('boolean');
  if (code !== undefined) expect(value.code).toBe(code);
}

describe.each(transports)('requests on %s', (transport) => {
  let server: RunningApp;
  beforeAll(async () => {
    server = await startApp(transport, { 'log.slow_after': '40ms' });
  });
  afterAll(() => server.close());

  it.each(paths)('$method $path -> $status', async (row) => check(await server.request(row), row));
  it.each(media)('$headers -> $status', async (row) => check(await server.request(row), row));
  it.each(faults)('$path -> $status', async (row) => check(await server.request(row), row));

  it('takes method names as they are', async () => {
    const { text } = await server.raw(
      'post /ping HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n',
    );
    expect(text).toMatch(/^HTTP\/1\.1 (405|400) /);
  });

  it.each(['/livez', '/readyz', '/version', '/'])('HEAD %s is GET without a body', async (path) => {
    const connection = await server.connect();
    const whole = await connection.request({ method: 'GET', path });
    const head = await connection.request({ method: 'HEAD', path });
    expect(head.status).toBe(whole.status);
    expect(head.headers.get('content-length')).toBe(String(whole.body.length));
    // The connection is still in step.
    expect((await connection.request({ path: '/ping' })).text).toBe('{"pong":true}');
    connection.close();
  });

  it.each([
    ['abc.DEF_1-2', true],
    ['x'.repeat(64), true],
    ['x'.repeat(65), false],
    ['with space', false],
    ['a"b', false],
  ])('request id %s is kept: %s', async (id, kept) => {
    const reply = await server.request({ path: '/ping', headers: { 'X-Request-Id': id } });
    expect(reply.headers.get('x-request-id') === id).toBe(kept);
  });

  it('gives every request another id', async () => {
    const ids = new Set<string>();
    for (let i = 0; i < 20; i++) {
      ids.add((await server.request({ path: '/ping' })).headers.get('x-request-id')!);
    }
    expect(ids.size).toBe(20);
  });

  it('writes error bodies member by member in order', async () => {
    const reply = await server.request({ path: '/faults', headers: { 'X-Request-Id': 'r1' } });
    expect(reply.text).toBe(
      '{"error":"`name` must be String, got a number.","code":"PARAM_TYPE","path":"/name",' +
        '"args":{"param":"name","type":"String","got":"a number"},"retryable":false,"errors":[' +
        '{"error":"`name` must be String, got a number.","code":"PARAM_TYPE","path":"/name",' +
        '"args":{"param":"name","type":"String","got":"a number"}},' +
        '{"error":"faults needs `age` (U8).","code":"PARAM_MISSING","path":"/age",' +
        '"args":{"owner":"faults","param":"age","type":"U8"}}],"request_id":"r1"}',
    );
  });

  it('logs defects with the request id and returns no details to the client', async () => {
    const headers = { 'X-Request-Id': `defect-${transport}` };
    const reply = await server.request({ path: '/defect', headers });
    expect(reply.text).not.toContain('secret');
    const line = server.log.find((text) => text.includes(`defect-${transport}`))!;
    expect(JSON.parse(line)).toMatchObject({
      level: 'error',
      error: expect.stringContaining('planted'),
    });
  });

  it('answers a reader for an engine that does not stop', async () => {
    const before = Date.now();
    const headers = { 'X-Request-Timeout-Ms': '100' };
    const reply = await server.request({ path: '/hang', headers, body: '{}' });
    expect(reply.status).toBe(504);
    expect(JSON.parse(reply.text)).toMatchObject({
      code: 'QUERY_TIMEOUT',
      args: { ms: 100 },
      retryable: true,
    });
    expectFigure(Date.now() - before, 600, 'ms to a 504');
    expect(server.database.cancelled).toBeGreaterThan(0);
  });

  it('never answers a writer by the clock', async () => {
    const headers = { 'X-Request-Timeout-Ms': '1' };
    const reply = await server.request({ path: '/put', headers, body: '{"v":1}' });
    expect(reply.status).toBe(200);
  });

  it('keeps requests that visited a lot, however quick they were', async () => {
    await server.request({ path: '/visit', body: '100000' });
    await server.request({ path: '/visit', body: '100001' });
    const { text } = await server.request({ method: 'GET', path: '/slowlog' });
    const visits = (JSON.parse(text) as { query?: string; visits?: number; ms: number }[])
      .filter(({ query, ms }) => query === 'visit' && ms < 40)
      .map((entry) => entry.visits);
    expect(visits).not.toContain(100_000);
    expect(visits.length).toBeLessThanOrEqual(1);
    expect(text).toContain('"visits":100001');
  });

  it('keeps slow requests', async () => {
    await server.request({ path: '/later', body: '{"ms":60}' });
    const reply = await server.request({ method: 'GET', path: '/slowlog' });
    expect(JSON.parse(reply.text)).toContainEqual(
      expect.objectContaining({ route: 'later', status: '200' }),
    );
  });

  it('refuses without capacity before the body has arrived, and stays in step', async () => {
    const head = (bytes: number): string =>
      `POST /later HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes}\r\n\r\n`;
    server.database.full = true;
    try {
      const connection = await server.connect();
      connection.send(head(8));
      const { status, headers, text } = await connection.reply();
      expect([status, JSON.parse(text).code]).toEqual([503, 'OVERLOADED']);
      expect(headers.get('retry-after')).toBe('1');
      connection.send('{"ms":1}');
      // Other queries are not concerned, nor is what is asked about this one.
      expect((await connection.request({ path: '/ping' })).status).toBe(200);
      const explained = await connection.request({ path: '/later?explain=1', body: '{"ms":1}' });
      expect(explained.status).toBe(200);
      // A body that is too large to be read for nothing is read: the call itself is judged.
      const body = '{"ms":1}'.padEnd(100_000);
      expect((await connection.request({ path: '/later', body })).status).toBe(200);
      connection.close();
    } finally {
      server.database.full = false;
    }
  });

  it('refuses everything but health while starting, stopping, or without its file', async () => {
    const { app, database } = server;
    const states = [
      { set: () => (app.phase = 'starting'), code: 'NOT_READY' },
      { set: () => (app.phase = 'stopping'), code: 'SHUTTING_DOWN' },
      {
        set: () => (database.current = { phase: 'lost', progress: 0, writes: false }),
        code: 'STORAGE_LOST',
      },
    ];
    for (const { set, code } of states) {
      set();
      for (const path of ['/ping', '/nope', '/mcp/init']) {
        const reply = await server.request({ path });
        expect([reply.status, JSON.parse(reply.text).code]).toEqual([503, code]);
        expect(reply.headers.get('retry-after')).toBe('1');
      }
      expect((await server.request({ method: 'GET', path: '/livez' })).status).toBe(200);
      const ready = await server.request({ method: 'GET', path: '/readyz' });
      expect([ready.status, JSON.parse(ready.text)]).toEqual([
        503,
        expect.objectContaining({ ready: false, code }),
      ]);
      app.phase = 'serving';
      database.current = { phase: 'serving', progress: 100, writes: true };
    }
  });

  it('is not ready while the writer gives no sign of life', async () => {
    const serving = { phase: 'serving', progress: 100, writes: true } as const;
    server.database.current = { ...serving, heartbeatAge: 5.5 };
    const reply = await server.request({ method: 'GET', path: '/readyz' });
    expect(reply.status).toBe(503);
    expect(JSON.parse(reply.text)).toMatchObject({ ready: false, checks: { writer: false } });
    server.database.current = serving;
  });

  it('is ready without writes', async () => {
    server.database.current = { phase: 'serving', progress: 100, writes: false };
    const reply = await server.request({ method: 'GET', path: '/readyz' });
    expect(JSON.parse(reply.text)).toMatchObject({ ready: true, writes: false });
    server.database.current = { phase: 'serving', progress: 100, writes: true };
  });

  it('counts', async () => {
    const { text } = await server.request({ method: 'GET', path: '/metrics' });
    expect(text).toMatch(/^# TYPE trellis_requests_total counter$/m);
    expect(text).toMatch(/^trellis_requests_total\{route="ping",status="200"\} \d+$/m);
    expect(text).toMatch(/^trellis_requests_total\{route="other",status="404"\} \d+$/m);
    expect(text).toMatch(
      /^trellis_request_duration_seconds_bucket\{route="ping",le="\+Inf"\} \d+$/m,
    );
    expect(text).toMatch(/^trellis_request_errors_total\{code="NOT_FOUND"\} \d+$/m);
    expect(text).toMatch(/^trellis_commit_errors_total\{errno="EIO"\} 0$/m);
    expect(text).not.toContain('nope');
  });

  it('finishes calls in flight before it stops', async () => {
    const own = await startApp(transport);
    const connection = await own.connect();
    connection.send(requestBytes({ path: '/later', body: '{"ms":200}' }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await own.app.drain(2_000);
    expect((await connection.reply()).text).toBe('{"ms":200}');
    await expect(own.connect()).rejects.toThrow();
    connection.close();
    own.close();
  });
});
