// CT4: power cuts. Log servers and nodes keep what they have on disks of their own, which forget at a cut what was
// never synced. What was acknowledged is there after any of them; servers that do not sync are seen to
// lose it (K51), and what they have lost nobody takes for the log. Needs root.
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  Adding,
  addingSource,
  codesOf,
  leaderOf,
  lookAt,
  until,
} from '../../support/cluster/adding.js';
import { NatsServers } from '../../support/cluster/nats-servers.js';
import { NodeProcesses } from '../../support/cluster/node-processes.js';
import { PowerDisk } from '../../support/cluster/power-disk.js';
import { storedTables } from '../../support/cluster/stored-tables.js';
import { Random } from '../../support/random.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const seed = Number(process.env.TRELLIS_POWER_SEED ?? 1);
const cuts = long ? 100 : 5;
const three = [0, 1, 2];

const missing = PowerDisk.missing();
if (missing !== undefined) console.log(`power cuts left out: ${missing}`);

/** Servers and nodes, each on a disk of its own. */
class Room {
  readonly #serverDisks = three.map(() => PowerDisk.make());
  readonly #nodeDisks = three.map(() => PowerDisk.make());
  servers!: NatsServers;
  cluster!: NodeProcesses;

  async begin(name: string, sync: string | undefined): Promise<void> {
    const folders = this.#serverDisks.map(({ folder }) => join(folder, 'log'));
    this.servers = await NatsServers.start({ sync, folders });
    const { url } = this.servers.place(name);
    this.cluster = await NodeProcesses.found(3, {
      log: () => url,
      name,
      source: addingSource,
      leaseMs: 1_000,
      folders: this.#nodeDisks.map(({ folder }) => folder),
      allowLazy: sync === undefined,
    });
    await Promise.all(three.map((i) => this.cluster.start(i)));
  }

  /** The power of these fails at the same moment, and comes back. */
  async cut(servers: readonly number[], nodes: readonly number[]): Promise<void> {
    const disks = [
      ...servers.map((i) => this.#serverDisks[i]!),
      ...nodes.map((i) => this.#nodeDisks[i]!),
    ];
    for (const disk of disks) disk.cut();
    await Promise.all([
      ...servers.map((i) => this.servers.kill(i)),
      ...nodes.map((i) => this.cluster.kill(i)),
    ]);
    for (const disk of disks) disk.restore();
    for (const i of servers) this.servers.start(i);
    await Promise.all(nodes.map((i) => this.cluster.start(i)));
  }

  async end(): Promise<void> {
    await this.cluster?.stop();
    await this.servers?.stop();
    for (const disk of [...this.#serverDisks, ...this.#nodeDisks]) disk.remove();
  }
}

let room: Room;
afterEach(() => room.end());

describe.skipIf(missing !== undefined)('CT4 power cuts', () => {
  test(`CT4 ${cuts} of them, of all and of each: nothing acknowledged is lost, seed ${seed}`, async () => {
    room = new Room();
    await room.begin('always', 'always');
    const { cluster } = room;
    const random = new Random(seed);
    const adding = new Adding(cluster);
    const blows: (() => Promise<void>)[] = [
      () => room.cut(three, three),
      () => room.cut(three, []),
      () => room.cut([random.below(3)], []),
      async () => room.cut([], [await leaderOf(cluster)]),
      () => room.cut([random.below(3)], [random.below(3)]),
    ];
    for (let i = 0; i < cuts; i++) {
      await adding.more(20);
      await blows[i % blows.length]!();
      await adding.more(1);
    }
    await adding.end();
    await adding.expectWhole();
    const { acknowledged, open } = adding;
    console.log(`${cuts} cuts: ${acknowledged.size} acknowledged, ${open.size} without an answer`);
    await cluster.stop();
    const [first, ...others] = await Promise.all(
      three.map((i) => storedTables(cluster.folderOf(i))),
    );
    for (const tables of others) expect(tables).toEqual(first);
  });

  test('K51 canary: servers that do not sync lose the log; every node says so, and keeps its data', async () => {
    room = new Room();
    await room.begin('lazy', undefined);
    const { cluster } = room;
    const adding = new Adding(cluster);
    await adding.more(50);
    await adding.end();
    await room.cut(three, []);
    for (const node of three) {
      const isLost = async () =>
        (await lookAt(cluster, node))?.fault?.code === 'LOG_LOST' ? true : undefined;
      await until(isLost, `n${node} does not notice`);
    }
    const there = new Set((await Promise.all(three.map((i) => codesOf(cluster, i)))).flat());
    expect([...adding.acknowledged].filter((code) => !there.has(code))).toEqual([]);
    const never = { query: 'add', body: { code: 'never' } };
    expect((await cluster.ask(0, 'call', never)).code).toBe('LOG_LOST');
  });
});
