// Who is taken for a node of a cluster: one process under each name, with the settings and the secret that
// all have; others are told what is wrong, and one that was started again is never taken for a second one.
import { chmodSync, cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Servers, patient, people } from '../support/servers.js';
import type { Server } from '../../support/server/server.js';

let servers: Servers;
const shared = { 'limits.txn_bytes': 100_000_000, 'cluster.log_retention': '4s' };
beforeAll(async () => {
  servers = await Servers.over(people);
  await servers.place('a', shared);
  await servers.place('b', { ...shared, 'cluster.role': 'reader' });
  await servers.found('a', 'b');
  await servers.begin('a', 'b');
  await servers.call('a', 'add', { name: 'one' });
});
afterAll(() => servers.close());

const faultOf = async (name: string): Promise<string | undefined> =>
  (await servers.statusOf(name))?.fault?.code;

/** Another process under that name, with data of its own or none. */
async function twin(name: string, more: object, hasData: boolean): Promise<Server> {
  const server = await servers.place(`${name}-twin`, {
    ...shared,
    'cluster.node': name,
    'cluster.role': 'reader',
    ...more,
  });
  if (hasData) cpSync(servers.get('b').data, server.data, { recursive: true });
  return server;
}

const endOf = async (server: Server): Promise<string> => {
  await server.start().catch(() => undefined);
  await expect.poll(() => server.stderr, patient).toMatch(/^[A-Z_]+: /m);
  return server.stderr;
};

/** The leader has heard of that node. */
const isHeard = (name: string): Promise<void> =>
  expect
    .poll(async () => (await servers.command('status', servers.get('a'))).stdout, patient)
    .toContain(`${name} has all entries up to`);

test('a process without data under the name of a node that is there is refused at its start', async () => {
  await isHeard('b');
  for (const name of ['b', 'a']) {
    const second = await twin(name, {}, false);
    expect(await endOf(second)).toContain(`NODE_NAME_TAKEN: Another node of the cluster`);
    await second.dispose();
  }
});

test('a node with data does not join the cluster, and the first node keeps running', async () => {
  await servers.get('b').stop();
  const second = await twin('b', {}, true);
  rmSync(join(second.data, 'LOCK'), { force: true });
  await servers.get('b').start();
  await servers.takesRole('b', 'follower');
  await isHeard('b');
  await second.start();
  await expect.poll(() => faultOf('b-twin'), patient).toBe('NODE_NAME_TAKEN');
  const refused = await servers.call('b-twin', 'add', { name: 'two' });
  expect([refused.status, refused.body.code]).toEqual([503, 'NODE_NAME_TAKEN']);
  expect(await faultOf('b')).toBeUndefined();
  expect((await servers.call('b', 'add', { name: 'two' })).status).toBe(200);
  await second.dispose();
  servers.nodes.delete('b-twin');
});

test('a node that was lost and started again, at another address even, is the same one', async () => {
  const b = servers.get('b');
  await b.kill();
  await b.start();
  await servers.takesRole('b', 'follower');
  const { position } = await servers.call('a', 'add', { name: 'three' });
  const read = await servers.call('b', 'all', {}, { 'Trellis-After': position });
  expect(read.status).toBe(200);
  expect(await faultOf('b')).toBeUndefined();
});

test("settings that differ from the leader's: not ready, with the key named, and ready when they are equal", async () => {
  const odd = await servers.place('c', { ...shared, 'limits.txn_bytes': 99_000_000 });
  await servers.get('b').stop();
  cpSync(servers.get('b').data, odd.data, { recursive: true });
  await servers.get('b').start();
  await odd.start();
  await expect.poll(() => faultOf('c'), patient).toBe('NODE_DIFFERS');
  const ready = await odd.client.request({ method: 'GET', path: 'readyz' });
  expect([ready.status, ready.text]).toEqual([503, expect.stringContaining('limits.txn_bytes')]);
  // It follows: settings are changed on one node after another, whoever leads is what counts.
  const { position } = await servers.call('c', 'add', { name: 'four' });
  expect((await servers.call('c', 'all', {}, { 'Trellis-After': position })).status).toBe(200);
  await servers.get('a').stop();
  await servers.leads('c');
  await expect.poll(() => faultOf('c'), patient).toBeUndefined();
  await expect.poll(() => faultOf('b'), patient).toBe('NODE_DIFFERS');
  await servers.get('a').start();
  await servers.takesRole('a', 'follower');
  await expect.poll(() => faultOf('a'), patient).toBe('NODE_DIFFERS');
  await odd.stop();
  await servers.leads('a');
  await expect.poll(() => faultOf('b'), patient).toBeUndefined();
});

test('a new node with other settings or another secret fetches nothing, and ends', async () => {
  for (const [more, said] of [
    [{ 'limits.value_bytes': 1_000_000 }, '`limits.value_bytes` is 1000000 here and 4194304 on'],
    [{ 'vectors.metric': 'l2' }, '`vectors.metric` is "l2" here and "cosine" on'],
    [{ 'text.enabled': false }, '`text.enabled` is false here and true on'],
  ] as const) {
    const server = await servers.place('d', { ...shared, ...more });
    expect(await endOf(server)).toContain(
      "NODE_DIFFERS: The configuration of this node differs from the leader's",
    );
    expect(server.stderr).toContain(said);
    await server.dispose();
  }
  const server = await servers.place('d', shared);
  const secret = join(server.folder, 'secret');
  writeFileSync(secret, 'known to nobody else at all');
  chmodSync(secret, 0o600);
  expect(await endOf(server)).toContain('LOG_UNTRUSTED: ');
  await server.dispose();
  servers.nodes.delete('d');
});

test('a node with data and another secret says so, until it has the right one', async () => {
  const b = servers.get('b');
  await b.stop();
  const file = join(b.folder, 'secret');
  writeFileSync(file, 'known to nobody else at all');
  await b.start();
  await expect.poll(() => faultOf('b'), patient).toBe('LOG_UNTRUSTED');
  await b.stop();
  writeFileSync(file, 'known to all nodes alone');
  await b.start();
  await servers.takesRole('b', 'follower');
  await expect.poll(() => faultOf('b'), patient).toBeUndefined();
});
