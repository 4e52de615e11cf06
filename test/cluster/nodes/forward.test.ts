// Leader-only requests that arrive at a follower: the leader runs them, the follower returns the same
// response, and its next read sees the result. A refusal is the same, too, and no request is forwarded twice.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeProject } from '../../support/project.js';
import { expectFigure } from '../../support/run/figure.js';
import { Servers } from '../support/servers.js';

const sources = {
  'main.hx': `N::P { UNIQUE INDEX name: String, age: I64 }
#[mcp] QUERY add(name: String, age: I64) =>
    p <- AddN<P>({name: name, age: age})
    RETURN p
#[mcp] QUERY rename(name: String, to: String) =>
    p <- N<P>({name: name})::UPDATE({name: to})
    RETURN p::{name}
QUERY all() => p <- N<P> RETURN p::{name}
`,
};

let servers: Servers;
const call: Servers['call'] = (...args) => servers.call(...args);
const names = async (node: string): Promise<string[]> => {
  const { body } = await call(node, 'all', {});
  return body.p.map(({ name }: { name: string }) => name).sort();
};

beforeAll(async () => {
  servers = await Servers.over(sources);
  const config = { 'server.ad_hoc_queries': true, 'server.watch': false };
  await servers.place('a', config);
  await servers.place('b', { ...config, 'cluster.role': 'reader' });
  await servers.found('a', 'b');
  await servers.begin('a', 'b');
});
afterAll(() => servers.close());

test('C0 explain and profile of a query that writes, on any node', async () => {
  for (const node of ['a', 'b']) {
    const { status, body } = await call(node, 'add?explain=1', { name: 'asked', age: 1 });
    expect([status, body.p]).toEqual([200, undefined]);
    expect(await names(node)).toEqual([]);
  }
});

test('C0 K43 rows of an import', async () => {
  const rows = (from: number): string =>
    Array.from({ length: 50 }, (_, i) =>
      JSON.stringify({ node: 'P', properties: { name: `i${from + i}`, age: i } }),
    ).join('\n');
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const whole = await call('b', '_admin/import', rows(0), headers);
  expect(whole).toMatchObject({ status: 200, body: { nodes: 50, rejected: 0 } });
  expect((await names('b')).length).toBe(50);
  // Of one import, parts through different nodes.
  const first = await call('b', '_admin/import?name=x&more=1&at=0', `${rows(50)}\n`, headers);
  const at = first.body.at as number;
  const last = await call('a', `_admin/import?name=x&at=${at}`, rows(100), headers);
  expect(first.body.nodes + last.body.nodes).toBe(100);
  expect(last.body.at).toBeGreaterThan(at);
  const again = await call('b', `_admin/import?name=x&at=${at}`, rows(100), headers);
  expect(again.body).toMatchObject({ repeated: true });
  const wrong = '_admin/import?name=y&at=7';
  const [here, there] = [await call('a', wrong, '', headers), await call('b', wrong, '', headers)];
  expect([there.status, there.body.code, there.body.args]).toEqual([
    here.status,
    'PARAM_VALUE',
    here.body.args,
  ]);
});

test('C0 ad hoc queries', async () => {
  const source = (name: string) => `QUERY once() => p <- AddN<P>({name: "${name}", age: 5})
RETURN p::{name}`;
  for (const path of ['_admin/query', '_query']) {
    const { status, body } = await call('b', path, { source: source(path), write: true });
    expect([status, body]).toEqual([200, { p: { name: path } }]);
    expect(await names('b')).toContain(path);
    const twice = await call('b', path, { source: source(path), write: true });
    const there = await call('a', path, { source: source(path), write: true });
    expect([twice.status, twice.body.code]).toEqual([409, 'UNIQUE_VIOLATION']);
    expect([twice.body.error, twice.body.args]).toEqual([there.body.error, there.body.args]);
    const shown = await call('b', path, { source: source('shown'), write: true, explain: true });
    expect([shown.status, (await names('b')).includes('shown')]).toEqual([200, false]);
  }
});

test('C0 tools of agents', async () => {
  const tool = async (node: string, name: string, args: object, headers = {}) => {
    const params = { name, arguments: args };
    const { body } = await call(
      node,
      'mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      { 'MCP-Protocol-Version': '2025-06-18', Accept: 'application/json', ...headers },
    );
    return body.result;
  };
  const [there, here] = [
    await tool('a', 'rename', { name: 'i1', to: 'r1' }),
    await tool('b', 'rename', { name: 'i2', to: 'r2' }),
  ];
  const swapped = JSON.stringify(there).replaceAll('r1', 'r2');
  expect(JSON.stringify(here)).toBe(swapped);
  expect(await names('b')).toEqual(expect.arrayContaining(['r1', 'r2']));
  const clash = { name: 'r1', to: 'r2' };
  const [refusedThere, refused] = [
    await tool('a', 'rename', clash),
    await tool('b', 'rename', clash),
  ];
  expect(refused).toEqual(refusedThere);
  expect(JSON.stringify(refused)).toContain('UNIQUE_VIOLATION');
});

test('C0 tools of sessions, whose traversal stays on their node', async () => {
  const session = async (node: string) => {
    const { body: connection_id } = await call(node, 'mcp/init', {});
    const ask = (tool: string, more: object = {}) =>
      call(node, `mcp/${tool}`, { connection_id, ...more });
    return { ask };
  };
  const [there, here] = [await session('a'), await session('b')];
  const answers = async ({ ask }: typeof here, name: string): Promise<string[]> => {
    const told: unknown[] = [
      await ask('addMcp', { data: { name, age: 7 } }),
      await ask('next'),
      await ask('collect'),
      await ask('addMcp', { data: { name }, age: 8 }),
      await ask('renameMcp', { name, to: `${name}2` }),
      await ask('addMcp', { data: { name: 3 }, age: 8 }),
      await ask('collect'),
    ];
    const text = (one: unknown): string =>
      JSON.stringify(one)
        .replaceAll(name, 'NAME')
        .replaceAll(/"(id|request_id|position)":"[^"]*"/g, '"$1":"-"');
    return told.map(text);
  };
  const expected = await answers(there, 'by-a');
  expect(await answers(here, 'by-b')).toEqual(expected);
  expect(expected[0]).toContain('NAME');
  expect(await names('b')).toEqual(expect.arrayContaining(['by-a2', 'by-b2']));
});

test('C0 a reload is of the sources of the leader', async () => {
  const more = (name: string) => ({ 'more.hx': `QUERY ${name}() => p <- N<P>::COUNT RETURN p\n` });
  writeProject(servers.get('b').project, { sources: more('ofB') });
  writeProject(servers.get('a').project, { sources: more('ofA') });
  const { status, body } = await call('b', '_admin/reload', {});
  expect([status, body.reloaded]).toEqual([200, true]);
  expect((await call('b', 'ofA', {})).status).toBe(200);
  expect((await call('b', 'ofB', {})).status).toBe(404);
});

test('C0 a forwarded request is not forwarded again, and an expired time limit is reported', async () => {
  const passed = { 'Trellis-Passed-On': 'x' };
  const write = { source: 'QUERY q() => p <- AddN<P>({name: "q", age: 1}) RETURN p', write: true };
  for (const [path, body] of [
    ['_admin/import', '{"node":"P","properties":{"name":"q","age":1}}'],
    ['_admin/reload', '{}'],
    ['_query', JSON.stringify(write)],
  ] as const) {
    const { status, body: told } = await call('b', path, body, passed);
    expect([path, status, told.code]).toEqual([path, 503, 'NOT_LEADER']);
  }
  expect(await names('a')).not.toContain('q');
  // Nobody leads: it is waited for, as long as the request has.
  await servers.get('a').stop();
  const headers = { 'X-Request-Timeout-Ms': '300' };
  const started = performance.now();
  const { status, body } = await call('b', '_query', write, headers);
  expectFigure(performance.now() - started, 600, 'ms until a write without a leader is refused');
  expect([503, 504]).toContain(status);
  expect(['NO_LEADER', 'NOT_LEADER', 'QUERY_TIMEOUT']).toContain(body.code);
});
