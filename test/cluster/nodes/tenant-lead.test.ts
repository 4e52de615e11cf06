// K45: who leads a tenant is said for that tenant alone: the command hands its lead to a node, and the main
// database and other tenants stay where they are.
import { cpSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ObjectStore } from '../../support/cluster/object-store.js';
import { Servers, patient, people } from '../support/servers.js';

let servers: Servers;
let store: ObjectStore;
beforeAll(async () => {
  servers = await Servers.over(people);
  store = await ObjectStore.open();
});
afterAll(async () => {
  await servers.close();
  await store.close();
});

const of = (tenant: string): Record<string, string> =>
  tenant === '' ? {} : { 'Trellis-Tenant': tenant };

/** Who leads that database, as this node knows it. */
async function leaderOf(node: string, tenant: string): Promise<string | undefined> {
  const { client } = servers.get(node);
  const { text } = await client.request({ method: 'GET', path: 'readyz', headers: of(tenant) });
  return JSON.parse(text).cluster?.leader?.node;
}

test('K45 K44 step-down --tenant hands over that tenant, to the node that is named', async () => {
  const { url, tokenFile } = store.place('people');
  const config = {
    'cluster.log': url,
    'cluster.token_file': tokenFile!,
    'tenants.databases.acme': '',
    'tenants.databases.beta': '',
  };
  const a = await servers.place('a', config);
  const b = await servers.place('b', config);
  for (const tenant of ['', 'acme', 'beta']) {
    const more = tenant === '' ? [] : ['--tenant', tenant];
    expect((await servers.command('init', a, ...more)).stdout).toContain('created the log');
  }
  cpSync(a.data, b.data, { recursive: true });
  const all = ['', 'acme', 'beta'];
  const leaders = async (node: string): Promise<(string | undefined)[]> => {
    const found: (string | undefined)[] = [];
    for (const tenant of all) found.push(await leaderOf(node, tenant));
    return found;
  };
  await a.start();
  await expect.poll(() => leaders('a'), patient).toEqual(['a', 'a', 'a']);
  await b.start();
  await expect.poll(() => leaders('b'), patient).toEqual(['a', 'a', 'a']);
  const add = async (node: string, tenant: string) =>
    (await servers.call(node, 'add', { name: tenant }, of(tenant))).status;
  for (const tenant of all) expect(await add('b', tenant)).toBe(200);
  // Only who leads can give it away.
  const refused = await servers.command('step-down', b, '--tenant', 'acme', '--to', 'b');
  expect([refused.code === 0, refused.stderr]).toEqual([
    false,
    expect.stringContaining('NOT_LEADER'),
  ]);
  const unknown = await servers.command('step-down', a, '--tenant', 'nobody', '--to', 'b');
  expect(unknown.code).not.toBe(0);
  const done = await servers.command('step-down', a, '--tenant', 'acme', '--to', 'b');
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('handed over at')]);
  for (const node of ['a', 'b'])
    await expect.poll(() => leaders(node), patient).toEqual(['a', 'b', 'a']);
  for (const node of ['a', 'b'])
    for (const tenant of all) {
      expect(await add(node, tenant)).toBe(200);
    }
  for (const node of ['a', 'b'])
    for (const tenant of all) {
      const strong = { ...of(tenant), 'Trellis-Consistency': 'strong' };
      const { body } = await servers.call(node, 'all', {}, strong);
      expect(body).toEqual({ p: 3 });
    }
});
