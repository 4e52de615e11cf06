// Tenants whose databases are on another node: requests to any node are answered by the node with the tenant,
// for callers with the right.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FakeDatabase } from '../support/fake-database.js';
import { ClusterNodeService } from '../../server/cluster/membership/cluster-node.js';
import { type RunningTenants, startTenants } from './running-tenants.js';

const source = `
  N::Person { name: String }
  QUERY put(token: String) => p <- AddN<Person>({ name: token }) RETURN p::{ name }`;

const keys = [
  { text: 'tk_op_secret' },
  { text: 'tk_acmekey_secret', tenant: 'acme' },
  { text: 'tk_betakey_secret', tenant: 'beta' },
];
const fakes = new Map<string, FakeDatabase>();
const servers: RunningTenants[] = [];
let here: RunningTenants;

async function start(
  node: string,
  tenants: string[],
  members: string[],
  given = keys,
): Promise<RunningTenants> {
  const open = async ({ dataDir }: { dataDir: string }): Promise<FakeDatabase> => {
    const fake = new FakeDatabase();
    fakes.set(`${node} ${/tenants\/(.*)$/.exec(dataDir)?.[1] ?? 'main'}`, fake);
    return fake;
  };
  const settings = {
    ...Object.fromEntries(tenants.map((name) => [`tenants.databases.${name}`, ''])),
    'cluster.node': node,
    'cluster.members': members.join(),
    'cluster.wait_timeout': '200ms',
    'limits.auth_failures': '1000000',
  };
  const nodesFor = (
    config: ConstructorParameters<typeof ClusterNodeService>[0],
  ): ClusterNodeService => new ClusterNodeService(config, () => undefined);
  const server = await startTenants(source, open, settings, given, { nodesFor });
  servers.push(server);
  return server;
}

beforeAll(async () => {
  // Nobody listens at port 1: what was passed on is not passed on again, nor looked for there.
  const there = await start('there', ['beta'], ['dead=127.0.0.1:1', 'here=127.0.0.1:1']);
  here = await start('here', ['acme'], [`there=127.0.0.1:${there.port}`, 'dead=127.0.0.1:1']);
});
afterAll(async () => {
  for (const server of servers) await server.close();
});

it('K45 a request reaches the node that has the tenant, one time, with the rights of its own key', async () => {
  const answers: [string, string, string][] = [
    // key, header, who has it or why not
    ['tk_op_secret', '', 'here main'],
    ['tk_op_secret', 'acme', 'here acme'],
    ['tk_op_secret', 'beta', 'there beta'],
    ['tk_op_secret', 'gone', 'TENANT_UNKNOWN'],
    ['tk_op_secret', '../beta', 'TENANT_UNKNOWN'],
    ['tk_op_secret', 'constructor', 'TENANT_UNKNOWN'],
    ['tk_betakey_secret', '', 'there beta'],
    ['tk_betakey_secret', 'beta', 'there beta'],
    ['tk_betakey_secret', 'acme', 'FORBIDDEN'],
    ['tk_acmekey_secret', 'beta', 'FORBIDDEN'],
    ['wrong', 'beta', 'INVALID_API_KEY'],
    ['', 'beta', 'API_KEY_REQUIRED'],
  ];
  for (const [key, tenant, expected] of answers) {
    const token = `${key} ${tenant}`;
    const headers = { ...(key && { 'x-api-key': key }), 'Trellis-Tenant': tenant };
    const reply = await here.post('/put', { token }, headers);
    const took = [...fakes].filter(([, { written }]) =>
      written.some((body) => body.includes(`"${token}"`)),
    );
    expect(took.length, token).toBe(reply.status === 200 ? 1 : 0);
    expect([key, tenant, took[0]?.[0] ?? JSON.parse(reply.text).code]).toEqual([
      key,
      tenant,
      expected,
    ]);
  }
});

it('K45 what a tenant shows of itself is seen at its own node alone', async () => {
  for (const path of ['/metrics', '/openapi.json', '/slowlog', '/explorer']) {
    const reply = await here.get(path, { 'x-api-key': 'tk_op_secret', 'Trellis-Tenant': 'beta' });
    expect([path, reply.status]).toEqual([path, 404]);
  }
  const { text } = await here.get('/metrics', { 'x-api-key': 'tk_op_secret' });
  expect(text).not.toContain('beta');
});

it('K45 a caller that is unknown to this node is unknown to the next one: forwarding gives no administration rights', async () => {
  const next = await start('next', ['gamma'], ['dead=127.0.0.1:1'], []);
  const first = await start('first', [], [`next=127.0.0.1:${next.port}`], []);
  const stranger = '203.0.113.7';
  const ways: [Record<string, string>, boolean][] = [
    [{}, true],
    [{ 'X-Forwarded-For': '127.0.0.1' }, true],
    [{ 'X-Forwarded-For': stranger }, false],
    [{ 'X-Forwarded-For': `127.0.0.1, ${stranger}` }, false],
    [{ Forwarded: `for=${stranger}` }, false],
    [{ 'X-Real-IP': stranger }, false],
    [{ Via: '1.1 proxy' }, false],
  ];
  for (const [headers, local] of ways) {
    for (const server of [next, first]) {
      const asked = { 'Trellis-Tenant': 'gamma', ...headers };
      const reply = await server.post('/_admin/cluster-copied?copy=x', {}, asked);
      expect([headers, reply.status]).toEqual([headers, local ? 200 : 403]);
      expect((await server.post('/put', { token: 'x' }, asked)).status).toBe(200);
    }
  }
});
