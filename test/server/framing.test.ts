// Framing, sizes and times of both transports, byte by byte over raw sockets (http.md 3.2; rows XH
// of the hostile inputs).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Connection, requestBytes } from '../support/http.js';
import { type RunningApp, startApp, transports } from './running-app.js';

const crlf = '\r\n';
const post = (...headers: string[]): string =>
  ['POST /ping HTTP/1.1', ...headers, '', ''].join(crlf);

/** A chunked POST of `{}`; `size` is the text of the chunk's size. */
const chunked = (size: string, ...headers: string[]): string =>
  `${post('Host: localhost', ...headers)}${size}${crlf}{}${crlf}0${crlf}${crlf}`;

interface Case {
  name: string;
  bytes: string;
  /** Status expected, or `refused`: a transport's own 400, 431 or 505, or a closed connection. */
  expect: number | 'refused';
  code?: string;
}

const manyHeaders = Array.from({ length: 120 }, (_, i) => `X-${i}: a`);

const cases: Case[] = [
  { name: 'no Host', bytes: `${post('Content-Length: 2')}{}`, expect: 'refused' },
  {
    name: 'two Hosts',
    bytes: `${post('Host: a', 'Host: b', 'Content-Length: 2')}{}`,
    expect: 'refused',
  },
  {
    name: 'HTTP/1.0',
    bytes: `POST /ping HTTP/1.0${crlf}Host: localhost${crlf}Content-Length: 2${crlf}${crlf}{}`,
    expect: 'refused',
  },
  {
    name: 'HTTP/2 preface',
    bytes: `PRI * HTTP/2.0${crlf}${crlf}SM${crlf}${crlf}`,
    expect: 'refused',
  },
  {
    name: 'bare LF',
    bytes: 'POST /ping HTTP/1.1\nHost: localhost\nContent-Length: 2\n\n{}',
    expect: 'refused',
  },
  {
    name: 'length with a sign',
    bytes: `${post('Host: localhost', 'Content-Length: +2')}{}`,
    expect: 'refused',
  },
  {
    name: 'negative length',
    bytes: `${post('Host: localhost', 'Content-Length: -2')}{}`,
    expect: 'refused',
  },
  {
    name: 'length with an exponent',
    bytes: `${post('Host: localhost', 'Content-Length: 2e0')}{}`,
    expect: 'refused',
  },
  {
    name: 'length above 2^64',
    bytes: `${post('Host: localhost', 'Content-Length: 18446744073709551617')}{}`,
    expect: 'refused',
  },
  {
    name: 'empty length',
    bytes: post('Host: localhost', 'Content-Length: '),
    expect: 400,
    code: 'BAD_FRAMING',
  },
  {
    name: 'two lengths that agree',
    bytes: `${post('Host: localhost', 'Content-Length: 2', 'Content-Length: 2')}{}`,
    expect: 400,
    code: 'BAD_FRAMING',
  },
  {
    name: 'two lengths that differ',
    bytes: `${post('Host: localhost', 'Content-Length: 2', 'Content-Length: 3')}{}`,
    expect: 400,
    code: 'BAD_FRAMING',
  },
  {
    name: 'both kinds of length',
    bytes: chunked('2', 'Content-Length: 2', 'Transfer-Encoding: chunked'),
    expect: 'refused',
  },
  {
    name: 'xchunked',
    bytes: chunked('2', 'Transfer-Encoding: xchunked'),
    expect: 400,
    code: 'BAD_FRAMING',
  },
  {
    name: 'gzip, chunked',
    bytes: chunked('2', 'Transfer-Encoding: gzip, chunked'),
    expect: 400,
    code: 'BAD_FRAMING',
  },
  {
    name: 'two Transfer-Encodings',
    bytes: chunked('2', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'),
    expect: 400,
    code: 'BAD_FRAMING',
  },
  {
    name: 'chunk size zz',
    bytes: chunked('zz', 'Transfer-Encoding: chunked'),
    expect: 'refused',
  },
  {
    name: 'folded header',
    bytes: `${post('Host: localhost', 'X-A: b', ' c', 'Content-Length: 2')}{}`,
    expect: 'refused',
  },
  {
    name: 'space before the colon',
    bytes: `${post('Host: localhost', 'Content-Length : 2')}{}`,
    expect: 'refused',
  },
  {
    name: 'NUL in a header',
    bytes: `${post('Host: localhost', 'X-A: a\0b', 'Content-Length: 2')}{}`,
    expect: 'refused',
  },
  {
    name: 'header of 20 KB',
    bytes: `${post('Host: localhost', `X-A: ${'a'.repeat(20_000)}`, 'Content-Length: 2')}{}`,
    expect: 'refused',
  },
  {
    name: '120 headers',
    bytes: `${post('Host: localhost', ...manyHeaders, 'Content-Length: 2')}{}`,
    expect: 'refused',
  },
  {
    name: 'TLS hello',
    bytes: Buffer.from('16030100c8010000c40303000000000000', 'hex').toString('latin1'),
    expect: 'refused',
  },
  {
    name: 'header of 5 KB',
    bytes: `${post('Host: localhost', `X-A: ${'a'.repeat(5_000)}`, 'Content-Length: 2')}{}`,
    expect: 200,
  },
  {
    name: 'chunked body',
    bytes: chunked('2', 'Transfer-Encoding: chunked'),
    expect: 200,
  },
  { name: 'no body at all', bytes: post('Host: localhost'), expect: 200 },
];

describe.each(transports)('framing on %s', (transport) => {
  let server: RunningApp;
  beforeAll(async () => {
    server = await startApp(transport, { 'limits.body_bytes': '64KiB' });
  });
  afterAll(() => server.close());

  it.each(cases)('$name', async ({ bytes, expect: expected, code }) => {
    const { text, closed } = await server.raw(Buffer.from(bytes, 'latin1'));
    const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
    if (expected === 'refused') {
      expect(['400', '431', '505', undefined]).toContain(status);
      expect(closed).toBe(true);
      return;
    }
    expect(Number(status)).toBe(expected);
    if (code === undefined) return;
    expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({ code });
    expect(closed).toBe(true);
  });

  it('answers Expect: 100-continue', async () => {
    const head = post('Host: localhost', 'Content-Length: 2', 'Expect: 100-continue');
    const { text } = await server.raw(`${head}{}`);
    expect(text).toMatch(/^HTTP\/1\.1 100 [\s\S]*HTTP\/1\.1 200 OK/);
  });

  it('closes after the answer when asked to', async () => {
    const head = post('Host: localhost', 'Content-Length: 2', 'Connection: close');
    const { text, closed } = await server.raw(`${head}{}`);
    expect(text).toContain('{"pong":true}');
    expect(closed).toBe(true);
  });

  it('answers pipelined requests in order', async () => {
    const connection = await server.connect();
    const one = (i: number) => requestBytes({ path: '/echo', body: `{"v":${i}}` });
    connection.send(Buffer.concat(Array.from({ length: 1_000 }, (_, i) => one(i))));
    for (let i = 0; i < 1_000; i++) expect((await connection.reply()).text).toBe(`{"v":${i}}`);
    connection.close();
  });

  it('refuses a declared length above the limit', async () => {
    const { text, closed } = await server.raw(post('Host: localhost', 'Content-Length: 65537'));
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text).toContain('"code":"BODY_TOO_LARGE"');
    expect(closed).toBe(true);
  });

  it('counts a chunked body while it comes', async () => {
    const connection = await server.connect();
    connection.send(post('Host: localhost', 'Transfer-Encoding: chunked'));
    const piece = `4000${crlf}${' '.repeat(0x4000)}${crlf}`;
    const reply = connection.reply({ timeoutMs: 5_000 });
    for (let i = 0; i < 5; i++) connection.send(piece);
    expect((await reply).status).toBe(413);
    expect(await connection.closed(2_000)).toBe(true);
  });

  it('takes a body in many pieces', async () => {
    const connection = await server.connect();
    connection.send(requestBytes({ path: '/size', headers: { 'Content-Length': '60000' } }));
    for (let i = 0; i < 6; i++) {
      connection.send('x'.repeat(10_000));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect((await connection.reply()).text).toBe('{"size":60000}');
    connection.close();
  });

  it('answers both loopback addresses on one port', async () => {
    const connection = await Connection.open(server.port, '::1').catch(() => undefined);
    if (connection === undefined) return console.warn('skipped: this machine has no ::1');
    expect((await connection.request({ path: '/ping' })).status).toBe(200);
    connection.close();
  });

  it('binds its port exclusively', async () => {
    const taken = startApp(transport, { 'server.port': String(server.port) });
    await expect(taken).rejects.toMatchObject({ data: { code: 'PORT_IN_USE' } });
  });
});

describe.each(transports)('times and sums on %s', (transport) => {
  it('ends a body that trickles', async () => {
    const server = await startApp(transport, { 'limits.receive_time': '600ms' });
    const connection = await server.connect();
    connection.send(requestBytes({ path: '/put', headers: { 'Content-Length': '1000' } }));
    const trickle = setInterval(() => connection.send('x'), 50);
    expect(await connection.closed(3_000)).toBe(true);
    clearInterval(trickle);
    expect(server.database.written).toEqual([]);
    server.close();
  });

  it('closes connections beyond the limit', async () => {
    const server = await startApp(transport, { 'limits.connections': '2' });
    const kept = [await server.connect(), await server.connect()];
    const third = await server.connect();
    expect(await third.closed(2_000)).toBe(true);
    expect((await kept[1]!.request({ path: '/ping' })).status).toBe(200);
    for (const connection of kept) connection.close();
    server.close();
  });

  it('refuses bodies beyond the sum of all', async () => {
    const server = await startApp(transport, { 'limits.buffered_body_bytes': '64KiB' });
    const start = async () => {
      const connection = await server.connect();
      const headers = { 'Content-Length': '50000' };
      connection.send(requestBytes({ path: '/size', headers }));
      connection.send('x'.repeat(40_000));
      return connection;
    };
    const first = await start();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const second = await start();
    const reply = await second.reply();
    expect([reply.status, JSON.parse(reply.text).code]).toEqual([503, 'OVERLOADED']);
    first.send('x'.repeat(10_000));
    expect((await first.reply()).text).toBe('{"size":50000}');
    first.close();
    server.close();
  });

  it('closes those who do not read', async () => {
    const server = await startApp(transport, { 'limits.buffered_response_bytes': '16MiB' });
    const idle = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const connection = await server.connect();
        connection.socket.pause();
        connection.send(requestBytes({ path: '/big', body: '{"n":12000000}' }));
        return connection;
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await server.request({ path: '/ping' })).status).toBe(200);
    const metrics = (await server.request({ method: 'GET', path: '/metrics' })).text;
    const value = (name: string) =>
      Number(new RegExp(`^trellis_${name} (\\S+)$`, 'm').exec(metrics)![1]);
    expect(value('buffered_response_bytes')).toBeLessThanOrEqual(16 * 2 ** 20);
    expect(value('limit_hits_total{limit="buffered_response_bytes"}')).toBeGreaterThan(0);
    for (const connection of idle) connection.close();
    server.close();
  });

  it('sends large answers whole', async () => {
    const server = await startApp(transport);
    const reply = await server.request({ path: '/big', body: '{"n":9000000}' });
    expect(reply.body.length).toBe(9_000_000);
    server.close();
  });

  it('tells the call that its client has gone', async () => {
    const server = await startApp(transport);
    const connection = await server.connect();
    connection.send(requestBytes({ path: '/hang', body: '{}' }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    connection.close();
    await expect.poll(() => server.database.cancelled).toBe(1);
    server.close();
  });
});

describe('what differs', () => {
  it('node answers pipelined calls that take time in order', async () => {
    const server = await startApp('node');
    const connection = await server.connect();
    const one = (i: number) => requestBytes({ path: '/put', body: `{"v":${i}}` });
    connection.send(Buffer.concat(Array.from({ length: 300 }, (_, i) => one(i))));
    for (let i = 0; i < 300; i++) expect((await connection.reply()).text).toBe(`{"v":${i}}`);
    connection.close();
    server.close();
  });
});
