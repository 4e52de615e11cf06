// CT8: a rolling upgrade from an older build to this one under writes, as the operator's page says it: followers first,
// the lead handed over, the last one at the end. Sources that the older build cannot compile stop it
// before their entry, and it reads on (K29).
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import {
  Adding,
  addingSource,
  codesOf,
  leaderOf,
  lookAt,
  settle,
  until,
} from '../../support/cluster/adding.js';
import { NatsServers } from '../../support/cluster/nats-servers.js';
import { NodeProcesses } from '../../support/cluster/node-processes.js';
import { olderBuild } from '../../support/cluster/older-build.js';
import { storedTables } from '../../support/cluster/stored-tables.js';
import { root } from '../../support/project.js';

/** The older build refuses it: there members of a group behind a projection are not elements. */
const newer = `${addingSource}
  QUERY grouped() =>
      groups <- N<Item>::{value}::AGGREGATE_BY(value)::{ value, ups: _.data::{code} }
      RETURN groups
`;
const three = [0, 1, 2];

// Building it takes a minute or two.
const older =
  process.env.TRELLIS_TEST_LONG === '1'
    ? olderBuild()
    : { missing: 'it is made by the long run (TRELLIS_TEST_LONG=1)' };
if ('missing' in older) console.log(`rolling upgrades left out, no older build: ${older.missing}`);

let servers: NatsServers;
let cluster: NodeProcesses;
afterEach(async () => {
  await cluster?.stop();
  await servers?.stop();
});

test.skipIf('missing' in older)(
  'CT8 K29 nodes of two builds side by side: nothing acknowledged is lost, all tables are equal in the end',
  async () => {
    const { dist } = older as { dist: string };
    servers = await NatsServers.start();
    const { url } = servers.place('upgrade');
    const options = { log: () => url, name: 'upgrade', source: addingSource, leaseMs: 1_000, dist };
    cluster = await NodeProcesses.found(3, options);
    await Promise.all(three.map((i) => cluster.start(i)));
    const adding = new Adding(cluster);
    await adding.more(30);
    const first = await leaderOf(cluster);
    const current = join(root, 'dist');
    const renew = async (node: number): Promise<void> => {
      await cluster.end(node);
      await cluster.start(node, { dist: current });
      await settle(cluster);
    };
    const followers = three.filter((i) => i !== first);
    for (const node of followers) {
      await renew(node);
      // An older leader, and one that follows it in the newer build.
      await adding.more(30);
      expect((await lookAt(cluster, first))!.role).toBe('leader');
    }
    const [next] = followers as [number];
    const to = { node: `n${next}`, address: `n${next}:1` };
    expect((await cluster.ask(first, 'stepDown', { to })).code).toBeUndefined();
    await until(
      async () => ((await lookAt(cluster, next))?.role === 'leader' ? true : undefined),
      'the newer one does not lead',
    );
    // A newer leader, and one that follows it in the older build.
    await adding.more(30);
    await settle(cluster);
    const told = await cluster.ask(next, 'reload', { text: newer });
    expect(told.text).toBeUndefined();
    await until(async () => (await lookAt(cluster, first))?.fault, 'the older one does not stop');
    expect((await lookAt(cluster, first))!.fault!.code).toBe('SCHEMA_AHEAD');
    const before = await codesOf(cluster, first);
    expect(before.length).toBeGreaterThan(100);
    await adding.more(30);
    expect(await codesOf(cluster, first)).toEqual(before);
    await renew(first);
    await adding.more(30);
    await adding.end();
    await adding.expectWhole();
    for (const node of three) {
      const grouped = await cluster.ask<{ groups: { ups: object[] }[] }>(node, 'call', {
        query: 'grouped',
        body: {},
      });
      expect(grouped.value!.groups[0]!.ups.length).toBeGreaterThanOrEqual(adding.acknowledged.size);
    }
    await cluster.stop();
    const [one, ...others] = await Promise.all(three.map((i) => storedTables(cluster.folderOf(i))));
    for (const tables of others) expect(tables).toEqual(one);
  },
);
