// A node whose tables are not those of the leader: it says so, fetches the leader's, and keeps what it had as evidence.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEnv } from '../../../engine/storage/table/env.js';
import { Servers, patient, people } from '../support/servers.js';

let servers: Servers;
beforeAll(async () => {
  servers = await Servers.over(people);
});
afterAll(() => servers.close());

const strange = Uint8Array.of(200, 7);

/** What stands under the strange key in the data of that folder. */
function strangeIn(data: string): Uint8Array | undefined {
  const env = openEnv(join(data, 'graph'), { readOnly: true });
  const found = env.derived.get(strange);
  const copy = found && Uint8Array.from(found);
  void env.close();
  return copy;
}

test('K35 a check detects the difference, the node continues with a copy, and its former data are kept', async () => {
  await servers.place('a');
  const b = await servers.place('b', { 'cluster.role': 'reader' });
  await servers.found('a', 'b');
  const env = openEnv(join(b.data, 'graph'));
  env.transact(() => {
    env.derived.put(strange, Uint8Array.of(1, 2, 3));
    return true;
  });
  await env.close();
  await servers.begin('a', 'b');
  const { position } = await servers.call('a', 'add', { name: 'before' });
  expect((await servers.call('b', 'all', {}, { 'Trellis-After': position })).body).toEqual({
    p: 1,
  });
  const check = await servers.call('a', '_admin/cluster-check', {});
  expect(check.status).toBe(200);
  // The leader is equal to itself; the other one finds out by itself.
  const folder = join(b.data, 'diverged');
  const kept = (): string[] => {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  };
  await expect.poll(kept, patient).toHaveLength(1);
  await servers.takesRole('b', 'follower');
  const again = await servers.call('a', 'add', { name: 'after' });
  const seen = await servers.call('b', 'all', {}, { 'Trellis-After': again.position });
  expect([seen.status, seen.body]).toEqual([200, { p: 2 }]);
  // As it was when it was found, which is behind the place that was compared.
  const [place] = kept() as [string];
  const [[epoch], [atEpoch]] = [place, check.body.position].map((text) => text.split('.'));
  expect(epoch).toBe(atEpoch);
  const seqOf = (text: string): number => Number(text.split('.')[1]);
  expect(seqOf(place)).toBeGreaterThanOrEqual(seqOf(position));
  expect(readdirSync(join(folder, place)).sort()).toEqual(
    expect.arrayContaining(['MANIFEST.json', 'graph']),
  );
  expect(strangeIn(join(folder, place))).toEqual(Uint8Array.of(1, 2, 3));
  await servers.get('b').stop();
  expect(strangeIn(b.data)).toBeUndefined();
  // A second check finds nothing.
  await b.start();
  await servers.takesRole('b', 'follower');
  expect((await servers.call('a', '_admin/cluster-check', {})).status).toBe(200);
  expect(kept()).toEqual([place]);
});
