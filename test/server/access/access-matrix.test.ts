// Access rights: every route, method and spelling of a path with every kind of key, on both transports. What
// is expected is worked out from the tables of http.md 2 and 8.1, not from the server's own; a route that is
// not in the table fails.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../server/config/config.js';
import { DatabaseService } from '../../../server/database/database-service.js';
import { databaseActions } from '../../../server/lifecycle/database-actions.js';
import { NodeClient } from '../../../server/cluster/node-client.js';
import { ConsistencyChecks } from '../../../server/cluster/membership/consistency-check.js';
import { Roster } from '../../../server/cluster/membership/known-nodes.js';
import { ClusterSettings } from '../../../server/cluster/membership/settings.js';
import { SourceStatus } from '../../../server/project/source-status.js';
import { root } from '../../support/project.js';
import { Accepted } from '../../../server/auth/accepted-credentials.js';
import { Keyring } from '../../../server/auth/keys.js';
import { RequestGuard } from '../../../server/auth/request-guard.js';
import { changeKeyFile } from '../../../server/auth/key-file.js';
import { makeKey, type Role } from '../../../server/auth/key-record.js';
import { Client, type Reply } from '../../support/server/http.js';
import { type RunningApp, startApp, transports } from '../running-app.js';

type Need = 'open' | 'any' | 'read' | 'write' | 'admin' | 'metrics' | 'node';
interface Door {
  get?: Need;
  post?: Need;
  /** The query behind POST. */
  query?: string;
}

/** Paths whose GET is the server's own, and which a query may stand behind all the same. */
const shared: Record<string, Need> = {
  '/livez': 'open',
  '/readyz': 'open',
  '/healthz': 'open',
  '/version': 'any',
  '/introspect': 'any',
  '/slowlog': 'admin',
};
const names = Object.keys(shared).map((path) => path.slice(1));

const rpcPing = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

/** What operators have done, and what nodes of a cluster ask: where there is none, only operators. */
const ofOperators =
  'backup check import import-files query recall reembed reload snapshot verify cluster-check cluster-copied cluster-copy ' +
  'cluster-forget cluster-leave cluster-piece cluster-status cluster-step-down tenants';
const ofNodes: Record<string, Need> = {
  'cluster-beat': 'any',
  'cluster-checked': 'node',
  'cluster-claim': 'node',
  'cluster-hello': 'open',
  'cluster-keys': 'node',
  'cluster-mark': 'node',
  'cluster-self': 'node',
};
const actions = [...ofOperators.split(' '), ...Object.keys(ofNodes)];
const actionDoors = (need: (name: string) => Need): Record<string, Door> =>
  Object.fromEntries(actions.map((name) => [`/_admin/${name}`, { post: need(name) }]));

const anyId = '00000000-0000-0000-0000-000000000000';
/** Paths that are asked as they are: one spelling is enough, and the answer is the endpoint's own. */
const further: Record<string, Door> = {
  ...actionDoors(() => 'admin'),
  '/_query': { post: 'admin' },
  '/openapi.json': { get: 'any' },
  [`/node-details?id=${anyId}`]: { get: 'read' },
  [`/node-connections?node_id=${anyId}`]: { get: 'read' },
  '/_explore/status': { get: 'any' },
  '/_explore/sources': { get: 'admin' },
  '/_explore/search': { post: 'read' },
  '/_explore/neighbours': { post: 'read' },
  '/_explore/elements': { post: 'read' },
  '/_explore/graph': { post: 'read' },
  '/_explore/vector': { post: 'read' },
  '/_explore/vector-map': { post: 'admin' },
};

const doors: Record<string, Door> = {
  ...further,
  '/': { get: 'open' },
  ...Object.fromEntries(
    Object.entries(shared).map(([path, get]) => [
      path,
      { get, post: 'write', query: path.slice(1) } satisfies Door,
    ]),
  ),
  '/metrics': { get: 'metrics', post: 'read', query: 'metrics' },
  '/nodes-edges': { get: 'read' },
  '/nodes-by-label?label=X': { get: 'read' },
  '/_admin/indexes': { get: 'admin' },
  '/ping': { post: 'read', query: 'ping' },
  '/put': { post: 'write', query: 'put' },
  '/mcp/init': { post: 'read' },
  '/Healthz': {},
  '/healthzz': {},
  '/mcp': { post: 'any' },
  '/mcp/nothing': {},
  '/favicon.ico': {},
  '/healthz/x': {},
};

interface Key {
  name: string;
  role?: Role;
  queries?: string[];
  expires?: string;
}
const keys: Key[] = [
  { name: 'none' },
  { name: 'wrong' },
  { name: 'expired', role: 'admin', expires: '2020-01-01T00:00:00Z' },
  { name: 'revoked', role: 'admin' },
  { name: 'read', role: 'read' },
  { name: 'write', role: 'write' },
  { name: 'admin', role: 'admin' },
  { name: 'metrics', role: 'metrics' },
  { name: 'one query', role: 'read', queries: ['pi*'] },
  { name: 'one path', role: 'admin', queries: ['healthz'] },
];
const refused = new Set(['wrong', 'expired', 'revoked']);

const rights: Record<Role, Need[]> = {
  read: ['any', 'read'],
  write: ['any', 'read', 'write'],
  admin: ['any', 'read', 'write', 'admin', 'metrics'],
  metrics: ['metrics'],
};

/** Codes of who is not let in. */
const shut = new Set([
  'API_KEY_REQUIRED',
  'INVALID_API_KEY',
  'FORBIDDEN',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
]);

const inScope = ({ queries }: Key, query = ''): boolean =>
  queries === undefined ||
  queries.some((one) => (one.endsWith('*') ? query.startsWith(one.slice(0, -1)) : one === query));

function expected(door: Door, method: string, key: Key): string {
  const need = method === 'POST' ? door.post : /^(GET|HEAD)$/.test(method) ? door.get : undefined;
  if (need === 'open') return 'ok';
  if (key.name === 'none') return 'API_KEY_REQUIRED';
  if (refused.has(key.name)) return 'INVALID_API_KEY';
  if (door.get === undefined && door.post === undefined) return 'NOT_FOUND';
  if (need === undefined) return 'METHOD_NOT_ALLOWED';
  if (!rights[key.role!].includes(need)) return 'FORBIDDEN';
  const query = method === 'POST' ? door.query : undefined;
  return need === 'any' || inScope(key, query) ? 'ok' : 'FORBIDDEN';
}

const codeOf = ({ text }: Reply): string => (text.startsWith('{') && JSON.parse(text).code) || '';

/** A header that comes twice. */
function twoLines(first: string, second: string): Record<string, string> {
  return { 'X-Forwarded-For': `${first}\r\nX-Forwarded-For: ${second}` };
}

const isMade = ({ role, name }: Key): boolean => role !== undefined && !refused.has(name);

const statusOf: Record<string, number> = {
  ok: 200,
  API_KEY_REQUIRED: 401,
  INVALID_API_KEY: 403,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
};

/** Everything that a server has routes for, but files of the explorer and queries. */
function pathsOf(settings: Record<string, string> = {}): string[] {
  const flags = new Map(Object.entries(settings));
  const config = loadConfig({ projectDir: root, flags, environment: {} });
  const keys = new Keyring('');
  const { server, cors, limits } = config;
  const security = new RequestGuard({
    ...server,
    keys,
    accepted: new Accepted(),
    allowedHosts: [],
    corsOrigins: cors.origins,
    insecureNoAuth: false,
    trustProxy: false,
    secure: false,
    limits,
    onAuthFailure: () => undefined,
  });
  const known = databaseActions(config, () => undefined, {
    proof: undefined,
    calls: new NodeClient({ secure: false }),
    settings: new ClusterSettings(() => undefined),
    checks: new ConsistencyChecks({
      calls: new NodeClient({ secure: false }),
      log: () => {},
      members: [],
    }),
    roster: new Roster({}, new NodeClient({ secure: false })),
  });
  const all = new Map([...known].map(([name]) => [name, () => ({})]));
  // The server adds a few to those of a database.
  const serve = readFileSync(join(root, 'server/lifecycle/server.ts'), 'utf8');
  for (const [, name] of serve.matchAll(/actions\.set\('([a-z-]+)'/g)) all.set(name!, () => ({}));
  const house = new DatabaseService({
    ...{ config, keys, security, actions: all, title: '', version: '', isFresh: false },
    log: () => undefined,
    sources: new SourceStatus(),
    phase: () => 'serving',
    serverSamples: () => [],
  });
  return house.routes.paths.filter((path) => !/^\/_explorer\//.test(path));
}

it('every route has its line in the table of doors', () => {
  const known = new Set(Object.keys(doors).map((path) => path.split('?')[0]));
  const paths = pathsOf();
  expect(paths.length).toBeGreaterThan(40);
  expect(paths.filter((path) => !known.has(path))).toEqual([]);
  for (const path of Object.keys(further)) expect(paths).toContain(path.split('?')[0]);
});

describe.each(transports)('doors on %s', (transport) => {
  let server: RunningApp;
  let client: Client;
  const texts = new Map<string, string>([['wrong', 'tk_wrong']]);
  const keyFile = (): string => `${server.folder}/.trellis/data/keys.json`;

  beforeAll(async () => {
    const settings = { 'limits.auth_failures': '1000000', 'server.ad_hoc_queries': 'true' };
    server = await startApp(transport, settings, actions);
    client = new Client(server.port);
    server.database.addWrites(...names);
    server.app.applyProgram();
    for (const { name, role, queries, expires } of keys) {
      if (role === undefined) continue;
      const made = makeKey(
        { name, role, ...(queries && { queries }), ...(expires && { expires }) },
        new Date(),
      );
      texts.set(name, made.text);
      changeKeyFile(keyFile(), (kept) => [...kept, made.record]);
    }
    server.app.keys.refresh();
    changeKeyFile(keyFile(), (kept) => kept.filter(({ name }) => name !== 'revoked'));
    server.app.keys.refresh();
  });
  afterAll(() => {
    client.close();
    server.close();
  });

  const ask = (method: string, path: string, key: string): Promise<Reply> => {
    const text = texts.get(key);
    const headers: Record<string, string> = text === undefined ? {} : { 'x-api-key': text };
    // The only path that takes no empty object.
    const body = /^\/+mcp\/?$/.test(path) ? rpcPing : '{}';
    return client.request({ method, path, headers, ...(method === 'POST' && { body }) });
  };

  it.each(['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS'])('%s', async (method) => {
    for (const [path, door] of Object.entries(doors)) {
      const isFurther = path in further;
      for (const key of keys) {
        const before = server.database.written.length;
        const wanted = expected(door, method, key);
        // Spellings that reach the same route must meet the same door.
        const plain = isFurther || path === '/' || path.includes('?') || method !== 'POST';
        for (const spelling of plain ? [path] : [path, `/${path}`, `${path}/`]) {
          const reply = await ask(method, spelling, key.name);
          const place = `${method} ${spelling} with ${key.name}`;
          if (isFurther && wanted === 'ok') {
            // A body that asks for nothing is the endpoint's own to refuse.
            expect([place, shut.has(codeOf(reply))]).toEqual([place, false]);
            continue;
          }
          expect([place, reply.status]).toEqual([place, statusOf[wanted]]);
          if (wanted === 'ok' || method === 'HEAD') continue;
          expect([place, JSON.parse(reply.text).code]).toEqual([place, wanted]);
        }
        const wrote = server.database.written.length > before;
        expect(wrote).toBe(method === 'POST' && door.post === 'write' && wanted === 'ok');
      }
    }
  });

  it('explains plans to administrators of the query alone', async () => {
    for (const { name, role, queries } of keys) {
      if (role === undefined || refused.has(name)) continue;
      for (const asked of ['explain', 'profile']) {
        const { status } = await ask('POST', `/ping?${asked}=1`, name);
        expect([name, asked, status === 403]).toEqual([
          name,
          asked,
          role !== 'admin' || !inScope({ name, ...(queries && { queries }) }, 'ping'),
        ]);
      }
    }
  });

  it('shows a key limited to queries those, and nothing else', async () => {
    const whole = JSON.parse((await ask('GET', '/introspect', 'read')).text);
    expect(whole.queries.length).toBeGreaterThan(10);
    const part = JSON.parse((await ask('GET', '/introspect', 'one query')).text);
    expect(part).toEqual({
      schema: { nodes: [], vectors: [], edges: [] },
      queries: whole.queries.filter(({ name }: { name: string }) => name === 'ping'),
    });
    // The nearest name is told to those who may know it.
    const hint = async (path: string, key: string) =>
      JSON.parse((await ask('POST', path, key)).text).hint;
    expect(await hint('/healthy', 'read')).toContain('healthz');
    expect(await hint('/healthy', 'one query')).toBeUndefined();
    expect(await hint('/pong', 'one query')).toContain('ping');
    for (const path of ['/pong', '/mcp/ini']) {
      expect([path, await hint(path, 'admin')]).toEqual([path, expect.stringContaining('mean')]);
      expect([path, await hint(path, 'metrics')]).toEqual([path, undefined]);
    }
  });

  it('stays shut when the last key is revoked', async () => {
    changeKeyFile(keyFile(), () => []);
    server.app.keys.refresh();
    const wanted = server.database.written.length;
    for (const key of ['none', 'admin']) {
      for (const [method, path] of [
        ['POST', '/put'],
        ['GET', '/introspect'],
        ['GET', '/slowlog'],
      ]) {
        const { status } = await ask(method!, path!, key);
        expect(status).toBe(key === 'none' ? 401 : 403);
      }
    }
    expect(server.database.written.length).toBe(wanted);
    expect(server.app.warnings().join()).toContain('holds no key');
    expect((await ask('GET', '/healthz', 'none')).status).toBe(200);
  });
});

describe.each(transports)('doors of a node of a cluster on %s', (transport) => {
  it('opens to other nodes only their own routes', async () => {
    const settings = {
      'limits.auth_failures': '1000000',
      'cluster.log': 'nats://127.0.0.1:1',
      'cluster.node': 'a',
    };
    const server = await startApp(transport, settings, actions);
    const made = keys.filter(isMade).map(({ name, role, queries }) => ({
      name,
      ...makeKey({ name, role: role!, ...(queries && { queries }) }, new Date()),
    }));
    const file = `${server.folder}/.trellis/data/keys.json`;
    changeKeyFile(file, () => made.map(({ record }) => record));
    server.app.keys.refresh();
    const doorsHere = actionDoors((name) => ofNodes[name] ?? 'admin');
    for (const [path, door] of Object.entries(doorsHere)) {
      if (path === '/_admin/query') continue;
      for (const key of [{ name: 'none' }, { name: 'wrong' }, ...keys.filter(isMade)]) {
        const text = made.find(({ name }) => name === key.name)?.text ?? 'tk_wrong';
        const headers: Record<string, string> = key.name === 'none' ? {} : { 'x-api-key': text };
        const reply = await server.request({ path, headers, body: '{}' });
        const wanted = expected(door, 'POST', key);
        const place = `${path} with ${key.name}`;
        expect([place, reply.status === 200 ? 'ok' : codeOf(reply)]).toEqual([place, wanted]);
      }
    }
    server.close();
  });
});

/** Header sets a proxy on this machine may add, and whether the client is on this machine. */
const passedOn: [Record<string, string>, boolean][] = [
  [{}, true],
  // Lines of one name are one list: whoever added which.
  [twoLines('203.0.113.7', '127.0.0.1'), false],
  [twoLines('127.0.0.1', '203.0.113.7'), false],
  [twoLines('203.0.113.7', ''), false],
  [twoLines('', '127.0.0.1'), false],
  [twoLines('127.0.0.1', '::1'), true],
  [{ 'X-Forwarded-For': '' }, false],
  [{ 'X-Forwarded-Host': 'db.example' }, false],
  [{ 'X-Forwarded-Proto': 'https' }, false],
  [{ 'X-Client-IP': '203.0.113.7' }, false],
  [{ 'CF-Connecting-IP': '203.0.113.7' }, false],
  [{ 'True-Client-IP': '203.0.113.7' }, false],
  [{ 'X-Foo': '203.0.113.7' }, true],
  [{ 'X-Forwarded-For': '203.0.113.7' }, false],
  [{ 'X-Forwarded-For': '203.0.113.7, 127.0.0.1' }, false],
  [{ 'X-Forwarded-For': '127.0.0.1, 203.0.113.7' }, false],
  [{ 'X-Forwarded-For': 'unknown' }, false],
  [{ 'X-Forwarded-For': '127.0.0.1' }, true],
  [{ 'X-Forwarded-For': '::1' }, true],
  [{ Forwarded: 'for=203.0.113.7' }, false],
  [{ 'X-Real-IP': '203.0.113.7' }, false],
  [{ Via: '1.1 proxy' }, false],
];

describe.each(transports)('behind a proxy on %s', (transport) => {
  it.each(['true', 'false'])('no stranger administers, trust_proxy %s', async (trust) => {
    const server = await startApp(transport, {
      'server.host': '0.0.0.0',
      'server.trust_proxy': trust,
    });
    for (const [headers, local] of passedOn) {
      for (const path of ['/_admin/nothing', '/ping']) {
        const reply = await server.request({ path, headers });
        const place = `${path} ${JSON.stringify(headers)}`;
        expect([place, reply.status]).toEqual([place, local ? 200 : 403]);
      }
    }
    server.close();
    const inside = await startApp(transport, { 'server.trust_proxy': trust });
    for (const [headers, local] of passedOn) {
      const reply = await inside.request({ path: '/_admin/nothing', headers });
      expect([headers, reply.status]).toEqual([headers, local ? 200 : 403]);
      expect((await inside.request({ path: '/ping', headers })).status).toBe(200);
    }
    inside.close();
  });
});
