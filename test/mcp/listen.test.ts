// Streams of `subscriptions/listen` on both transports: what they promise, whom they tell of what,
// how they end, and how many there may be.
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Listener, listen } from './listener.js';
import { type RunningMcp, startMcp } from './running-mcp.js';
import { expectFigure } from '../support/run/figure.js';

const source = `
N::Person { INDEX name: String }
// How many there are.
QUERY count() => n <- N<Person>::COUNT RETURN n
`;
const more = `${source}\nQUERY names() => p <- N<Person> RETURN p::{name}\n`;
const all = {
  toolsListChanged: true,
  resourcesListChanged: true,
  promptsListChanged: true,
  resourceSubscriptions: ['trellis://schema', 'trellis://schema.md', 'trellis://nothing'],
};

describe.each(['uws', 'node'] as const)('%s', (transport) => {
  let mcp: RunningMcp;
  let open: Listener[] = [];
  beforeAll(async () => {
    mcp = await startMcp(transport, source, { 'mcp.max_subscriptions': '8' });
  });
  afterEach(async () => {
    for (const listener of open) listener.close();
    open = [];
    mcp.reload(source);
    await expect.poll(streams).toBe(0);
  });
  afterAll(() => mcp.close());

  const hear = async (
    ...args: Parameters<typeof listen> extends [number, ...infer R] ? R : never
  ) => {
    const listener = await listen(mcp.port, ...args);
    open.push(listener);
    return listener;
  };
  async function streams(): Promise<number> {
    const { text } = await mcp.client.request({ method: 'GET', path: 'metrics' });
    return Number(/^trellis_mcp_streams (\d+)$/m.exec(text)?.[1]);
  }

  test('the first message says what is honoured', async () => {
    const listener = await hear(all, { id: 7 });
    expect([listener.status, listener.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(listener.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    expect(await listener.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        _meta: { 'io.modelcontextprotocol/subscriptionId': 7 },
        notifications: {
          toolsListChanged: true,
          resourcesListChanged: true,
          promptsListChanged: true,
          resourceSubscriptions: ['trellis://schema', 'trellis://schema.md'],
        },
      },
    });
    const few = await hear({ toolsListChanged: false, promptsListChanged: 'yes' });
    expect((await few.next()).params.notifications).toEqual({});
  });

  test('M14 a reload that adds a query is reported immediately, one time, and only to its subscribers', async () => {
    const both = await hear(all);
    const tools = await hear({ toolsListChanged: true });
    const prompts = await hear({ promptsListChanged: true });
    for (const one of [both, tools, prompts]) await one.next();
    const started = performance.now();
    mcp.reload(more);
    expect((await tools.next()).method).toBe('notifications/tools/list_changed');
    // On a quiet machine; other work may be in the way of it.
    expectFigure(performance.now() - started, 500, 'ms to the notification');
    const told = [await both.next(), await both.next(), await both.next(), await both.next()];
    expect(told.map(({ method, params }) => [method, params.uri])).toEqual([
      ['notifications/tools/list_changed', undefined],
      ['notifications/resources/list_changed', undefined],
      ['notifications/resources/updated', 'trellis://schema'],
      ['notifications/resources/updated', 'trellis://schema.md'],
    ]);
    for (const { params } of told) {
      expect(params._meta).toEqual({ 'io.modelcontextprotocol/subscriptionId': 'l' });
    }
    mcp.reload(more);
    await mcp.ask('ping');
    expect([both.told.length, tools.told.length, prompts.told.length]).toEqual([5, 2, 1]);
  });

  test('prompts of the project are read again, and reported', async () => {
    const listener = await hear({ promptsListChanged: true });
    await listener.next();
    mkdirSync(join(mcp.folder, 'prompts'), { recursive: true });
    writeFileSync(join(mcp.folder, 'prompts', `${transport}.md`), 'Say hello.');
    mcp.app.reloadPrompts();
    expect((await listener.next()).method).toBe('notifications/prompts/list_changed');
  });

  test('no more streams than the limit are open; a closed one frees its place', async () => {
    for (let i = 0; i < 8; i++) await (await hear({})).next();
    const late = await hear({});
    expect(late.status).toBe(429);
    open[0]!.close();
    await expect.poll(streams).toBe(7);
    expect((await hear({})).status).toBe(200);
  });

  test('a client that does not read is disconnected, and costs nothing', async () => {
    // Each notification names it, so that few of them fill the buffers of two sockets.
    const id = JSON.stringify('x'.repeat(100_000));
    const body = `{"jsonrpc":"2.0","id":${id},"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}}`;
    const socket = connect(mcp.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await expect.poll(streams).toBe(1);
    for (let i = 0; i < 1_000 && (await streams()) === 1; i++) {
      mcp.reload(i % 2 === 0 ? more : source);
    }
    expect(await streams()).toBe(0);
    socket.destroy();
  });
});

test.each(['uws', 'node'] as const)(
  '%s: the server says when it ends a stream',
  async (transport) => {
    const mcp = await startMcp(transport, source);
    const listener = await listen(mcp.port, {}, { id: 9 });
    await listener.next();
    const draining = mcp.app.drain(1_000);
    expect(await listener.next()).toEqual({
      jsonrpc: '2.0',
      id: 9,
      result: {
        resultType: 'complete',
        _meta: { 'io.modelcontextprotocol/subscriptionId': 9 },
      },
    });
    await listener.ended;
    await draining;
    mcp.close();
  },
);

test.each(['uws', 'node'] as const)(
  '%s: M14 a key that cannot see a query receives nothing of it; the streams of a revoked key end',
  async (transport) => {
    const mcp = await startMcp(transport, source);
    try {
      const keys = [mcp.key('read'), mcp.key('read', ['count']), mcp.key('write')];
      const listeners = await Promise.all(keys.map((key) => listen(mcp.port, all, { key })));
      for (const listener of listeners) await listener.next();
      const counts = () => listeners.map(({ told }) => told.length - 1);
      mcp.reload(more);
      await expect.poll(counts).toEqual([4, 0, 4]);
      mcp.reload(`${more}\n#[mcp]\nQUERY add() => p <- AddN<Person>({name: "x"}) RETURN p\n`);
      await expect.poll(counts).toEqual([4, 0, 8]);
      const keptRead = listeners[0]!;
      mcp.revoke(keys[0]!);
      await expect.poll(() => keptRead.told.at(-1).result?.resultType).toBe('complete');
      await keptRead.ended;
      expect(counts()).toEqual([5, 0, 8]);
      for (const listener of listeners) listener.close();
    } finally {
      mcp.close();
    }
  },
);
