// What a key limited to some queries can see: nothing with another name. The test requests everything that
// returns names (contracts, pages, MCP, errors and their hints), and searches the responses for the word that
// all other types, properties, queries, files and tenants of the project have in their names.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeKeyFile } from '../../../server/auth/key-file.js';
import { makeKey, type Role } from '../../../server/auth/key-record.js';
import { type Server, startServer } from '../../support/server/server.js';

const sources = {
  'seen.hx': `
    N::Leaf { title: String }
    /// Adds a leaf.
    QUERY addLeaf(title: String) => leaf <- AddN<Leaf>({ title: title }) RETURN leaf
    QUERY leaves() => found <- N<Leaf> RETURN found`,
  'velum.hx': `
    N::VelumNode { UNIQUE INDEX velumKey: String, velumText: String }
    V::VelumVector { velumNote: String }
    E::VelumEdge { From: VelumNode, To: Leaf, Properties: { velumYear: I64 } }
    /// Velum things.
    #[mcp]
    QUERY velumNodes(velumWanted: String) =>
      velumFound <- N<VelumNode>({ velumKey: velumWanted }) RETURN velumFound
    QUERY addVelum(velumKey: String) =>
      velumMade <- AddN<VelumNode>({ velumKey: velumKey, velumText: velumKey }) RETURN velumMade`,
};
const config = { 'server.ad_hoc_queries': true, 'tenants.databases.velumhouse': '' };

let server: Server;
const keys = new Map<string, string>();

beforeAll(async () => {
  server = await startServer({ sources, config });
  const given: [name: string, role: Role, queries?: string[]][] = [
    ['all', 'admin'],
    ['reads', 'read', ['leaves']],
    ['writes', 'write', ['leaves', 'addL*', 'nothing']],
    ['rules', 'admin', ['lea*', 'addLeaf']],
    ['measures', 'metrics'],
  ];
  const made = given.map(([name, role, queries]) => {
    const { record, text } = makeKey({ name, role, ...(queries && { queries }) }, new Date());
    keys.set(name, text);
    return record;
  });
  changeKeyFile(join(server.data, 'keys.json'), () => made);
  server.child.kill('SIGHUP');
  while ((await ask('all', 'GET', '/version')).status !== 200) await pause(20);
});
afterAll(() => server.dispose());

async function ask(key: string, method: string, path: string, body = '') {
  const headers = { 'x-api-key': keys.get(key)!, accept: 'application/json' };
  return server.client.request({ method, path, headers, body });
}

const rpc = (method: string, params: object = {}): [string, string, string] => [
  'POST',
  '/mcp',
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
];
const completed = (ref: object, name: string): [string, string, string] =>
  rpc('completion/complete', { ref, argument: { name, value: '' } });

const pages = ['introspect', 'openapi.json', 'version', '_explore/status', '_explore/sources'];
const graph = ['nodes-edges', 'nodes-by-label?label=Velm', 'slowlog', '_admin/indexes', 'metrics'];
const near = ['velmNodes', 'addVelm', 'mcp/velmNodesMcp', 'mcp/addVelmMcp', 'leavs', 'addLeaf'];
const asked: [method: string, path: string, body?: string][] = [
  ...[...pages, ...graph].map((path): [string, string] => ['GET', `/${path}`]),
  ...near.map((path): [string, string, string] => ['POST', `/${path}`, '{"velm":1}']),
  ...['status', 'search', 'graph', 'neighbours', 'elements', 'vector', 'vector-map'].map(
    (name): [string, string, string] => ['POST', `/_explore/${name}`, '{"type":"Velm"}'],
  ),
  ...['n_from_type', 'schema_resource', 'init', 'search_keyword'].map(
    (name): [string, string, string] => ['POST', `/mcp/${name}`, '{"node_type":"Velm"}'],
  ),
  ['POST', '/_admin/query', '{"source":"N<Velm>"}'],
  ['POST', '/_admin/check', '{"sources":[]}'],
  rpc('tools/list'),
  rpc('resources/list'),
  rpc('resources/templates/list'),
  rpc('prompts/list'),
  ...['schema', 'schema.md', 'query/velmNodes', 'query/leaves', 'element/velm', 'types'].map((of) =>
    rpc('resources/read', { uri: `trellis://${of}` }),
  ),
  ...['explore', 'answer_with_sources', 'velmNodes'].map((name) =>
    rpc('prompts/get', { name, arguments: { question: 'x', type: 'Velm' } }),
  ),
  ...['velmNodes', 'leaves', 'schema', 'addVelm'].map((name) =>
    rpc('tools/call', { name, arguments: { velm: 1 } }),
  ),
  completed({ type: 'ref/resource', uri: 'trellis://query/{name}' }, 'name'),
  completed({ type: 'ref/prompt', name: 'answer_with_sources' }, 'type'),
];

test.each(['reads', 'writes', 'rules', 'measures'])(
  '%s receives nothing beyond its queries',
  async (key) => {
    for (const [method, path, body] of asked) {
      if (key === 'measures' && path === '/metrics') continue;
      const { status, text } = await ask(key, method, path, body);
      expect([path, body, status < 500, text.match(/.{0,80}velum.{0,80}/i)?.[0]]).toEqual([
        path,
        body,
        true,
        undefined,
      ]);
    }
  },
);

test('results that would disclose it: to a key of everything most of them do', async () => {
  let told = 0;
  for (const [method, path, body] of asked) {
    if (/velum/i.test((await ask('all', method, path, body)).text)) told++;
  }
  expect(told).toBeGreaterThan(15);
});
