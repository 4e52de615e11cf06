// A client that sends a large body before it reads gets the response, even if the server has refused the
// request earlier. The test also covers clients that never end the body, and clients that pause.
import { once } from 'node:events';
import { request as ask } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestBytes } from '../../support/server/http.js';
import { type RunningApp, startApp, transports } from '../running-app.js';

const bytes = 8 << 20;
const piece = Buffer.alloc(1 << 16, ' ');
const isLong = process.env.TRELLIS_TEST_LONG === '1';
const times = isLong ? 8 : 2;

/** Status and code of an answer, or how the call failed. */
type Heard = [status: number, code: unknown] | string;

const heardOf = (status: number, text: string): Heard => [status, JSON.parse(text).code];

type Client = (port: number, path: string, headers: Record<string, string>) => Promise<Heard>;

/** Hears nothing before it has said all, as Python's http.client. */
const deaf: Client = async (port, path, headers) => {
  const socket = connect({ port, host: '127.0.0.1' });
  let failed = '';
  socket.on('error', ({ message }) => (failed = message));
  socket.pause();
  const isChunked = headers['Transfer-Encoding'] !== undefined;
  const length = isChunked ? null : String(bytes);
  socket.write(requestBytes({ path, headers: { 'Content-Length': length, ...headers } }));
  const write = async (some: Buffer | string) => {
    if (!socket.write(some) && failed === '')
      await Promise.race([once(socket, 'drain'), pause(9_000)]);
  };
  for (let sent = 0; sent < bytes && failed === ''; sent += piece.length) {
    if (isChunked) await write(`${piece.length.toString(16)}\r\n`);
    await write(piece);
    if (isChunked) await write('\r\n');
  }
  if (isChunked) await write('0\r\n\r\n');
  // An answer that was sent to nobody is lost as soon as the end of the connection is known.
  await pause(20);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.resume();
  await Promise.race([once(socket, 'close'), pause(9_000)]);
  socket.destroy();
  if (!text.includes('\r\n\r\n')) return `no answer: ${failed}`;
  const at = text.lastIndexOf('\r\n\r\n{');
  return heardOf(Number(text.slice(9, 12)), text.slice(at + 4));
};

const fetches: Client = async (port, path, headers) => {
  const { 'Transfer-Encoding': coding, ...rest } = headers;
  let sent = 0;
  const streamed = new ReadableStream({
    pull(to) {
      if (sent >= bytes) to.close();
      else to.enqueue(new Uint8Array(piece));
      sent += piece.length;
    },
  });
  const body = coding === undefined ? Buffer.alloc(bytes, ' ') : streamed;
  const init = { method: 'POST', headers: rest, body, duplex: 'half' } as RequestInit;
  try {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, init);
    return heardOf(reply.status, await reply.text());
  } catch (error) {
    return String((error as Error).cause);
  }
};

/** Node's own, with one write. */
const whole: Client = (port, path, headers) =>
  new Promise((resolve) => {
    const call = ask({ port, host: '127.0.0.1', path, method: 'POST', headers }, (reply) => {
      let text = '';
      reply.on('data', (chunk: Buffer) => (text += chunk.toString()));
      reply.on('end', () => resolve(heardOf(reply.statusCode!, text)));
    });
    call.on('error', (error) => resolve(error.message));
    call.end(Buffer.alloc(bytes, ' '));
  });

const clients: Record<string, Client> = { deaf, fetch: fetches, whole };
const json = { 'Content-Type': 'application/json' };
const chunked = { 'Transfer-Encoding': 'chunked' };

/** Refused at the head, by the length that is told, by the length that has come. */
const refusals: [name: string, path: string, headers: Record<string, string>, Heard][] = [
  ['an unknown path', '/nothing', json, [404, 'NOT_FOUND']],
  ['an unknown path, chunked', '/nothing', { ...json, ...chunked }, [404, 'NOT_FOUND']],
  ['a type', '/ping', { 'Content-Type': 'text/csv' }, [415, 'UNSUPPORTED_MEDIA_TYPE']],
  ['a length', '/ping', json, [413, 'BODY_TOO_LARGE']],
  ['a length, chunked', '/ping', { ...json, ...chunked }, [413, 'BODY_TOO_LARGE']],
];

/** The head of a request whose body is more than anybody sends. */
const unending = requestBytes({ path: 'ping', headers: { 'Content-Length': String(1 << 30) } });

describe.each(transports)('a refusal amid a large body over %s', (transport) => {
  let server: RunningApp;
  beforeAll(async () => {
    server = await startApp(transport, { 'limits.body_bytes': '65536' });
  });
  afterAll(() => server.close());

  describe.each(Object.entries(clients))('to a client of the kind %s', (_, client) => {
    it.each(refusals)('for %s is received', async (_, path, headers, wanted) => {
      for (let i = 0; i < times; i++) {
        expect(await client(server.port, path, headers)).toEqual(wanted);
      }
    });
  });

  it('arrives immediately at a client that reads', async () => {
    const quiet = await server.raw(unending, 4_000);
    expect(quiet.closed).toBe(true);
    expect(quiet.text).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('is dropped with a client that disconnects', async () => {
    const connection = await server.connect();
    connection.send(unending);
    connection.send(' ');
    await pause(30);
    connection.close();
    await pause(300);
    expect((await server.request({ path: '/ping', body: '{}' })).status).toBe(200);
  });
});

it('arrives after five seconds at a client that continues to send', async () => {
  const one = async (transport: (typeof transports)[number]) => {
    const server = await startApp(transport, { 'limits.body_bytes': '65536' });
    const connection = await server.connect();
    const started = performance.now();
    connection.send(unending);
    const timer = setInterval(() => connection.send(' '), 20);
    const reply = await connection.reply({ timeoutMs: 20_000 });
    const seconds = (performance.now() - started) / 1000;
    clearInterval(timer);
    const closed = await connection.closed(20_000);
    server.close();
    return { status: reply.status, isLate: seconds > 4.9, closed };
  };
  for (const ended of await Promise.all(transports.map(one)))
    expect(ended).toEqual({ status: 413, isLate: true, closed: true });
});
