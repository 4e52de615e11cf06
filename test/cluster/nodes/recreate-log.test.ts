// A lost log is recreated from the data of one node: the warning of that node, the tokens of the lost log,
// and a node that still has data of the lost log.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeKey } from '../../../server/auth/key-record.js';
import { changeKeyFile } from '../../../server/auth/key-file.js';
import { Servers, patient, people } from '../support/servers.js';
import { runCli } from '../../support/server/server.js';

let servers: Servers;
let nodes: Servers['nodes'];
let log: Servers['log'];
const statusOf = (name: string) => servers.statusOf(name);
const leads = (name: string) => servers.leads(name);
const command: Servers['command'] = (...args) => servers.command(...args);
const call: Servers['call'] = (...args) => servers.call(...args);

beforeAll(async () => {
  servers = await Servers.over(people);
  ({ nodes, log } = servers);
  const a = await servers.place('a');
  // Waits in vain are short.
  const b = await servers.place('b', { 'cluster.role': 'reader', 'cluster.wait_timeout': '1s' });
  expect((await command('init', a)).stdout).toContain('created the log');
  cpSync(a.data, b.data, { recursive: true });
  await a.start();
  await leads('a');
  await b.start();
});

afterAll(() => servers.close());

test('K36 a lost log is recreated from the data of a node, after the user has confirmed the loss', async () => {
  // Keys are of the cluster, whatever its log.
  const { record, text } = makeKey({ name: 'k36', role: 'admin' }, new Date());
  changeKeyFile(join(nodes.get('a')!.data, 'keys.json'), (keys) => [...keys, record]);
  const ask = (node: string, query: string, body: object = {}, after?: string, more?: object) =>
    call(node, query, body, {
      'X-Api-Key': text,
      ...(after && { 'Trellis-After': after }),
      ...more,
    });
  const strong = { 'Trellis-Consistency': 'strong' };
  for (const node of ['a', 'b'])
    await expect.poll(async () => (await ask(node, 'all')).status, patient).toBe(200);
  // The lost log is the longer one for as long as this takes.
  for (let i = 0; i < 100; i++) await ask('a', 'add', { name: `n${i}` });
  const token = (await ask('a', 'add', { name: 'the last of that log' })).position;
  const before = (await ask('b', 'all', {}, token)).body;
  expect(before).toEqual({ p: 101 });
  const marks = async () => (await ask('a', '_admin/cluster-status')).body.marks;
  expect((await ask('a', '_admin/backup', { name: 'old' })).body.kept).toBe(true);
  expect(await marks()).toMatchObject([{ backup: 'a/old', seq: expect.any(Number) }]);
  const { position } = await statusOf('a');
  const [a, b] = [nodes.get('a')!, nodes.get('b')!];
  await b.stop();
  // It does not hand over: b's data name it as the leader.
  await a.kill();
  const refused = await command('recreate-log', a);
  expect([refused.code, refused.stderr]).toEqual([78, expect.stringContaining('--yes')]);
  const place =
    /all entries up to (\d+\.\d+)\. Later entries that only the lost log or other nodes have/;
  const [epoch, seq] = place.exec(refused.stderr)![1]!.split('.').map(Number) as [number, number];
  // Beats that change nothing are not noted one by one: a token may name one of them. That no write is
  // missing shows below, where all that it has is compared.
  const [atEpoch, atSeq] = position.split('.').map(Number) as [number, number];
  expect(token).not.toBe('');
  expect([epoch, seq > 1, seq <= atSeq]).toEqual([atEpoch, true, true]);
  // While the log is there nothing is made anew, and the data stay of it.
  const there = await command('recreate-log', a, '--yes');
  expect([there.code, there.stderr]).toEqual([78, expect.stringContaining('they are of it')]);
  await a.start();
  await leads('a');
  await a.stop();
  log.shorten(0);
  const made = await command('recreate-log', a, '--yes');
  expect(made.stdout).toMatch(place);
  expect(made.stdout).toContain('created the log');
  await a.start();
  await leads('a');
  // It is kept for no backup of the lost one, and whoever goes on with such a one is not of it.
  expect(await marks()).toEqual([]);
  const c = await servers.place('c');
  const from = join(a.data, 'backups', 'old');
  const folders = ['--data', c.data, '--project', c.project];
  expect((await runCli(['restore', from, ...folders, '--follow'])).code).toBe(0);
  await c.start();
  await expect.poll(async () => (await statusOf('c')).fault?.code, patient).toBe('LOG_LOST');
  await c.stop();
  // Tokens of the lost log ask for nothing that this one does not have, and new ones are later.
  const old = await ask('a', 'all', {}, token);
  expect([old.status, old.body]).toEqual([200, before]);
  const told = await ask('a', 'add', { name: 'the first of this one' });
  expect(told.status).toBe(200);
  expect(Number(told.position.split('.')[0])).toBeGreaterThan(epoch + 1_000);
  const now = await ask('a', 'all', {}, told.position);
  expect([now.status, now.body]).toEqual([200, { p: before.p + 1 }]);
  // Who has data of the lost log answers with them, to nobody who asks for those of the new one, however much
  // further it was in the old one.
  await b.start();
  const seqOf = (printed: string): number => Number(printed.split('.')[1]);
  expect(seqOf((await statusOf('b')).position)).toBeGreaterThan(seqOf(told.position));
  expect((await ask('b', 'all')).body).toEqual(before);
  const newer = await ask('b', 'all', {}, told.position);
  expect([newer.status, newer.body.code]).toEqual([503, 'REPLICA_BEHIND']);
  expect(newer.body.args.wanted).toBe(told.position);
  // The leader that b knows of leads the new log, and says how far that is.
  const newest = await ask('b', 'all', {}, '', strong);
  expect([newest.status, newest.body.code]).toEqual([503, 'REPLICA_BEHIND']);
  const { wanted } = newest.body.args;
  expect(wanted.split('.')[0]).toBe(told.position.split('.')[0]);
  expect(seqOf(wanted)).toBeGreaterThan(seqOf(told.position));
  await expect.poll(async () => (await statusOf('b')).fault?.code, patient).toBe('LOG_LOST');
  expect((await ask('b', 'all', {}, told.position)).status).toBe(503);
  // Emptied, it is one of the new log.
  await b.stop();
  rmSync(b.data, { recursive: true });
  await b.start();
  await expect.poll(async () => (await ask('b', 'all', {}, '', strong)).status, patient).toBe(200);
  const joined = await ask('b', 'all', {}, told.position);
  expect([joined.status, joined.body]).toEqual([200, now.body]);
  expect((await statusOf('b')).role).toBe('follower');
  // A leader that went has named nobody, and a node that begins then knows of nobody: it is no leader without
  // a name.
  await a.stop();
  const knows = async () => [
    (await statusOf('b')).leader,
    (await ask('b', 'add', { name: 'no' })).body.code,
  ];
  await expect.poll(knows, patient).toEqual([null, 'NO_LEADER']);
  await b.restart();
  await expect.poll(async () => (await statusOf('b')).role, patient).toBe('follower');
  expect(await knows()).toEqual([null, 'NO_LEADER']);
  const nobody = await ask('b', 'all', {}, '', strong);
  expect([nobody.status, nobody.body.code]).toEqual([503, 'NO_LEADER']);
});
