// CT5, CT6, CT8 to CT10: what a cluster of processes is after its leader died in the middle of a write, a log server
// gave back other bytes than it was given, clocks went wrong, or the log was no more. One cluster after
// another on the same servers.
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { hashTables } from '../../../engine/database/replication/table-check.js';
import { openEnv } from '../../../engine/storage/table/env.js';
import {
  type NodeLook,
  addingSource,
  codesOf,
  lookAt,
  settle,
} from '../../support/cluster/adding.js';
import { NatsServers, sleep } from '../../support/cluster/nats-servers.js';
import { NodeProcesses } from '../../support/cluster/node-processes.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

let servers: NatsServers;
let cluster: NodeProcesses;
let made = 0;
let name = '';

beforeAll(async () => {
  servers = await NatsServers.start();
});
afterEach(() => cluster.stop());
afterAll(() => servers?.stop());

const look = (node: number) => lookAt(cluster, node);
const codes = (node: number) => codesOf(cluster, node);

async function until<T>(find: () => Promise<T | undefined | false>, what: string): Promise<T> {
  for (const end = performance.now() + 60_000; ; await sleep(20)) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) {
      const looks = await Promise.all([0, 1, 2].map((i) => look(i)));
      throw new RangeError(`${what}: ${JSON.stringify(looks)}`);
    }
  }
}

const role = (node: number, wanted: string) =>
  until(async () => (await look(node))?.role === wanted, `n${node} is no ${wanted}`);

async function found(count: number, leaseMs = 1_000): Promise<void> {
  name = `log${++made}`;
  const { url } = servers.place(name);
  cluster = await NodeProcesses.found(count, {
    log: () => url,
    name,
    source: addingSource,
    leaseMs,
  });
}

const add = (node: number, code: string) =>
  cluster.ask<{ item: string }>(node, 'call', { query: 'add', body: { code } });

/** A write that some node takes at last: nobody may lead yet. */
async function addSomewhere(code: string, nodes: readonly number[]): Promise<number> {
  return until(async () => {
    for (const node of nodes) if ((await add(node, code)).code === undefined) return node;
    return undefined;
  }, `nobody takes ${code}`);
}

function hashesOf(node: number): object {
  const env = openEnv(join(cluster.folderOf(node), 'graph'), { readOnly: true });
  const tables = hashTables(env);
  void env.close();
  return tables;
}

describe('CT5 a leader that is killed', () => {
  /** Where, and whether the write under way is in the log then. */
  const points: [step: string, point: string, isThere: boolean][] = [
    ['C5', 'W5', false],
    ['C6', 'C6', false],
    ['C7', 'C7', true],
    ['C8', 'W9', true],
    ['C9', 'W11', true],
    ['C10', 'W12', true],
  ];
  const passes = long ? [1, 2, 7] : [1, 2];

  test.each(passes)(
    'at each point from C5 to C10, the time %i: all or nothing, on every node',
    async (pass) => {
      await found(3);
      await Promise.all([0, 1, 2].map((i) => cluster.start(i)));
      const others = [1, 2];
      const expected: string[] = [];
      const note = async (code: string, nodes: readonly number[]): Promise<void> => {
        await addSomewhere(code, nodes);
        expected.push(code);
      };
      await note('first', [0, 1, 2]);
      for (const [step, point, isThere] of points) {
        cluster.signal(0, 'SIGKILL');
        await until(async () => !cluster.isUp(0), 'it lives');
        await note(`before ${step}`, others);
        await cluster.start(0, { failpoint: `${point}@${pass}` });
        await settle(cluster, [0, 1, 2]);
        for (const node of others)
          await cluster.ask(node, 'stepDown', { to: { node: 'n0', address: 'n0:1' } });
        await role(0, 'leader');
        for (let i = 1; i <= pass; i++) {
          const { code } = await add(0, `${step} ${i}`);
          // The last one has no answer, unless it left before the end came.
          if (i < pass) expect(code, `${step} ${i}`).toBeUndefined();
          else if (code !== undefined) expect(code).toBe('GONE');
          if (i < pass || isThere) expected.push(`${step} ${i}`);
        }
        await until(async () => !cluster.isUp(0), `${step} did not end it`);
        await note(`after ${step}`, others);
        await settle(cluster, others);
        for (const node of others) expect(await codes(node), step).toEqual(expected);
      }
      await cluster.start(0);
      await settle(cluster, [0, 1, 2]);
      expect(await codes(0)).toEqual(expected);
      await cluster.stop();
      expect(hashesOf(1)).toEqual(hashesOf(0));
      expect(hashesOf(2)).toEqual(hashesOf(0));
    },
  );
});

describe('CT6 a log server whose disk returns other data', () => {
  /** The file of a server that holds `text`, and where. */
  function placeOf(server: number, text: string): { path: string; at: number } {
    const folder = join(servers.folder, `n${server + 1}`);
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const whole = join(folder, path);
      if (!path.includes(`TRELLIS_${name}`) || !path.endsWith('.blk')) continue;
      const at = statSync(whole).isFile() ? readFileSync(whole).indexOf(text) : -1;
      if (at >= 0) return { path: whole, at };
    }
    throw new RangeError(`server ${server} does not hold ${text}`);
  }

  const streamLeader = async (): Promise<number> => {
    const connection = await connect({ servers: servers.addresses() });
    try {
      const manager = await jetstreamManager(connection, { timeout: 5_000 });
      return await until(async () => {
        const info = await manager.streams.info(`TRELLIS_${name}`).catch(() => undefined);
        const leader = info?.cluster?.leader;
        return leader === undefined ? undefined : Number(leader.slice(1)) - 1;
      }, 'the stream has no leader');
    } finally {
      await connection.close();
    }
  };

  const damages: Record<string, (path: string, at: number) => void> = {
    'one byte of it is another': (path, at) => {
      const file = openSync(path, 'r+');
      writeSync(file, 'X', at + 2);
      closeSync(file);
    },
    'it is cut off': (path, at) => {
      const file = openSync(path, 'r+');
      // What follows is nothing: as of a disk that never wrote it.
      writeSync(file, new Uint8Array(statSync(path).size - at), 0, undefined, at);
      closeSync(file);
    },
  };

  const cases = [
    ['that leads the stream', 'one byte of it is another'],
    ['that follows', 'it is cut off'],
    ['that follows', 'one byte of it is another'],
    ['that leads the stream', 'it is cut off'],
  ] as const;
  test.each(long ? cases : cases.slice(0, 2))(
    '%s: %s: a chain error or no effect, never other data',
    async (which, damage) => {
      await found(3);
      // One that has read nothing yet, and reads what the damaged server gives.
      await Promise.all([0, 1].map((i) => cluster.start(i)));
      const expected = ['one', 'findme-two', 'three'];
      for (const code of expected) await addSomewhere(code, [0, 1]);
      await settle(cluster, [0, 1]);
      const leads = await streamLeader();
      const victim = which === 'that follows' ? (leads + 1) % 3 : leads;
      await servers.kill(victim);
      const { path, at } = placeOf(victim, 'findme-two');
      damages[damage]!(path, at);
      servers.start(victim);
      await addSomewhere('four', [0, 1]);
      expected.push('four');
      await cluster.start(2);
      // It follows to the end, or it says that the log is not what it was.
      const state = await until(async () => {
        const { role: is, fault, position } = (await look(2)) ?? {};
        if (is === 'lost') return fault!.code;
        const end = (await cluster.ask<{ seq: number }>(0, 'look', {}, 2_000))
          .value as unknown as NodeLook;
        return position !== undefined && position.seq >= end.position.seq - 3
          ? 'follows'
          : undefined;
      }, 'neither follows nor is lost');
      expect(['follows', 'LOG_LOST', 'LOG_TRUNCATED']).toContain(state);
      const there = await codes(2);
      expect(there).toEqual(expected.slice(0, there.length));
      if (state === 'follows')
        await until(async () => (await codes(2)).length === expected.length, 'n2 lacks some');
      await settle(cluster, [0, 1]);
      for (const node of [0, 1]) expect(await codes(node)).toEqual(expected);
      // Those that had read it go on, whatever the server has now.
      await addSomewhere('five', [0, 1]);
      console.log(`${which}, ${damage}: ${state}`);
    },
  );
});

test.runIf(long)(
  'CT9 one clock is a day ahead, another an hour late: ids ascend, and no other node leads',
  async () => {
    await found(3);
    const clocks = [0, 24 * 3_600_000, -3_600_000];
    await Promise.all(clocks.map((clockMs, i) => cluster.start(i, { clockMs })));
    const ids: string[] = [];
    const write = async (node: number, count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const { value, code } = await add(node, `n${node} ${ids.length}`);
        expect(code).toBeUndefined();
        ids.push(value!.item);
      }
    };
    await addSomewhere('first', [0, 1, 2]);
    await settle(cluster, [0, 1, 2]);
    const leaderNow = () =>
      until(async () => {
        for (const i of [0, 1, 2]) if ((await look(i))?.role === 'leader') return { node: i };
        return undefined;
      }, 'nobody leads');
    // The lead goes from the right clock to the one ahead to the late one, and around again.
    for (const node of [0, 1, 2, 0, 1]) {
      const { node: now } = await leaderNow();
      if (now !== node)
        await cluster.ask(now, 'stepDown', { to: { node: `n${node}`, address: `n${node}:1` } });
      await role(node, 'leader');
      await write(node, 5);
    }
    expect([...ids].sort()).toEqual(ids);
    const before = (await look(1))!.position.epoch;
    // Many leases: with clocks that mattered, each would be over.
    await sleep(long ? 60_000 : 8_000);
    const after = (await look(1))!.position.epoch;
    expect(after - before).toBeLessThan(3);
    await settle(cluster, [0, 1, 2]);
  },
);

describe('CT10 a log that is not there any more', () => {
  const asOperator = async (
    work: (manager: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<unknown>,
  ): Promise<void> => {
    const connection = await connect({ servers: servers.addresses() });
    try {
      await work(await jetstreamManager(connection, { timeout: 5_000 }));
    } finally {
      await connection.close();
    }
  };
  const stream = () => `TRELLIS_${name}`;

  async function begun(): Promise<void> {
    await found(3);
    await Promise.all([0, 1].map((i) => cluster.start(i)));
    await addSomewhere('one', [0, 1]);
    await addSomewhere('two', [0, 1]);
    await settle(cluster, [0, 1]);
  }

  test('emptied: a node at its end continues, a node behind reports LOG_TRUNCATED', async () => {
    await begun();
    await asOperator((manager) => manager.streams.purge(stream()));
    await addSomewhere('three', [0, 1]);
    await settle(cluster, [0, 1]);
    for (const node of [0, 1]) expect(await codes(node)).toEqual(['one', 'two', 'three']);
    await cluster.start(2);
    await role(2, 'lost');
    expect((await look(2))!.fault!.code).toBe('LOG_TRUNCATED');
    expect(await codes(2)).toEqual([]);
  });

  // It takes longer than any failover until a log counts as lost.
  test.runIf(long).each(['deleted', 'made anew'])(
    '%s: nothing is written, reads continue',
    async (how) => {
      await begun();
      await asOperator(async (manager) => {
        const { config } = await manager.streams.info(stream());
        await manager.streams.delete(stream());
        const add = () =>
          manager.streams.add(config).then(
            () => true,
            () => false,
          );
        // The servers take their time to see that there is room again.
        if (how === 'made anew') await until(add, 'it is not made anew');
      });
      for (const node of [0, 1]) {
        const told = await until(async () => {
          const { code } = await add(node, 'never');
          expect(code).toBeDefined();
          return code === 'LOG_LOST';
        }, 'it does not notice');
        expect(told).toBe(true);
      }
      for (const node of [0, 1]) expect(await codes(node)).toEqual(['one', 'two']);
      await cluster.start(2);
      if (how === 'made anew') await role(2, 'lost');
      expect(await codes(2)).toEqual([]);
      await asOperator(async (manager) => {
        const info = await manager.streams.info(stream()).catch(() => undefined);
        expect(info?.state.messages ?? 0).toBe(0);
      });
    },
  );
});
