// Tool calls that HTTP threads answer themselves: byte for byte the response of the main thread, for every
// kind of reply, only to callers with the right, by the current program, and counted as one.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeKeyFile } from '../../../server/auth/key-file.js';
import { makeKey } from '../../../server/auth/key-record.js';
import { hasUws } from '../../support/server/has-uws.js';
import { Connection, type Reply } from '../../support/server/http.js';
import { type Server, startServer } from '../../support/server/server.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const source = (said: string) => `
N::Cell { UNIQUE INDEX name: String, value: I64, note: String }
QUERY sow(rows: [{name: String, value: I64, note: String}]) =>
  FOR {name, value, note} IN rows { AddN<Cell>({ name, value, note }) }
  RETURN "ok"
QUERY cell(name: String) => c <- N<Cell>({name: name}) RETURN c::{name, value, note}
QUERY few(count: I64) => c <- N<Cell>::RANGE(0, count) RETURN c::{name, value, note}
QUERY said(of: String) => c <- N<Cell>({name: of}) RETURN c::{name}, "${said}"
`;
const [wide, plain] = ['9007199254740993', '7'];
const rows = Array.from({ length: 300 }, (_, i) => ({ name: `c${i}`, value: i, note: 'x"\\é' }));

const version = '2026-07-28';
const prefix = 'io.modelcontextprotocol/';
const meta = { [`${prefix}protocolVersion`]: version, [`${prefix}clientCapabilities`]: {} };

interface Call {
  tool: string;
  args: object;
  id?: number | string;
  isModern?: boolean;
  isIdLast?: boolean;
}

function requestOf({ tool, args, id = 1, isModern = false, isIdLast = false }: Call) {
  const params = { name: tool, arguments: args, ...(isModern && { _meta: meta }) };
  const rest = { method: 'tools/call', params };
  const message = isIdLast ? { jsonrpc: '2.0', ...rest, id } : { jsonrpc: '2.0', id, ...rest };
  const head = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': tool };
  return { body: JSON.stringify(message), headers: isModern ? head : {} };
}

describe.skipIf(!hasUws)('tools on HTTP threads', () => {
  let server: Server;
  let open: Connection[];
  const calls: Call[] = [
    { tool: 'cell', args: { name: 'c7' } },
    { tool: 'few', args: { count: 3 } },
    { tool: 'few', args: { count: 60 } },
    { tool: 'few', args: { count: 300 } },
    { tool: 'cell', args: { name: 'wide' } },
    { tool: 'cell', args: { name: 'nobody' } },
    { tool: 'cell', args: { name: 4 } },
    { tool: 'cell', args: {} },
    { tool: 'said', args: { of: 'c1' } },
  ].flatMap((call) => [
    call,
    { ...call, id: 'a-2', isModern: true },
    { ...call, id: 30, isIdLast: true },
  ]);

  /** `isPassedOn`: a head that asks for more than an answer is the main thread's to read. */
  const ask = (
    to: Connection,
    call: Call,
    key = 'root-of-the-tests',
    isPassedOn = false,
  ): Promise<Reply> => {
    const { body, headers } = requestOf(call);
    const more = { 'x-api-key': key, ...(isPassedOn && { 'x-request-timeout-ms': '20000' }) };
    return to.request({ path: 'mcp', body, headers: { ...headers, ...more } });
  };

  beforeAll(async () => {
    server = await startServer({
      sources: { 'main.hx': source('one') },
      config: { 'server.http_threads': 3, 'server.watch': false, 'mcp.max_output_chars': 6_000 },
      env: {
        TRELLIS_API_KEY: 'root-of-the-tests',
        TRELLIS_FAILPOINT: 'httpThreadMessage@600:throw',
      },
    });
    const { port } = server;
    open = await Promise.all(Array.from({ length: 6 }, () => Connection.open(port)));
    const values = rows.map((row) => JSON.stringify(row)).join();
    const last = `{"name":"wide","value":${wide},"note":""}`;
    const headers = { 'x-api-key': 'root-of-the-tests' };
    await open[0]!.request({ path: 'sow', headers, body: `{"rows":[${values},${last}]}` });
    // Each is read as a whole once, and costs little afterwards.
    for (let round = 0; round < 3; round++)
      for (const call of calls) await Promise.all(open.map((one) => ask(one, call)));
  });
  afterAll(async () => {
    for (const one of open) one.close();
    await server.dispose();
  });

  const textOf = async (path: string): Promise<string> =>
    (await open[0]!.request({ method: 'GET', path, headers: { 'x-api-key': 'root-of-the-tests' } }))
      .text;
  const figure = async (line: RegExp): Promise<number> =>
    Number(line.exec(await textOf('metrics'))?.[1] ?? 0);
  const restarts = () => figure(/http_thread_restarts_total (\d+)/);

  it('are answered as the main thread answers them, to the byte', async () => {
    for (const call of calls) {
      const there = await ask(open[0]!, call, 'root-of-the-tests', true);
      for (const one of open) {
        const here = await ask(one, call);
        expect({ call, status: here.status, text: here.text }).toEqual({
          call,
          status: there.status,
          text: there.text,
        });
      }
    }
    const text = (await ask(open[1]!, { tool: 'cell', args: { name: 'wide' } })).text;
    expect(JSON.parse(text).result.structuredContent.c.value).toBe(wide);
    const small = (await ask(open[1]!, { tool: 'cell', args: { name: `c${plain}` } })).text;
    expect(JSON.parse(small).result.structuredContent.c).toEqual({
      name: 'c7',
      value: 7,
      note: 'x"\\é',
    });
  });

  it('are counted together with those of the main thread', async () => {
    const lines = [
      /mcp_requests_total\{method="tools\/call",era="legacy",protocol="legacy",result="ok"\} (\d+)/,
      /mcp_requests_total\{method="tools\/call",era="modern",protocol="modern",result="ok"\} (\d+)/,
      /mcp_tool_seconds_count\{tool="cell"\} (\d+)/,
      /trellis_requests_total\{route="\/mcp",status="200"\} (\d+)/,
      /query_duration_seconds_count\{query="cell"\} (\d+)/,
    ];
    const read = async (): Promise<number[]> => {
      const text = await textOf('metrics');
      return lines.map((line) => Number(line.exec(text)![1]));
    };
    const before = await read();
    const call: Call = { tool: 'cell', args: { name: 'c7' } };
    for (const one of open) {
      await ask(one, call);
      await ask(one, { ...call, id: 'a-2', isModern: true });
      await ask(one, call, 'root-of-the-tests', true);
    }
    const counts = (await read()).map((count, i) => count - before[i]!);
    expect(counts).toEqual([12, 6, 18, 18, 18]);
  });

  it('are created on the thread of the request, without the main thread', async () => {
    const before = await restarts();
    const count = long ? 20_000 : 1_500;
    const lanes = open.map(async (one) => {
      for (let i = 0; i < count / open.length; i++) {
        const { text } = await ask(one, { tool: 'cell', args: { name: `c${i % 300}` }, id: i });
        expect(text).toContain(`"id":${i},`);
      }
    });
    await Promise.all(lanes);
    expect(await restarts()).toBe(before);
  });

  it('are refused to keys that may not call the query', async () => {
    const now = new Date();
    const scoped = makeKey({ name: 'scoped', role: 'read', queries: ['few'] }, now);
    const root = makeKey({ name: 'root', role: 'admin' }, now);
    writeKeyFile(join(server.data, 'keys.json'), [scoped.record, root.record]);
    const call: Call = { tool: 'cell', args: { name: 'c7' } };
    const few: Call = { tool: 'few', args: { count: 1 } };
    // Before the new key is known: who fails often is told something else.
    expect((await ask(open[0]!, call, 'nobody')).status).toBe(403);
    await expect.poll(async () => (await ask(open[0]!, few, scoped.text)).status).toBe(200);
    for (const one of open) {
      expect((await ask(one, few, scoped.text)).text).toContain('structuredContent');
      expect((await ask(one, call, scoped.text)).text).toContain('Unknown tool: cell');
    }
  });

  it('are forwarded if their header requires more, so that an HTTP thread reaches its 600th message', async () => {
    const before = await restarts();
    const lost = async (one: Connection): Promise<boolean> => {
      for (let i = 0; i < 700; i++) {
        try {
          await ask(one, { tool: 'few', args: { count: 1 }, id: i }, 'root-of-the-tests', true);
        } catch {
          return true;
        }
      }
      return false;
    };
    const gone = await Promise.all(open.map(lost));
    expect(gone).toContain(true);
    await expect.poll(restarts).toBeGreaterThan(before);
    // Those that are left, and fresh ones of the HTTP thread that takes its place, which knows the calls, too.
    const { port } = server;
    open = await Promise.all(
      open.map((one, i) => (gone[i] ? Connection.open(port) : Promise.resolve(one))),
    );
    for (const one of open) {
      const { text } = await ask(one, { tool: 'cell', args: { name: 'c7' } });
      expect(text).toContain('structuredContent');
    }
  });

  it('follow the program', async () => {
    const call: Call = { tool: 'said', args: { of: 'c1' } };
    const textsOf = async () =>
      new Set((await Promise.all(open.map((one) => ask(one, call)))).map(({ text }) => text));
    expect([...(await textsOf())][0]).toContain('one');
    for (const said of ['two', 'three']) {
      writeFileSync(join(server.project, 'main.hx'), source(said));
      await open[0]!.request({
        path: '_admin/reload',
        headers: { 'x-api-key': 'root-of-the-tests' },
      });
      const texts = await textsOf();
      expect(texts.size).toBe(1);
      expect([...texts][0]).toContain(said);
    }
    // A query that is gone is no tool any more.
    writeFileSync(
      join(server.project, 'main.hx'),
      source('four').replace('QUERY said', 'QUERY was'),
    );
    await open[0]!.request({
      path: '_admin/reload',
      headers: { 'x-api-key': 'root-of-the-tests' },
    });
    expect([...(await textsOf())][0]).toContain('Unknown tool: said');
  });
});
