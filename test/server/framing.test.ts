// Framing, sizes and times of both transports, byte by byte over raw sockets (http.md 3.2; rows XH
// of the hostile inputs).
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasUws } from '../support/server/has-uws.js';
import { Connection, requestBytes } from '../support/server/http.js';
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
  /** What the twin on node:http answers where uWebSockets.js refuses by itself. */
  node?: number;
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
    node: 200,
  },
  {
    name: 'HTTP/1.0 without a Host',
    bytes: `POST /ping HTTP/1.0${crlf}Content-Length: 2${crlf}${crlf}{}`,
    expect: 'refused',
    node: 200,
  },
  {
    name: 'HTTP/1.0 with a chunked body',
    bytes: chunked('2', 'Transfer-Encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0'),
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

  it.each(cases)('$name', async ({ bytes, expect: everywhere, code, node }) => {
    const expected = (transport === 'node' && node) || everywhere;
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

  it('closes after the response on request', async () => {
    const head = post('Host: localhost', 'Content-Length: 2', 'Connection: close');
    const { text, closed } = await server.raw(`${head}{}`);
    expect(text).toContain('{"pong":true}');
    expect(closed).toBe(true);
  });

  /** Chunk heads that a lax reader takes for another size: hexadecimal digits by its own table. */
  it.each(['2;1', '2;a=1', '2:', '2;0', '2 ;1'])('is not led astray by %j', async (size) => {
    // What `size` is taken for, its extension included, where every character above space counts.
    const digit = (c: string): number =>
      c >= 'a' ? c.charCodeAt(0) - 87 : c >= 'A' ? c.charCodeAt(0) - 55 : c.charCodeAt(0) - 48;
    const word = /^[!-~]+/.exec(size)![0];
    const taken = [...word].reduce((sum, c) => sum * 16 + digit(c), 0);
    const first = chunked(size, 'Transfer-Encoding: chunked');
    const hidden = requestBytes({ path: '/put', body: '{"hidden":1}' }).toString();
    const behind = `${crlf}0${crlf}${crlf}${hidden}`;
    const head = 'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: ';
    // The second request is long enough to be swallowed, and what it holds comes out behind it.
    const tail = first.length - first.indexOf(size) - size.length - 2;
    const room = Math.max(0, taken - tail - head.length - 9);
    const length = room + behind.length;
    const digits = String(length).padStart(5, '0');
    const second = `${head}${digits}${crlf}${crlf}${' '.repeat(room)}${behind}`;
    for (const apart of [false, true]) {
      const connection = await server.connect();
      connection.send(apart ? first : first + second);
      if (apart) await new Promise((resolve) => setTimeout(resolve, 20));
      connection.send(apart ? second : '');
      await connection.closed(300);
      expect(server.database.written).not.toContain('{"hidden":1}');
      connection.close();
    }
  });

  it('ends the connection with a chunked request of any method', async () => {
    const good = requestBytes({ path: '/echo', body: '{"a":1}' }).toString();
    for (const method of ['GET', 'HEAD', 'POST', 'PUT']) {
      for (const end of [`0${crlf}XX`, '0\r0\r\n', `0${crlf}X: y${crlf}${crlf}`]) {
        const start = chunked('2', 'Transfer-Encoding: chunked').replace('POST', method);
        const ask = async (waitMs: number): Promise<boolean> => {
          const bytes = start.replace(/0\r\n\r\n$/, end) + good;
          const { text, closed } = await server.raw(bytes, waitMs);
          return closed || text.endsWith('{"a":1}');
        };
        // A machine that does much else closes later.
        const isSettled = (await ask(100)) || (await ask(3_000));
        expect([method, end, isSettled]).toEqual([method, end, true]);
      }
    }
  });

  it('answers a client that has sent all it had', async () => {
    const one = async (path: string, body: string): Promise<string> => {
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.end(requestBytes({ path, body }));
      await once(socket, 'end');
      return text.slice(text.indexOf('\r\n\r\n') + 4);
    };
    const before = server.database.written.length;
    for (let i = 0; i < 30; i++) expect(await one('/put', `{"v":${i}}`)).toBe(`{"v":${i}}`);
    expect(server.database.written.length).toBe(before + 30);
    expect(await one('/later', '{"ms":100}')).toBe('{"ms":100}');
    expect(await one('/ping', '{}')).toBe('{"pong":true}');
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

  it('counts a chunked body while it arrives', async () => {
    const connection = await server.connect();
    connection.send(post('Host: localhost', 'Transfer-Encoding: chunked'));
    const piece = `4000${crlf}${' '.repeat(0x4000)}${crlf}`;
    const reply = connection.reply({ timeoutMs: 20_000 });
    for (let i = 0; i < 5; i++) connection.send(piece);
    expect((await reply).status).toBe(413);
    expect(await connection.closed(20_000)).toBe(true);
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
    expect(await connection.closed(20_000)).toBe(true);
    clearInterval(trickle);
    expect(server.database.written).toEqual([]);
    server.close();
  });

  it('closes connections beyond the limit', async () => {
    const server = await startApp(transport, { 'limits.connections': '2' });
    const kept = [await server.connect(), await server.connect()];
    const third = await server.connect();
    expect(await third.closed(20_000)).toBe(true);
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

  it('closes connections that do not read', async () => {
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

  it('notifies the call that its client has disconnected', async () => {
    const server = await startApp(transport);
    const connection = await server.connect();
    connection.send(requestBytes({ path: '/hang', body: '{}' }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    connection.close();
    // A read goes on for half a second: its client may only have ended what it sends.
    await expect.poll(() => server.database.cancelled).toBe(1);
    server.close();
  });
});

describe('what differs', () => {
  it('node keeps a connection of HTTP/1.0 on request', async () => {
    const server = await startApp('node');
    const { text, closed } = await server.raw(
      'POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 7\r\n\r\n{"a":1}' +
        'POST /echo HTTP/1.0\r\nContent-Length: 7\r\n\r\n{"a":2}',
    );
    expect(text).toMatch(/200 OK[\s\S]*\{"a":1\}[\s\S]*200 OK[\s\S]*\{"a":2\}$/);
    expect(closed).toBe(true);
    server.close();
  });

  it.skipIf(!hasUws)(
    'uws ends the connection of a client that pipelines after a call, and logs it',
    async () => {
      const server = await startApp('uws');
      const two = Buffer.concat(
        [1, 2].map((v) => requestBytes({ path: '/put', body: `{"v":${v}}` })),
      );
      const counted = async () => {
        const { text } = await server.request({ method: 'GET', path: '/metrics' });
        return Number(/^trellis_pipelined_closed_total (\d+)$/m.exec(text)?.[1]);
      };
      const said = () =>
        server.log.filter((line) => line.includes('server.transport = \\"node\\"'));
      for (let i = 0; i < 3; i++) expect((await server.raw(two)).closed).toBe(true);
      // Who only goes away, or waits for the answer first, is none of them.
      const patient = await server.connect();
      patient.send(requestBytes({ path: '/hang', body: '{}' }));
      await new Promise((resolve) => setTimeout(resolve, 20));
      patient.send(requestBytes({ path: '/ping', body: '{}' }));
      patient.close();
      await expect.poll(() => server.database.cancelled).toBe(1);
      expect(await counted()).toBe(3);
      await expect.poll(said).toEqual([expect.stringContaining('"connections":3')]);
      await server.raw(two);
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      expect([await counted(), said().length]).toEqual([4, 1]);
      server.close();
    },
  );

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
