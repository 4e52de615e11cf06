// A rolling upgrade over the switch to signed entries, of servers that share a secret, over real log servers:
// nodes of before and after side by side, in every order of who leads, serve all that they served; nothing is
// signed while one of before is heard of; from then on all is, and what lies before stays readable.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { NatsServers } from '../../support/cluster/nats-servers.js';
import { lastUnsigned, olderBuild } from '../../support/cluster/older-build.js';
import { runCli } from '../../support/server/server.js';
import { Servers, patient, people } from '../support/servers.js';

// Building it takes a minute or two.
const older =
  process.env.TRELLIS_TEST_LONG === '1'
    ? olderBuild(lastUnsigned)
    : { missing: 'it is made by the long run (TRELLIS_TEST_LONG=1)' };
if ('missing' in older) console.log(`rolling upgrades left out, no older build: ${older.missing}`);

let nats: NatsServers | undefined;
let servers: Servers | undefined;
afterAll(async () => {
  await servers?.close();
  await nats?.stop();
});

/** Nodes tell every quarter of a second: the leader has heard all twice in one and a half. */
const keep = '4s';
const heardMs = 4_000;

test.skipIf('missing' in older)(
  'CT8 a log is signed when the last node of before is upgraded, and never again not',
  async () => {
    const { dist } = older as { dist: string };
    nats = await NatsServers.start();
    const all = await Servers.over(people);
    servers = all;
    const config = { 'cluster.log': nats.place('people').url, 'cluster.log_retention': keep };
    const names = ['a', 'b', 'c'] as const;
    for (const name of names) await all.place(name, config);
    const a = all.get('a');
    const { env = {} } = a.options;
    const made = await runCli(['cluster', 'init', a.project, '--data', a.data], { dist, env });
    expect(made.stdout + made.stderr).toContain('created the log');
    for (const name of names) {
      await all.get(name).start({ dist });
      if (name === 'a') await all.leads('a');
    }
    for (const name of ['b', 'c']) await all.takesRole(name, 'follower');
    let count = 0;
    /** Through every node, and read on every other. */
    const write = async (through: readonly string[] = names): Promise<void> => {
      for (const name of through) {
        const added = await all.call(name, 'add', { name: `n${count}` });
        expect([name, added.status, added.body]).toEqual([name, 200, { p: { name: `n${count}` } }]);
        count++;
        for (const other of through) {
          const headers = { 'Trellis-After': added.position };
          const { body } = await all.call(other, 'all', {}, headers);
          expect([other, body]).toEqual([other, { p: count }]);
        }
      }
    };
    const signedBy = async (name: string): Promise<string | null | undefined> =>
      (await all.statusOf(name)).signed_by;
    const upgrade = async (name: string): Promise<void> => {
      await all.get(name).restart();
      await all.takesRole(name, 'follower');
    };
    await write();
    for (const name of ['b', 'c']) {
      await upgrade(name);
      // A leader of before, which proves nothing, and one that follows it and could.
      await write();
    }
    expect((await all.call('a', '_admin/cluster-step-down?to=b', {})).status).toBe(200);
    await all.leads('b');
    await write();
    // It has heard of one that would be stopped by it.
    await pause(heardMs);
    await write();
    expect(await signedBy('b')).toBeNull();
    expect(all.get('b').stderr).toContain('do not know it');
    await upgrade('a');
    const end = performance.now() + patient.timeout;
    for (const name of names)
      while ((await signedBy(name)) === null) {
        if (performance.now() > end) throw new RangeError(`${name} is not signed`);
        await pause(50);
      }
    await write();
    // One of before that comes back reads on, is told nothing, and says why.
    await all.get('c').restart({ dist });
    const faultOf = async (): Promise<string | undefined> => (await all.statusOf('c')).fault?.code;
    while ((await faultOf()) === undefined) await pause(50);
    expect(await faultOf()).toBe('FORMAT_TOO_NEW');
    await write(['a', 'b']);
    const old = await all.call('c', 'all', {}, { 'Trellis-Consistency': 'local' });
    expect([old.status, old.body.p <= count]).toEqual([200, true]);
    // What it passes on with a client's own key is done: the leader judges that by itself.
    expect((await all.call('c', 'add', { name: `n${count}` })).status).toBe(200);
    count++;
    await upgrade('c');
    await write();
    // Whoever begins now reads what was written before.
    const d = await all.place('d', config);
    await d.start();
    await all.takesRole('d', 'follower');
    await write([...names, 'd']);
    for (const name of names) expect((await all.statusOf(name)).fault).toBeUndefined();
  },
);
