// K35: what a comparison of all nodes says, of whichever node it is asked: who is equal, who differs and in
// what, who says nothing; the command ends with 2 unless all have said that they hold the same.
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEnv } from '../../../engine/storage/table/env.js';
import { Servers, patient, people } from '../support/servers.js';

let servers: Servers;
beforeAll(async () => {
  servers = await Servers.over(people);
  await servers.place('a');
  for (const name of ['b', 'c']) await servers.place(name, { 'cluster.role': 'reader' });
  await servers.found('a', 'b');
  cpSync(servers.get('a').data, servers.get('c').data, { recursive: true });
  await servers.begin('a', 'b');
  await servers.get('c').start();
  await servers.takesRole('c', 'follower');
  await servers.call('a', 'add', { name: 'one' });
});
afterAll(() => servers.close());

/** As the command says it, on the node of that name. */
async function checkOn(name: string): Promise<{ code: number | null; stdout: string }> {
  const { code, stdout } = await servers.command('check', servers.get(name));
  return { code, stdout: stdout.replace(/at \d+\.\d+/, 'at POSITION') };
}

/** A row that the log has never brought, as a defect or a damaged disk would leave it. */
async function plant(name: string): Promise<void> {
  const server = servers.get(name);
  await server.stop();
  const env = openEnv(join(server.data, 'graph'));
  env.transact(() => {
    env.derived.put(Uint8Array.of(200, 7), Uint8Array.of(1));
    return true;
  });
  await env.close();
  await server.start();
  await servers.takesRole(name, 'follower');
}

test('K35 all nodes are equal, on any node, and old replies do not count for the next comparison', async () => {
  // The leader hears of nodes when they have followed for a moment.
  const claims = async (): Promise<string> =>
    (await servers.command('status', servers.get('a'))).stdout;
  for (const name of ['b', 'c'])
    await expect.poll(claims, patient).toContain(`${name} has all entries up to`);
  for (const name of ['a', 'b', 'c'])
    expect(await checkOn(name)).toEqual({
      code: 0,
      stdout: '3 of 3 equal at POSITION\nall known nodes hold the same data\n',
    });
  const told = await servers.command('check', servers.get('b'), '--json');
  expect(JSON.parse(told.stdout)).toMatchObject({
    equal: true,
    nodes: ['a', 'b', 'c'].map((node) => ({ node, result: 'equal' })),
  });
});

test('K35 a node that says nothing is silent, and not equal', async () => {
  await servers.get('c').stop();
  expect(await checkOn('b')).toEqual({ code: 2, stdout: '2 of 3 equal at POSITION, c silent\n' });
  // It is there, but hears nothing of the log.
  await servers.get('c').start();
  await servers.takesRole('c', 'follower');
  servers.log.fault('c', { away: 'held' });
  expect(await checkOn('a')).toEqual({ code: 2, stdout: '2 of 3 equal at POSITION, c silent\n' });
  servers.log.fault('c', undefined);
  await expect.poll(() => checkOn('c'), { timeout: 60_000 }).toMatchObject({ code: 0 });
});

test('K35 a node that differs is named, and continues with a copy', async () => {
  await plant('c');
  const said = await checkOn('b');
  expect(said).toEqual({ code: 2, stdout: '2 of 3 equal at POSITION, c differs (derived)\n' });
  const kept = (): string[] => {
    try {
      return readdirSync(join(servers.get('c').data, 'diverged'));
    } catch {
      return [];
    }
  };
  await expect.poll(kept, patient).toHaveLength(1);
  await servers.takesRole('c', 'follower');
  await expect.poll(() => checkOn('b'), { timeout: 60_000 }).toMatchObject({ code: 0 });
});

test('K35 of two that differ from the leader both are named', async () => {
  await plant('b');
  await plant('c');
  const { code, stdout } = await checkOn('a');
  expect([code, stdout]).toEqual([
    2,
    '1 of 3 equal at POSITION, b differs (derived), c differs (derived)\n',
  ]);
});
