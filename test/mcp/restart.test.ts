// `POST /mcp` of a starting server. Its list stays the same over restarts, it answers what it can while it
// still reads its data, and it reports a source soon after that was saved (mcp.md 11: M04, M14, M15). Long
// tests use both transports.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFigure } from '../support/run/figure.js';
import { Client } from '../support/server/http.js';
import { type Server, startServer } from '../support/server/server.js';
import { fill, removeSnapshots, vectorSources } from '../support/server/vector-server.js';
import { clustered } from '../vector/random.js';
import { listen } from './listener.js';
import { modern } from './running-mcp.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const transports = isLong ? ['uws', 'node'] : ['uws'];
/** As many as take some hundred milliseconds to be indexed again. */
const vectors = clustered(isLong ? 6_000 : 1_500, 64, { seed: 7 });

const meta = {
  'io.modelcontextprotocol/protocolVersion': modern,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** What is answered to a modern client. */
async function ask(client: Client, method: string, more: { name?: string } = {}) {
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...more, _meta: meta } };
  const headers = {
    'Content-Type': 'application/json',
    'MCP-Protocol-Version': modern,
    'Mcp-Method': method,
    ...(more.name !== undefined && { 'Mcp-Name': more.name }),
  };
  return client.request({ method: 'POST', path: 'mcp', body: JSON.stringify(message), headers });
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    }),
  );
}

describe.each(transports)('%s', (transport) => {
  let server: Server;
  beforeAll(async () => {
    const config = { 'server.transport': transport };
    server = await startServer({ sources: vectorSources, config, workers: 2 });
    await fill(server, vectors);
  });
  afterAll(() => server.dispose());

  test('M14 a subscribed client receives the report of a saved query within half a second', async () => {
    const waits: number[] = [];
    // Other work of this machine may be in the way of one of them, not of all.
    for (let i = 0; i < 4 && Math.min(...waits) >= 500; i++) {
      const listener = await listen(server.port, { toolsListChanged: true });
      await listener.next();
      const saved = performance.now();
      writeFileSync(join(server.project, `more${i}.hx`), `QUERY more${i}() => RETURN "more"\n`);
      expect((await listener.next()).method).toBe('notifications/tools/list_changed');
      waits.push(performance.now() - saved);
      listener.close();
    }
    expectFigure(Math.min(...waits), 500, 'ms to the notification');
    expect((await ask(server.client, 'tools/list')).text).toContain('"name":"more0"');
  });

  test('M04 M15 the list stays as it is over restarts; while data are read, a call may be made again', async () => {
    const lists = new Set<string>();
    const list = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i++) lists.add((await ask(server.client, 'tools/list')).text);
    };
    await list(98);
    await server.restart();
    await list(1);
    await server.stop();
    removeSnapshots(server);
    const port = await freePort();
    const starting = server.start({ args: ['--port', String(port)] });
    const early = new Client(port);
    const told: [number, string, string][] = [];
    let isReady = false;
    void starting.then(() => (isReady = true));
    while (!isReady) {
      try {
        const discovered = await ask(early, 'server/discover');
        const called = await ask(early, 'tools/call', { name: 'count' });
        told.push([discovered.status, discovered.text, called.text]);
      } catch {
        // No process listens yet.
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await starting;
    const answers = told.map(([status, found, called]) => {
      expect([status, JSON.parse(found).result.supportedVersions[0]]).toEqual([200, modern]);
      return JSON.parse(called).result;
    });
    const refused = answers.filter(({ isError }) => isError);
    expect(refused.length).toBeGreaterThan(0);
    for (const { structuredContent, content } of refused) {
      expect(structuredContent).toMatchObject({ code: 'NOT_READY', retryable: true });
      expect(content[0].text).toMatch(/^NOT_READY: /);
    }
    await list(1);
    expect(lists.size).toBe(1);
    early.close();
    const after = JSON.parse((await ask(server.client, 'tools/call', { name: 'count' })).text);
    expect(after.result.structuredContent).toEqual({ n: vectors.length });
  });
});
