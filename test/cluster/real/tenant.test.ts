// A tenant's database comes to another node, which leads it then (cluster.md 11.1, K45).
import { cpSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { foundCluster, openDatabase } from '../../../engine/internal.js';
import { databaseOptions } from '../../../server/config/database-options.js';
import { tenantConfig } from '../../../server/config/tenant-config.js';
import { type Member, ranked } from '../../../server/cluster/placement.js';
import { ClusterNodeService } from '../../../server/cluster/membership/cluster-node.js';
import { ObjectStore } from '../../support/cluster/object-store.js';
import { type RunningTenants, startTenants } from '../../tenant/running-tenants.js';

const source = `
  N::Person { name: String }
  QUERY add(name: String) => p <- AddN<Person>({ name: name }) RETURN p::{ name }
  QUERY count() => p <- N<Person>::COUNT RETURN p`;

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

test('K45: a tenant moves: its data are copied to another node, which leads it then', async () => {
  const log = await ObjectStore.open();
  const { url, tokenFile } = log.place('people');
  const ports = [await freePort(), await freePort()];
  const members = ['a', 'b'].map((node): Member => ({ node, address: `${node}:1` }));
  const [to, from] = ranked('acme', members).map(({ node }) => node);
  const nodes = [`${from}=127.0.0.1:${ports[0]}`, `${to}=127.0.0.1:${ports[1]}`];
  const settings = (node: string, port: number) => ({
    'tenants.databases.acme': '',
    'cluster.log': url,
    'cluster.token_file': tokenFile!,
    'cluster.name': 'people',
    'cluster.node': node,
    'cluster.advertise_address': `127.0.0.1:${port}`,
    'cluster.lease': '500ms',
    'cluster.wait_timeout': '10s',
    'cluster.members': nodes.join(),
    'server.port': String(port),
    'server.workers': '1',
    'storage.ballast': '0',
    'storage.min_free': '0',
  });
  const nodesFor = (
    config: ConstructorParameters<typeof ClusterNodeService>[0],
  ): ClusterNodeService => new ClusterNodeService(config, () => undefined);
  const running: RunningTenants[] = [];
  /** Until somebody leads: what is refused so has not been done. */
  const add = async (node: RunningTenants, name: string): Promise<number> => {
    for (;;) {
      const { status, text } = await node.post('/add', { name }, { 'Trellis-Tenant': 'acme' });
      if (status !== 503 || !/"code":"NO(T|)_LEADER"/.test(text)) return status;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const led = async (node: RunningTenants): Promise<string> => {
    const { text } = await node.get('/readyz', { 'Trellis-Tenant': 'acme' });
    return JSON.parse(text).cluster?.leader?.node;
  };
  try {
    const archive = { compat: false, sources: [{ path: 'main.hx', text: source }] };
    const first = await startTenants(source, openDatabase, settings(from!, ports[0]!), [], {
      nodesFor,
      prepare: async (config, program) => {
        for (const one of [config, tenantConfig(config, 'acme')]) {
          const { cluster, ...rest } = databaseOptions(one, program, () => undefined);
          await foundCluster({ ...rest, cluster: cluster! }, archive);
        }
      },
    });
    running.push(first);
    await expect.poll(() => led(first)).toBe(from);
    for (let i = 0; i < 5; i++) expect(await add(first, `p${i}`)).toBe(200);
    // The main database comes as a copy, that of the tenant by itself.
    const second = await startTenants(source, openDatabase, settings(to!, ports[1]!), [], {
      nodesFor,
      prepare: async ({ dataDir }) => {
        const backup = `${first.config.dataDir}/copy`;
        expect((await first.post('/_admin/backup', { name: 'copy' })).status).toBe(200);
        cpSync(backup.replace('/copy', '/backups/copy'), dataDir, { recursive: true });
      },
    });
    running.push(second);
    const place = async (): Promise<string> => {
      await first.app.runPlacement();
      return led(second);
    };
    await expect.poll(place).toBe(to);
    await expect.poll(() => led(first)).toBe(to);
    expect(await add(second, 'there')).toBe(200);
    expect(await add(first, 'passed on')).toBe(200);
    for (const node of running) {
      const { text } = await node.post('/count', {}, { 'Trellis-Tenant': 'acme' });
      expect(JSON.parse(text)).toEqual({ p: 7 });
      // It is nobody else's.
      expect(JSON.parse((await node.post('/count', {})).text)).toEqual({ p: 0 });
    }
  } finally {
    for (const node of running.reverse()) await node.close();
    await log.close();
  }
});
