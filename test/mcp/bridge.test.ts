// The bridge of `trellis mcp` in this process, between streams of lines and a running server: what it
// passes on, what it answers itself, and how it outlives the server.
import { createServer, type Server, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { runBridge } from '../../server/mcp/stdio/bridge.js';
import { LineReader } from '../../server/mcp/stdio/line-reader.js';
import { randomSource } from './random-json.js';
import { modern, type RunningMcp, startMcp } from './running-mcp.js';

const source = `
N::Person { name: String, big: I64 }
QUERY count() => n <- N<Person>::COUNT RETURN n
QUERY number(n: I64) => m <- n RETURN m
#[mcp]
QUERY add(name: String) => p <- AddN<Person>({name: name}) RETURN p::{name}
`;

// biome-ignore lint/suspicious/noExplicitAny: a test looks wherever it likes
type Json = any;

interface Talk {
  send(line: string | Buffer): void;
  /** The next line that has not been waited for. */
  next(): Promise<string>;
  json(): Promise<Json>;
  lines: string[];
  /** Ends the input; resolves when the bridge has ended. */
  end(): Promise<void>;
  /** Where the server is from now on. */
  url: string;
}

function talk(url: string, headers: Record<string, string> = {}): Talk {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const lines: string[] = [];
  let read = 0;
  let wake = (): void => undefined;
  const reader = new LineReader(1 << 24, (line) => {
    lines.push(String(line));
    wake();
  });
  output.on('data', (bytes: Buffer) => reader.take(bytes));
  const self: Talk = {
    url,
    lines,
    send: (line) => {
      input.write(line);
      input.write('\n');
    },
    next: async () => {
      while (lines.length === read) await new Promise<void>((done) => (wake = done));
      return lines[read++]!;
    },
    json: async () => JSON.parse(await self.next()),
    end: () => {
      input.end();
      return done;
    },
  };
  const link = { find: async () => ({ url: self.url }), forget: () => undefined };
  const mostBytes = 1 << 20;
  const done = runBridge({
    input,
    output,
    link,
    headers,
    limits: defaultLimits,
    messageBytesMax: mostBytes,
  });
  return self;
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': modern,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const message = (id: unknown, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } });
const callOf = (id: unknown, name: string, args: object = {}): string =>
  message(id, 'tools/call', { name, arguments: args });

let mcp: RunningMcp;
let url: string;
let line: Talk;
beforeAll(async () => {
  mcp = await startMcp('uws', source);
  url = `http://127.0.0.1:${mcp.port}/mcp`;
  line = talk(url);
});
afterAll(async () => {
  await line.end();
  mcp.close();
});

describe('what it passes on', () => {
  test('both eras, each with what its head needs', async () => {
    line.send(message(1, 'server/discover'));
    expect((await line.json()).result.supportedVersions[0]).toBe(modern);
    line.send(
      '{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}',
    );
    expect((await line.json()).result.protocolVersion).toBe('2025-06-18');
    line.send('{"jsonrpc":"2.0","method":"notifications/initialized"}\r');
    line.send(callOf(3, 'count'));
    expect(await line.json()).toMatchObject({ id: 3, result: { structuredContent: { n: 0 } } });
    line.send(message(4, 'resources/read', { uri: 'trellis://schéma\n' }));
    expect((await line.json()).error).toMatchObject({ code: -32602 });
    line.send(message(5, 'resources/read', { uri: 'trellis://schema' }));
    expect((await line.json()).result.contents).toHaveLength(1);
    const old = { ...meta, 'io.modelcontextprotocol/protocolVersion': '2030-01-01' };
    line.send(
      JSON.stringify({ jsonrpc: '2.0', id: 6, method: 'tools/list', params: { _meta: old } }),
    );
    expect((await line.json()).error.code).toBe(-32022);
    line.send('{"jsonrpc":"2.0","id":7,"method":"server/discover"}');
    expect((await line.json()).error.code).toBe(-32602);
  });

  test('M07 numbers and ids as they were written', async () => {
    line.send(
      `{"jsonrpc":"2.0","id":12345678901234567890,"method":"tools/call","params":{"name":"number","arguments":{"n":9007199254740993}}}`,
    );
    const told = await line.next();
    expect(told).toContain('"id":12345678901234567890,');
    expect(told).toContain('"m":"9007199254740993"');
  });

  test('replies are written as they arrive, each one time', async () => {
    for (let id = 100; id < 150; id++) line.send(callOf(id, 'number', { n: id }));
    const told: Json[] = [];
    while (told.length < 50) told.push(await line.json());
    const seen = told.map(({ id, result }) => [id, result.structuredContent.m]);
    expect(seen.sort(([a], [b]) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, i) => [100 + i, 100 + i]),
    );
  });

  test('events of a subscription, until it is cancelled', async () => {
    line.send(message('s', 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
    expect((await line.json()).method).toBe('notifications/subscriptions/acknowledged');
    mcp.reload(`${source}\nQUERY more() => n <- N<Person>::COUNT RETURN n\n`);
    expect((await line.json()).method).toBe('notifications/tools/list_changed');
    line.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}');
    const streams = async (): Promise<string | undefined> => {
      const { text } = await mcp.client.request({ method: 'GET', path: 'metrics' });
      return /^trellis_mcp_streams (\d+)$/m.exec(text)?.[1];
    };
    await expect.poll(streams).toBe('0');
    mcp.reload(source);
    line.send(callOf('after', 'count'));
    expect((await line.json()).id).toBe('after');
  });

  test('M20 a call that is cancelled ends on the server, and is not answered', async () => {
    let release = (): void => undefined;
    mcp.database.held = new Promise<void>((done) => (release = done));
    const before = mcp.app.inFlight;
    line.send(callOf('slow', 'n_from_type', { node_type: 'Person' }));
    await expect.poll(() => mcp.app.inFlight).toBe(before + 1);
    line.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}');
    await expect.poll(async () => (await metric('requests_aborted_total')) > 0).toBe(true);
    release();
    mcp.database.held = undefined;
    line.send(callOf('next', 'count'));
    expect((await line.json()).id).toBe('next');
  });

  async function metric(name: string): Promise<number> {
    const { text } = await mcp.client.request({ method: 'GET', path: 'metrics' });
    return Number(new RegExp(`^trellis_${name} (\\d+)$`, 'm').exec(text)?.[1]);
  }

  test('with fewer rights than its key, if a flag says so', async () => {
    const reader = talk(url, { 'X-Trellis-Access': 'read' });
    reader.send(message(1, 'tools/list'));
    const { tools, cacheScope } = (await reader.json()).result;
    expect(tools.map(({ name }: Json) => name).slice(0, 2)).toEqual(['count', 'number']);
    expect(cacheScope).toBe('private');
    reader.send(callOf(2, 'add', { name: 'x' }));
    expect((await reader.json()).error.message).toBe('Unknown tool: add');
    await reader.end();
  });
});

describe('what it answers itself', () => {
  const faults: [string, string, number, unknown][] = [
    ['no JSON', 'hello', -32700, null],
    ['a batch', '[]', -32600, null],
    ['no method', '{"jsonrpc":"2.0","id":5}', -32600, 5],
    ['an id that is none', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
    ['too much', `{"x":"${'x'.repeat(1 << 20)}"}`, -32700, null],
  ];
  test.each(faults)('%s', async (_, text, code, id) => {
    line.send(text);
    expect(await line.json()).toMatchObject({ error: { code }, id });
    line.send(callOf('alive', 'count'));
    expect((await line.json()).id).toBe('alive');
  });

  test('blank lines and unexpected replies are skipped', async () => {
    for (const text of ['', '  \t', '{"jsonrpc":"2.0","method":"notifications/progress"}', '\r']) {
      line.send(text);
    }
    line.send(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nothing"}}',
    );
    line.send(callOf('alone', 'count'));
    expect((await line.json()).id).toBe('alone');
  });

  test('the input can arrive in any pieces', () => {
    const lines: string[] = [];
    const reader = new LineReader(100, (one) =>
      lines.push(one === undefined ? 'long' : String(one)),
    );
    for (const byte of Buffer.from(`a\n${'x'.repeat(101)}\n\nb\r\n${'y'.repeat(100)}\nc`)) {
      reader.take(Buffer.from([byte]));
    }
    reader.end();
    expect(lines).toEqual(['a', 'long', 'b\r', 'y'.repeat(100), 'c']);
  });

  test('M17 only messages are written, for any input', async () => {
    const own = talk(url);
    const random = randomSource(11);
    const good = [
      callOf(1, 'number', { n: 1 }),
      message(2, 'tools/list'),
      message('x', 'prompts/list'),
    ];
    const count = process.env.TRELLIS_TEST_LONG ? 10_000 : 600;
    for (let i = 0; i < count; i++) {
      const text = good[i % good.length]!;
      const at = (i * 7919) % text.length;
      const noise = JSON.stringify(random.value(2));
      const kind = i % 4;
      if (kind === 0) own.send(noise);
      else if (kind === 1) own.send(`${text.slice(0, at)}${text.slice(at + 1)}`);
      else if (kind === 2) own.send(Buffer.from([i % 256, (i * 31) % 256, ...Buffer.from(text)]));
      else own.send(text.replace('"params":', `"params":${noise},"p":`));
      if (i % 50 === 49) {
        own.send(callOf(`mark ${i}`, 'count'));
        for (let told = ''; !told.includes(`"mark ${i}"`); ) told = await own.next();
      }
    }
    await own.end();
    for (const told of own.lines) expect(JSON.parse(told).jsonrpc).toBe('2.0');
    expect(own.lines.length).toBeGreaterThan(count / 4);
  });

  test('a refusal of the server that is no message becomes one', async () => {
    const key = await startMcp('uws', source);
    try {
      const secret = key.key('read');
      const own = talk(`http://127.0.0.1:${key.port}/mcp`);
      own.send(message(1, 'tools/list'));
      expect((await own.json()).error).toMatchObject({
        code: -32603,
        data: { code: 'API_KEY_REQUIRED' },
      });
      await own.end();
      const keyed = talk(`http://127.0.0.1:${key.port}/mcp`, { 'x-api-key': secret });
      keyed.send(message(1, 'tools/list'));
      expect((await keyed.json()).result.tools.length).toBeGreaterThan(3);
      await keyed.end();
    } finally {
      key.close();
    }
  });
});

describe('a server that stops', () => {
  /** Takes a request and ends the connection, counting. */
  function deafServer(): Promise<{ server: Server; port: number; heard: () => number }> {
    let heard = 0;
    const server = createServer((socket: Socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        heard++;
        socket.destroy();
      });
    });
    return new Promise((resolve) =>
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address() as { port: number };
        resolve({ server, port, heard: () => heard });
      }),
    );
  }

  test('a call is never sent twice; one that only reads is repeated', async () => {
    const deaf = await deafServer();
    const own = talk(`http://127.0.0.1:${deaf.port}/mcp`);
    own.send(callOf(1, 'add', { name: 'x' }));
    const { result } = await own.json();
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'NOT_READY' } });
    expect(result.content[0].text).toContain('look whether the call was carried out');
    expect(deaf.heard()).toBe(1);
    own.send(message(2, 'tools/list'));
    await expect.poll(deaf.heard).toBeGreaterThan(2);
    own.url = url;
    expect((await own.json()).result.tools.length).toBeGreaterThan(3);
    await own.end();
    deaf.server.close();
  });

  test('a call waits for a server that is not there yet', async () => {
    const { server, port } = await deafServer();
    await new Promise((done) => server.close(done));
    const own = talk(`http://127.0.0.1:${port}/mcp`);
    own.send(callOf(1, 'count'));
    setTimeout(() => (own.url = url), 300);
    expect((await own.json()).result.structuredContent).toEqual({ n: 0 });
    await own.end();
  });

  test('a subscription is opened again, and possible changes are reported', async () => {
    const first = await startMcp('node', source);
    const own = talk(`http://127.0.0.1:${first.port}/mcp`);
    const notifications = { toolsListChanged: true, resourceSubscriptions: ['trellis://schema'] };
    own.send(message('s', 'subscriptions/listen', { notifications }));
    await own.json();
    own.url = url;
    first.close();
    const told = [await own.json(), await own.json()];
    expect(told.map(({ method, params }) => [method, params._meta, params.uri])).toEqual([
      [
        'notifications/tools/list_changed',
        { 'io.modelcontextprotocol/subscriptionId': 's' },
        undefined,
      ],
      [
        'notifications/resources/updated',
        { 'io.modelcontextprotocol/subscriptionId': 's' },
        'trellis://schema',
      ],
    ]);
    await own.end();
  });

  test('calls under way are answered before the bridge ends with its input', async () => {
    const own = talk(url);
    own.send(callOf(1, 'count'));
    await own.end();
    expect(own.lines).toHaveLength(1);
  });
});
