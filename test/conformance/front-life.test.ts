// What holds over all fronts of a server together: acknowledged writes are read wherever one reads, the
// program changes on all at once, a revoked key is refused by all, numbers are sums, and a front that
// fails takes only its own connections with it.
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readKeyFile, writeKeyFile } from '../../server/auth/key-file.js';
import { makeKey } from '../../server/auth/key-record.js';
import { hasUws } from '../support/server/has-uws.js';
import { Connection, ConnectionClosed, type Reply } from '../support/server/http.js';
import { type Server, startServer } from '../support/server/server.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

const source = (version: number) => `
N::Cell { UNIQUE INDEX name: String, value: I64 }
QUERY start() => c <- AddN<Cell>({name: "c", value: 0}) RETURN c::{value}
QUERY set(value: I64) => c <- N<Cell>({name: "c"})::UPDATE({value: value}) RETURN c::{value}
QUERY value() => c <- N<Cell>({name: "c"}) RETURN c::{value}
QUERY cell(name: String) => c <- N<Cell>({name: name}) RETURN c::{value}
QUERY version() => RETURN ${version}
`;

const admin = { 'x-api-key': 'root' };
const connectionsMax = 40;
/** Messages after which a front fails: more than the tests before its own bring about. */
const messages = long ? 20_000 : 400;

describe.skipIf(!hasUws)('fronts', () => {
  let server: Server;
  /** More than there are fronts: they are dealt out in turn. */
  let open: Connection[];
  beforeAll(async () => {
    server = await startServer({
      sources: { 'main.hx': source(1) },
      config: { 'server.fronts': 3, 'limits.connections': connectionsMax, 'server.watch': false },
      env: { TRELLIS_API_KEY: 'root', TRELLIS_FAILPOINT: `frontMessage@${messages}:throw` },
    });
    open = await Promise.all(Array.from({ length: 6 }, () => Connection.open(server.port)));
  });
  afterAll(async () => {
    for (const connection of open) connection.close();
    await server.dispose();
  });

  const call = (to: Connection, path: string, body: object = {}, headers = admin) =>
    to.request({ path, headers, body: JSON.stringify(body) }, 20_000);
  const at = (place: number) => open[place % open.length]!;
  const figures = async (lines: readonly RegExp[]): Promise<number[]> => {
    const { text } = await server.client.request({
      method: 'GET',
      path: 'metrics',
      headers: admin,
    });
    return lines.map((line) => Number(line.exec(text)?.[1] ?? 0));
  };
  const figure = async (line: RegExp): Promise<number> => (await figures([line]))[0]!;

  it('read every acknowledged write, whichever connection it came by', async () => {
    await call(at(0), 'start');
    for (let value = 1; value <= (long ? 5_000 : 40); value++) {
      await call(at(value), 'set', { value });
      const replies = await Promise.all(open.map((one) => call(one, 'value')));
      const texts = new Set(replies.map(({ text }) => text));
      expect([...texts]).toEqual([`{"c":{"value":${value}}}`]);
    }
  });

  it('count together: no answer is missing from a sum', async () => {
    const lines = [
      /requests_total\{route="value",status="200"\} (\d+)/,
      /requests_total\{route="cell",status="404"\} (\d+)/,
      /rejected_total\{code="NO_VALUE_FOUND"\} (\d+)/,
      /query_seconds_count\{query="value"\} (\d+)/,
      /query_seconds_count\{query="cell"\} (\d+)/,
    ];
    const read = () => figures(lines);
    const before = await read();
    for (let round = 0; round < 10; round++) {
      await Promise.all(open.map((one) => call(one, 'value')));
      const lost = await Promise.all(open.map((one) => call(one, 'cell', { name: 'x' })));
      expect(new Set(lost.map(({ status }) => status))).toEqual(new Set([404]));
      const after = await read();
      const calls = (round + 1) * open.length;
      expect(after.map((count, i) => count - before[i]!)).toEqual(lines.map(() => calls));
    }
    expect(await figure(/trellis_fronts (\d+)/)).toBe(3);
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

  it('change the program on all at once', async () => {
    for (let version = 2; version <= (long ? 40 : 3); version++) {
      writeFileSync(join(server.project, 'main.hx'), source(version));
      let [begun, done] = [0, 0];
      const reload = async () => {
        begun = performance.now();
        const reply = await server.client.request({ path: '_admin/reload', headers: admin });
        done = performance.now();
        expect(reply.text).toContain('"reloaded":true');
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

  it('refuse a key from the first refusal on, whichever connection it comes by', async () => {
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
    const more = await Promise.all(
      Array.from({ length: connectionsMax }, () => Connection.open(server.port)),
    );
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

  const restarts = () => figure(/trellis_front_restarts_total (\d+)/);

  it('that fail take only their own connections with them, and are replaced', async () => {
    /** What is passed on brings a message to the front. */
    const isLost = async (one: Connection): Promise<boolean> => {
      try {
        const { status } = await one.request({ path: 'nothing', headers: admin }, 20_000);
        expect(status).toBe(404);
        return false;
      } catch (error) {
        if (error instanceof ConnectionClosed) return true;
        throw error;
      }
    };
    /** Until a front has failed: those that went with it. */
    const failOne = async (): Promise<Set<Connection>> => {
      for (;;) {
        const all = await Promise.all(open.map(async (one) => ({ one, lost: await isLost(one) })));
        const lost = new Set(all.filter((each) => each.lost).map(({ one }) => one));
        if (lost.size > 0) return lost;
      }
    };
    // One and the same front fails again and again: what once outlived its end is no connection of it.
    const first = await failOne();
    const others = open.filter((one) => !first.has(one));
    expect(first.size).toBeLessThanOrEqual(open.length / 2);
    for (let ends = 1; ; ends++) {
      await expect.poll(restarts).toBe(ends);
      await expect.poll(() => figure(/trellis_fronts (\d+)/)).toBe(3);
      const more = Array.from({ length: open.length - others.length }, () =>
        Connection.open(server.port),
      );
      open = [...others, ...(await Promise.all(more))];
      if (ends === (long ? 6 : 1)) break;
      const lost = await failOne();
      expect(others.filter((one) => lost.has(one))).toEqual([]);
    }
    expect(server.stderr).toContain('a front is replaced');
  });

  it('keep every promise while fronts fail and programs change', async () => {
    const wanted = long ? 12 : 1;
    const ends = (await restarts()) + wanted;
    let [sent, acked, version, isOver] = [1000, 0, 100, false];
    /** What asks on connections of its own: undefined is the reply when one was lost, and replaced. */
    const asker =
      (own: Connection[]) =>
      async (place: number, path: string, body = {}) => {
        try {
          return await call(own[place]!, path, body);
        } catch (error) {
          if (!(error instanceof ConnectionClosed)) throw error;
          own[place] = await Connection.open(server.port);
          return undefined;
        }
      };
    const dealt = () => Promise.all(open.map(() => Connection.open(server.port)));
    const all = [await dealt(), await dealt(), await dealt()] as const;
    const [ask, askWriting, askChanged] = [asker(all[0]), asker(all[1]), asker(all[2])];
    const write = async (): Promise<void> => {
      while (!isOver) {
        const value = ++sent;
        const reply = await askWriting(value % open.length, 'set', { value });
        if (reply === undefined) continue;
        expect(reply.text).toBe(`{"c":{"value":${value}}}`);
        acked = value;
      }
    };
    const read = async (place: number): Promise<void> => {
      while (!isOver) {
        const least = acked;
        const reply = await ask(place, 'value');
        await ask(place, 'nothing');
        if (reply === undefined) continue;
        const { value } = (JSON.parse(reply.text) as { c: { value: number } }).c;
        if (least > 0) expect(value).toBeGreaterThanOrEqual(least);
        expect(value).toBeLessThanOrEqual(sent);
      }
    };
    const change = async (): Promise<void> => {
      for (let round = 0; round < wanted || (await restarts()) < ends; round++) {
        writeFileSync(join(server.project, 'main.hx'), source(++version));
        const reply = await server.client.request({ path: '_admin/reload', headers: admin });
        expect(reply.text).toContain('"reloaded":true');
        const seen = await Promise.all(open.map((_, place) => askChanged(place, 'version')));
        const texts = new Set(seen.flatMap((one) => (one === undefined ? [] : [one.text])));
        expect([...texts]).toEqual([`{"data":${version}}`]);
      }
    };
    const changes = change().finally(() => {
      isOver = true;
    });
    await Promise.all([changes, write(), ...open.map((_, place) => read(place))]);
    expect(acked).toBeGreaterThan(1000);
    for (const one of all.flat()) one.close();
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
