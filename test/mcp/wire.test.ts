// `POST /mcp` message by message: the order of checks, eras, heads, ids, on both transports.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ask, modern, type RunningMcp, startMcp } from './running-mcp.js';

const source = `
N::Person { name: String, age: I64 }
// How many there are.
QUERY count() => n <- N<Person>::COUNT RETURN n
QUERY add(name: String) => p <- AddN<Person>({name: name}) RETURN p
`;

describe.each(['uws', 'node'] as const)('%s', (transport) => {
  let mcp: RunningMcp;
  beforeAll(async () => {
    mcp = await startMcp(transport, source, { 'mcp.body_bytes': '1MiB' });
  });
  afterAll(() => mcp.close());

  const call = { name: 'count', arguments: {} };

  test('M01 a modern client discovers, lists, calls, and gets an error', async () => {
    const found = await mcp.ask('server/discover');
    expect(found.status).toBe(200);
    expect(found.json.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [modern, '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
      cacheScope: 'public',
      ttlMs: 60_000,
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'trellisdb', version: '1.0.0' } },
    });
    const { tools } = (await mcp.ask('tools/list')).json.result;
    expect(tools[0]).toMatchObject({ name: 'count', title: 'How many there are.' });
    const { result } = (await mcp.ask('tools/call', call)).json;
    expect(result).toMatchObject({
      resultType: 'complete',
      content: [{ type: 'text', text: '{"n":0}' }],
      structuredContent: { n: 0 },
    });
    const wrong = await mcp.ask('tools/call', { name: 'n_from_type', arguments: {} });
    expect(wrong.status).toBe(200);
    expect(wrong.json.result).toMatchObject({
      isError: true,
      structuredContent: { code: 'PARAM_MISSING', retryable: false },
    });
  });

  test('M02 a legacy client shakes hands and calls; no session of the protocol is ever made', async () => {
    const legacy = { legacy: true };
    const asked = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x' } };
    const hello = await mcp.ask('initialize', asked, legacy);
    expect(hello.json.result.protocolVersion).toBe('2025-06-18');
    expect(hello.json.result.serverInfo.name).toBe('trellisdb');
    const newer = await mcp.ask('initialize', { ...asked, protocolVersion: '2030-01-01' }, legacy);
    expect(newer.json.result.protocolVersion).toBe('2025-11-25');
    const told = await mcp.post('mcp', '{"jsonrpc":"2.0","method":"notifications/initialized"}');
    expect([told.status, told.text]).toEqual([202, '']);
    expect((await mcp.ask('ping', {}, legacy)).json.result).toEqual({});
    const { result } = (await mcp.ask('tools/call', call, legacy)).json;
    expect(result).toEqual({
      content: [{ type: 'text', text: '{"n":0}' }],
      structuredContent: { n: 0 },
    });
    // A client that names a session all the same is answered as any other.
    const lost = { legacy: true, headers: { 'Mcp-Session-Id': 'x', 'Last-Event-ID': '7' } };
    expect((await mcp.ask('ping', {}, lost)).json.result).toEqual({});
  });

  test('M04 the list is the same in every answer', async () => {
    const lists = new Set<string>();
    for (let i = 0; i < 100; i++) {
      const { text } = await mcp.ask('tools/list');
      lists.add(text.replace(/"id":\d+/, ''));
    }
    expect(lists.size).toBe(1);
  });

  test('M09 a foreign host or origin is refused as everywhere', async () => {
    const origins = ['http://evil.example', 'null'];
    for (const Origin of origins) {
      expect((await mcp.ask('tools/list', {}, { headers: { Origin } })).status).toBe(403);
    }
    const Host = 'evil.example';
    expect((await mcp.ask('tools/list', {}, { headers: { Host } })).status).toBe(403);
    const own = { Host: '127.0.0.1:6969', Origin: 'http://127.0.0.1:6969' };
    expect((await mcp.ask('tools/list', {}, { headers: own })).status).toBe(200);
  });

  const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;
  const heads: [string, Ask['headers'], number, number?][] = [
    ['as they should be', {}, 200],
    ['no version', { 'MCP-Protocol-Version': null }, 400, -32020],
    ['another version', { 'MCP-Protocol-Version': '2025-11-25' }, 400, -32020],
    ['no method', { 'Mcp-Method': null }, 400, -32020],
    ['another method', { 'Mcp-Method': 'tools/list' }, 400, -32020],
    ['the method in capitals', { 'Mcp-Method': 'TOOLS/CALL' }, 400, -32020],
    ['no name', { 'Mcp-Name': null }, 400, -32020],
    ['another name', { 'Mcp-Name': 'add' }, 400, -32020],
    ['the name in base64', { 'Mcp-Name': base64('count') }, 200],
    ['another name in base64', { 'Mcp-Name': base64('add') }, 400, -32020],
    ['a name in broken base64', { 'Mcp-Name': '=?base64?%%%?=' }, 400, -32020],
    ['names in other letters', { 'Mcp-Name': null, 'MCP-NAME': 'count' }, 200],
  ];
  test.each(heads)('M10 head: %s', async (_, headers, status, code) => {
    const told = await mcp.ask('tools/call', call, { headers });
    expect([told.status, told.json.error?.code]).toEqual([status, code]);
  });

  const envelope = '"jsonrpc":"2.0"';
  const bodies: [string, string | Buffer, number, number | undefined, unknown?][] = [
    ['nothing', '', 400, -32700, null],
    ['no JSON', '{', 400, -32700, null],
    ['a lone surrogate', `{${envelope},"id":1,"method":"\\ud800"}`, 400, -32700, null],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff]), 400, -32700, null],
    ['too many bytes', `{"x":"${'x'.repeat(1 << 20)}"}`, 400, -32700, null],
    ['a batch', `[{${envelope},"id":1,"method":"ping"}]`, 400, -32600, null],
    ['null', 'null', 400, -32600, null],
    ['no version', '{"id":"a","method":"ping"}', 400, -32600, 'a'],
    ['version 1', '{"jsonrpc":"1.0","id":7,"method":"ping"}', 400, -32600, 7],
    ['no method', `{${envelope},"id":7}`, 400, -32600, 7],
    ['id null', `{${envelope},"id":null,"method":"ping"}`, 400, -32600, null],
    ['id 1.5', `{${envelope},"id":1.5,"method":"ping"}`, 400, -32600, null],
    ['id true', `{${envelope},"id":true,"method":"ping"}`, 400, -32600, null],
    ['a text as id', `{${envelope},"id":"\\u00e9","method":"ping"}`, 200, undefined, 'é'],
    ['params as a list', `{${envelope},"id":7,"method":"tools/list","params":[]}`, 200, -32602, 7],
    ['an unknown method', `{${envelope},"id":7,"method":"logging/setLevel"}`, 200, -32601, 7],
    ['a method of a prototype', `{${envelope},"id":7,"method":"constructor"}`, 200, -32601, 7],
    [
      'a method of the other era',
      `{${envelope},"id":7,"method":"server/discover"}`,
      400,
      -32020,
      7,
    ],
    ['no tool', `{${envelope},"id":7,"method":"tools/call"}`, 200, -32602, 7],
    [
      'no such tool',
      `{${envelope},"id":7,"method":"tools/call","params":{"name":"__proto__"}}`,
      200,
      -32602,
      7,
    ],
    [
      'arguments as a list',
      `{${envelope},"id":7,"method":"tools/call","params":{"name":"count","arguments":[]}}`,
      200,
      -32602,
      7,
    ],
  ];
  test.each(bodies)('M11 body: %s', async (_, body, status, code, id) => {
    const told = await mcp.post('mcp', body);
    expect([told.status, told.json.error?.code, told.json.id]).toEqual([status, code, id]);
    expect((await mcp.ask('server/discover')).status).toBe(200);
  });

  test('M11 of a body 4 MiB are read, and not a byte more', async () => {
    const own = await startMcp(transport, source);
    try {
      const frame = (text: string): string =>
        `{${envelope},"id":1,"method":"ping","params":{"x":"${text}"}}`;
      const body = frame('x'.repeat(4 * 2 ** 20 - frame('').length));
      const most = await own.post('mcp', body);
      expect([body.length, most.status, most.json.result]).toEqual([4_194_304, 200, {}]);
      const over = await own.post('mcp', `${body} `);
      expect([over.status, over.json.error.code, over.json.id]).toEqual([400, -32700, null]);
      expect((await own.ask('server/discover')).status).toBe(200);
    } finally {
      own.close();
    }
  });

  test('M11 modern: an unknown method, one of the other era, a version of the future', async () => {
    for (const method of ['nothing', 'ping', 'initialize']) {
      const told = await mcp.ask(method);
      expect([told.status, told.json.error.code]).toEqual([404, -32601]);
    }
    const old = await mcp.ask(
      'ping',
      {},
      { legacy: true, headers: { 'MCP-Protocol-Version': '1' } },
    );
    expect([old.status, old.json.error.code]).toEqual([400, -32022]);
    expect(old.json.error.data.requested).toBe('1');
    const id = `{${envelope},"id":12345678901234567890,"method":"ping"}`;
    expect((await mcp.post('mcp', id)).text).toContain('"id":12345678901234567890');
  });

  test('M11 other methods of HTTP get the list of allowed ones', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const reply = await mcp.client.request({ method, path: 'mcp' });
      expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST']);
    }
    const text = { 'Content-Type': 'text/plain' };
    expect((await mcp.post('mcp', '{}', text)).status).toBe(415);
  });

  test('M15 while data are being read, discovery answers and a call may be made again', async () => {
    mcp.app.phase = 'starting';
    expect((await mcp.ask('server/discover')).status).toBe(200);
    const { result } = (await mcp.ask('tools/call', call)).json;
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toMatchObject({ code: 'NOT_READY', retryable: true });
    const list = await mcp.ask('tools/list');
    expect([list.status, list.json.error.data]).toEqual([503, { code: 'NOT_READY' }]);
    mcp.app.phase = 'serving';
  });
});
