// Properties of all HTTP threads of a server together. Acknowledged writes are visible on every thread, the
// program changes on all threads at the same time, all refuse a revoked key, and metrics are sums.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readKeyFile, writeKeyFile } from '../../server/auth/key-file.js';
import { makeKey } from '../../server/auth/key-record.js';
import { hasUws } from '../support/server/has-uws.js';
import { type Connection, ConnectionClosed, type Reply } from '../support/server/http.js';
import type { Server } from '../support/server/server.js';
import { admin, connectionsMax, HttpThreadServer } from './http-thread-server.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

describe.skipIf(!hasUws)('HTTP threads', () => {
  let subject: HttpThreadServer;
  let server: Server;
  let open: Connection[];
  beforeAll(async () => {
    subject = await HttpThreadServer.start();
    ({ server, open } = subject);
  });
  afterAll(() => subject.dispose());

  const call: HttpThreadServer['call'] = (...asked) => subject.call(...asked);
  const figure: HttpThreadServer['figure'] = (line) => subject.figure(line);

  it('read every acknowledged write, whichever connection it came by', async () => {
    for (let value = 1; value <= (long ? 5_000 : 40); value++) {
      await call(subject.at(value), 'set', { value });
      const replies = await Promise.all(open.map((one) => call(one, 'value')));
      const texts = new Set(replies.map(({ text }) => text));
      expect([...texts]).toEqual([`{"c":{"value":${value}}}`]);
    }
  });

  it('count together: no answer is missing from a sum', async () => {
    const lines = [
      /requests_total\{route="value",status="200"\} (\d+)/,
      /requests_total\{route="cell",status="404"\} (\d+)/,
      /request_errors_total\{code="NO_VALUE_FOUND"\} (\d+)/,
      /query_duration_seconds_count\{query="value"\} (\d+)/,
      /query_duration_seconds_count\{query="cell"\} (\d+)/,
    ];
    const read = () => subject.figures(lines);
    const before = await read();
    for (let round = 0; round < 10; round++) {
      await Promise.all(open.map((one) => call(one, 'value')));
      const lost = await Promise.all(open.map((one) => call(one, 'cell', { name: 'x' })));
      expect(new Set(lost.map(({ status }) => status))).toEqual(new Set([404]));
      const after = await read();
      const calls = (round + 1) * open.length;
      expect(after.map((count, i) => count - before[i]!)).toEqual(lines.map(() => calls));
    }
    expect(await figure(/trellis_http_threads (\d+)/)).toBe(3);
    expect(await figure(/trellis_connections (\d+)/)).toBeGreaterThanOrEqual(open.length);
    // Most of these reads were made where they arrived.
    expect(await figure(/inline_reads_total (\d+)/)).toBeGreaterThan(100);
  });

  /** Calls on all connections until `until` ends; what was sent when, and its reply. */
  async function spam<T>(path: string, until: Promise<T>, headers = admin) {
    let isOver = false;
    const calls: { sent: number; heard: number; reply: Reply }[] = [];
    const busy = open.map(async (one) => {
      while (!isOver) {
        const sent = performance.now();
        const reply = await call(one, path, {}, headers);
        calls.push({ sent, heard: performance.now(), reply });
        await new Promise((resolve) => setTimeout(resolve, long ? 0 : 2));
      }
    });
    const result = await until.finally(() => {
      isOver = true;
    });
    await Promise.all(busy);
    return { calls, result };
  }

  it('change the program on all threads at the same time', async () => {
    for (let version = 2; version <= (long ? 40 : 3); version++) {
      let [begun, done] = [0, 0];
      const reload = async () => {
        begun = performance.now();
        await subject.change(version);
        done = performance.now();
        await new Promise((resolve) => setTimeout(resolve, 20));
      };
      const { calls } = await spam('version', reload());
      for (const { sent, heard, reply } of calls) {
        const now = `{"data":${version}}`;
        const before = `{"data":${version - 1}}`;
        const may = sent > done ? [now] : heard < begun ? [before] : [now, before];
        expect(may).toContain(reply.text);
      }
      const after = await Promise.all(open.map((one) => call(one, 'version')));
      expect(after.map(({ text }) => text)).toEqual(open.map(() => `{"data":${version}}`));
    }
  });

  it('refuse a key from the first refusal on, on every connection', async () => {
    const path = join(server.data, 'keys.json');
    for (let round = 0; round < (long ? 10 : 1); round++) {
      const { record, text } = makeKey({ name: 'reader', role: 'read' }, new Date());
      const headers = { 'x-api-key': text };
      writeKeyFile(path, [...(round > 0 ? readKeyFile(path) : []), record]);
      const status = async () =>
        (await server.client.request({ path: 'value', headers, body: '{}' })).status;
      await expect.poll(status).toBe(200);
      const revoke = async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        writeKeyFile(path, []);
        await expect.poll(status, { interval: 5 }).not.toBe(200);
        await new Promise((resolve) => setTimeout(resolve, 50));
      };
      const { calls } = await spam('value', revoke(), headers);
      // Too many wrong keys are a refusal, too.
      const refused = calls.filter(({ reply }) => reply.status !== 200);
      const since = Math.min(...refused.map(({ heard }) => heard));
      const late = calls.filter(({ sent, reply }) => sent > since && reply.status === 200);
      expect(late.map(({ sent }) => sent - since)).toEqual([]);
      const after = await Promise.all(open.map((one) => call(one, 'value', {}, headers)));
      expect(after.filter(({ status }) => status === 200)).toEqual([]);
    }
  });

  it('take as many connections as all together may', async () => {
    const more = await subject.connect(connectionsMax);
    const statuses = await Promise.all(
      more.map((one) =>
        call(one, 'value').then(
          ({ status }) => status,
          () => 0,
        ),
      ),
    );
    const served = statuses.filter((status) => status === 200).length;
    expect(served).toBeGreaterThan(0);
    expect(served).toBeLessThanOrEqual(connectionsMax - open.length);
    for (const one of more) one.close();
    await expect
      .poll(() => figure(/trellis_connections (\d+)/))
      .toBeLessThanOrEqual(open.length + 1);
  });

  it('answer what is under way when the server ends, and nothing after', async () => {
    const stopped = new Promise((resolve) => setTimeout(resolve, 30)).then(() => server.stop());
    const ends = await Promise.all(
      open.map(async (one) => {
        try {
          for (;;) {
            const { status, text } = await call(one, 'set', { value: 1 });
            if (status !== 200) return text;
          }
        } catch (error) {
          return error instanceof ConnectionClosed ? 'SHUTTING_DOWN' : String(error);
        }
      }),
    );
    for (const text of ends) expect(text).toContain('SHUTTING_DOWN');
    expect(await stopped).toEqual({ code: 0, signal: null });
  });
});
