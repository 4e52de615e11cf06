// A node that reaches the leader but not the log: a read through it sees every write through it, or fails, at
// every interface. A read that requests no freshness is answered immediately.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Servers } from '../support/servers.js';

const sources = {
  'main.hx': `N::P { UNIQUE INDEX name: String }
#[mcp] QUERY add(name: String) =>
    p <- AddN<P>({name: name})
    RETURN p
#[mcp] QUERY find(name: String) =>
    p <- N<P>({name: name})
    RETURN p::{name}
`,
};

let servers: Servers;
const call: Servers['call'] = (...args) => servers.call(...args);

beforeAll(async () => {
  servers = await Servers.over(sources);
  const config = { 'server.ad_hoc_queries': true, 'server.explorer': true, 'server.watch': false };
  await servers.place('a', config);
  await servers.place('b', {
    ...config,
    'cluster.role': 'reader',
    'cluster.wait_timeout': '250ms',
  });
  await servers.found('a', 'b');
  await servers.begin('a', 'b');
});
afterAll(() => servers.close());

/** A client takes the answer of a door for the value, whatever its form. */
type Door = (name: string, headers: object) => Promise<{ status: number; text: string }>;

const posted = async (path: string, body: object, headers: object) => {
  const { status, body: told } = await call('b', path, body, headers);
  return { status, text: JSON.stringify(told) };
};
const got = async (path: string, headers: object) => {
  const reply = await servers.get('b').client.request({
    method: 'GET',
    path,
    headers: headers as Record<string, string>,
  });
  return { status: reply.status, text: reply.text };
};
const tool = async (name: string, args: object, headers: object) => {
  const params = { name, arguments: args };
  const asked = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const more = { 'MCP-Protocol-Version': '2025-06-18', Accept: 'application/json', ...headers };
  const { body } = await call('b', 'mcp', asked, more);
  const text = JSON.stringify(body);
  // A tool that fails says so in a result, which is a 200.
  return { status: text.includes('REPLICA_BEHIND') ? 503 : 200, text };
};
let connection = '';
const walked = (step: string) => async (_: string, headers: object) => {
  const data = { node_type: 'P' };
  const began = await posted(step, { connection_id: connection, data }, headers);
  if (began.status !== 200) return began;
  return posted('mcp/collect', { connection_id: connection }, headers);
};

const doors: Record<string, Door> = {
  'a query': (name, headers) => posted('find', { name }, headers),
  'a query in the call': (name, headers) =>
    posted(
      '_query',
      { source: `QUERY q() => p <- N<P>({name: "${name}"}) RETURN p::{name}` },
      headers,
    ),
  'a page of the explorer': (_, headers) => got('nodes-edges?node_label=name', headers),
  'a tool of agents': (name, headers) => tool('find', { name }, headers),
  'a walk of agents': async (_, headers) => {
    const began = await tool('n_from_type', { node_type: 'P' }, headers);
    if (began.status !== 200) return began;
    const id = /connection_id\\*":\\*"([^"\\]+)/.exec(began.text)![1]!;
    return tool('collect', { connection_id: id }, headers);
  },
  'a session': walked('mcp/n_from_type'),
};

/** A refusal may repeat the name that it does not find. */
const holds = (text: string, name: string): boolean =>
  !/NO_VALUE_FOUND|REPLICA_BEHIND/.test(text) && text.includes(name);

describe('a node that is cut from the log', () => {
  let count = 0;
  let name = '';
  beforeEach(async () => {
    connection = (await call('b', 'mcp/init', {})).body as unknown as string;
    name = `p${count++}`;
    servers.log.fault('b', { away: 'held' });
    expect((await call('b', 'add', { name })).status).toBe(200);
  });

  test.each(Object.entries(doors))('what was written is read or refused: %s', async (_, door) => {
    // Without a header, and whatever else it asks for but `local`.
    for (const asked of [{}, { 'Trellis-Consistency': 'max-lag=60000' }])
      expect(await door(name, asked)).toMatchObject({
        status: 503,
        text: expect.stringContaining('REPLICA_BEHIND'),
      });
    const local = await door(name, { 'Trellis-Consistency': 'local' });
    expect(local.text).not.toContain('REPLICA_BEHIND');
    expect(holds(local.text, name)).toBe(false);
    // The log comes back while the read waits.
    const waiting = door(name, {});
    servers.log.fault('b', undefined);
    const seen = await waiting;
    if (seen.status === 200) expect(holds(seen.text, name)).toBe(true);
    await expect.poll(async () => holds((await door(name, {})).text, name)).toBe(true);
  });

  test('writes still pass, by every door, and none of them is called refused', async () => {
    const through = await call('b', 'add', { name: `${name}-again` });
    const byTool = await tool('add', { name: `${name}-tool` }, {});
    expect([through.status, byTool.status]).toEqual([200, 200]);
    const session = { connection_id: connection, data: { name: `${name}-session` } };
    const bySession = await call('b', 'mcp/addMcp', session);
    // The session has no elements that this node does not have.
    expect([bySession.status, bySession.body.code]).toEqual([503, 'OUTCOME_UNKNOWN']);
    for (const end of ['again', 'tool', 'session'])
      expect((await call('a', 'find', { name: `${name}-${end}` })).status).toBe(200);
    servers.log.fault('b', undefined);
    await expect.poll(async () => (await call('b', 'find', { name })).status).toBe(200);
  });

  test('a node that is set up again owes nothing to earlier requests', async () => {
    const b = servers.get('b');
    servers.log.fault('b', undefined);
    await b.stop();
    await b.start();
    await servers.takesRole('b', 'follower');
    await expect.poll(async () => (await call('b', 'find', { name })).status).toBe(200);
  });
});
