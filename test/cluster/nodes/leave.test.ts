// What the log is kept for, and who is a node: a node that is cut off holds the log until it has left,
// backups hold it until newer ones do or they are forgotten, and whoever has left says so and joins again
// without data.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../../support/server/server.js';
import { Servers, patient, people } from '../support/servers.js';

let servers: Servers;
const call: Servers['call'] = (...args) => servers.call(...args);
const config = { 'cluster.log_retention': '1s' };

interface Told {
  role: string;
  log: { first: number; claims: { node: string; seq: number }[] };
  left?: string[];
  marks?: { backup: string; seq: number }[];
}

const told = async (node: string): Promise<Told> =>
  (await call(node, '_admin/cluster-status', {})).body;
const first = async (): Promise<number> => (await told('a')).log.first;
const faultOf = async (node: string): Promise<string | undefined> =>
  (await servers.statusOf(node)).fault?.code;

let written = 0;
/** Writes until `isSo`, of the oldest that the log still has. */
async function writeUntil(isSo: (first: number) => boolean): Promise<void> {
  for (const end = performance.now() + patient.timeout; ; ) {
    const { status } = await call('a', 'add', { name: `n${written}` });
    expect(status).toBe(200);
    written++;
    const now = await first();
    if (isSo(now)) return;
    if (performance.now() > end) throw new RangeError(`the log begins at ${now}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
/** Three times as long as the log is kept for nobody. */
async function writeOn(): Promise<number> {
  const end = performance.now() + 3000;
  await writeUntil(() => performance.now() > end);
  return first();
}

beforeAll(async () => {
  servers = await Servers.over(people);
  await servers.place('a', config);
  await servers.place('b', { ...config, 'cluster.role': 'reader' });
  await servers.found('a', 'b');
  await servers.begin('a', 'b');
});
afterAll(() => servers.close());

test('K26 the log is kept for a node that is behind, until the node has left', async () => {
  await writeUntil((now) => now > 5);
  servers.log.fault('b', { away: 'held' });
  const { seq } = (await told('a')).log.claims.find(({ node }) => node === 'b')!;
  // It may have been a little further when it was cut off.
  await expect
    .poll(async () => (await told('a')).log.claims[0]?.seq ?? 0, patient)
    .toBeGreaterThanOrEqual(seq);
  expect(await writeOn()).toBeLessThanOrEqual((await told('a')).log.claims[0]!.seq);
  const held = await first();
  const left = await servers.command('leave', servers.get('a'), '--node', 'b');
  expect([left.code, left.stdout]).toEqual([0, expect.stringContaining('b has left')]);
  await writeUntil((now) => now > held + 5);
  // It hears of it from the leader, when not from the log.
  await expect.poll(() => faultOf('b'), patient).toBe('NODE_LEFT');
  servers.log.fault('b', undefined);
  const status = await servers.command('status', servers.get('a'));
  expect(status.stdout).toContain('nodes that left: b');
  expect(status.stdout).not.toContain('b has all');
});

test('a node that has left reads, writes nothing, and says at every start what to do', async () => {
  const b = servers.get('b');
  expect((await call('b', 'all', {}, { 'Trellis-Consistency': 'local' })).status).toBe(200);
  const refused = await call('b', 'add', { name: 'late' });
  expect([refused.status, refused.body.code]).toEqual([503, 'NODE_LEFT']);
  const ready = await b.client.request({ method: 'GET', path: 'readyz' });
  expect(ready.status).toBe(503);
  // Once more is the same, at any node that is one.
  expect((await servers.command('leave', servers.get('a'), '--node', 'b')).code).toBe(0);
  expect((await told('a')).left).toEqual(['b']);
  await b.stop();
  for (let again = 0; again < 2; again++) {
    const { code, stderr } = await runCli(['serve', b.project, '--data', b.data], {
      env: b.options.env!,
    });
    expect([code, stderr]).toEqual([78, expect.stringContaining('empty its data directory')]);
    expect(stderr).toContain('NODE_LEFT');
  }
  rmSync(b.data, { recursive: true });
  await b.start();
  await servers.takesRole('b', 'follower');
  expect((await told('a')).left).toEqual([]);
  expect((await call('b', 'add', { name: 'back' })).status).toBe(200);
  written++;
  expect((await call('b', 'all', {})).body).toEqual({ p: written });
});

test('the leader leaves when it has handed over; others leave by themselves', async () => {
  const c = await servers.place('c', config);
  await c.start();
  await servers.takesRole('c', 'follower');
  const leader = await servers.command('leave', servers.get('a'));
  expect([leader.code === 0, leader.stderr]).toEqual([
    false,
    expect.stringContaining('NODE_LEADS: Node a is the leader. Make another node the leader first'),
  ]);
  const [ofLeader, nobody] = [
    await call('b', '_admin/cluster-leave?node=a', {}),
    await call('b', '_admin/cluster-leave', {}),
  ];
  expect([ofLeader.status, ofLeader.body.code]).toEqual([409, 'NODE_LEADS']);
  expect([nobody.status, nobody.body.code]).toEqual([400, 'PARAM_MISSING']);
  await servers.command('step-down', servers.get('a'), '--to', 'c');
  await servers.leads('c');
  expect((await servers.command('leave', servers.get('c'))).code).not.toBe(0);
  await servers.command('step-down', c, '--to', 'a');
  await servers.leads('a');
  expect((await servers.command('leave', c)).stdout).toContain('c has left');
  await expect.poll(() => faultOf('c'), patient).toBe('NODE_LEFT');
  await c.dispose();
  servers.nodes.delete('c');
  expect((await told('a')).left).toEqual(['c']);
});

test('K26 the log is kept for the two newest backups, and one of them continues with it', async () => {
  const backUp = async (node: string, name: string): Promise<number> => {
    const { body } = await call(node, '_admin/backup', { name });
    expect(body).toMatchObject({ kept: true, position: expect.stringMatching(/^\d+\.\d+$/) });
    return Number(body.position.split('.')[1]);
  };
  const one = await backUp('b', 'one');
  expect(await writeOn()).toBeLessThanOrEqual(one);
  const two = await backUp('a', 'two');
  expect(two).toBeGreaterThan(one);
  const epoch = Number((await servers.statusOf('b')).position.split('.')[0]);
  expect((await told('b')).marks).toEqual([
    { backup: 'b/one', seq: one, epoch },
    { backup: 'a/two', seq: two, epoch },
  ]);
  // A node that begins with the older one has the rest from the log.
  const d = await servers.place('d', config);
  const from = join(servers.get('b').data, 'backups', 'one');
  const restored = await runCli([
    'restore',
    from,
    '--data',
    d.data,
    '--project',
    d.project,
    '--follow',
  ]);
  expect([restored.code, restored.stderr]).toEqual([0, '']);
  await d.start();
  await servers.takesRole('d', 'follower');
  expect((await call('d', 'all', {}, { 'Trellis-Consistency': 'strong' })).body).toEqual({
    p: written,
  });
  expect(d.stderr).not.toContain('data of another');
  expect(existsSync(join(d.data, 'joining'))).toBe(false);
  expect(await writeOn()).toBeLessThanOrEqual(one);
  const three = await backUp('b', 'three');
  await writeUntil((now) => now > one);
  expect(await writeOn()).toBeLessThanOrEqual(two);
  for (const backup of ['a/two', 'b/three', 'b/never']) {
    const { code } = await servers.command('release-backup', servers.get('b'), '--backup', backup);
    expect(code).toBe(0);
  }
  await writeUntil((now) => now > three);
  expect((await told('b')).marks).toEqual([]);
});

test('K26 a backup that fails holds nothing', async () => {
  const { status } = await call('a', '_admin/backup', { name: 'two' });
  expect([status, (await told('a')).marks]).toEqual([400, []]);
});
