// CT1 to CT3: clients write and read through nodes that are killed, stopped and cut off, as their log servers are.
// Nothing that was acknowledged is lost or there twice, strong reads are linearizable, and in the end
// all nodes hold the same bytes. The canary tears down the fence and must be found.
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClusterPosition } from '../../../engine/cluster/node.js';
import { hashTables } from '../../../engine/database/replication/table-check.js';
import { openEnv } from '../../../engine/storage/table/env.js';
import {
  type Call,
  linearize,
  register,
  type RegisterCall,
} from '../../support/cluster/linearizable.js';
import { NatsServers, sleep } from '../../support/cluster/nats-servers.js';
import { NodeProcesses } from '../../support/cluster/node-processes.js';
import type { Relay, Wire } from '../../support/cluster/relay.js';
import { root } from '../../support/project.js';
import { Random } from '../../support/random.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
/** Of the long form. */
const minutes = Number(process.env.TRELLIS_NEMESIS_MINUTES ?? 30);
const seed = Number(process.env.TRELLIS_NEMESIS_SEED ?? 1);
const nodes = 3;
const clients = 8;
const source = `
  N::Item { UNIQUE INDEX code: String, value: I64 }
  QUERY add(code: String) =>
      item <- AddN<Item>({ code: code, value: 0 })
      RETURN item::{ code }
  QUERY put(code: String, value: I64) =>
      item <- N<Item>({ code: code })::UpsertN({ code: code, value: value })
      RETURN item::{ value }
  QUERY look(code: String) =>
      item <- N<Item>({ code: code })
      RETURN item::{ value }
  QUERY all() =>
      items <- N<Item>
      RETURN items::{ code }
`;
/** Refusals that promise that nothing was done. */
const refusals = ['NOT_LEADER', 'NO_LEADER', 'DOWN', 'OVERLOADED', 'QUERY_TIMEOUT'];

let servers: NatsServers;
/** From each node to each log server. */
let wires: Relay[][];

beforeAll(async () => {
  servers = await NatsServers.start();
  wires = await Promise.all(Array.from({ length: nodes }, () => servers.proxies()));
});
afterAll(async () => {
  await Promise.all((wires ?? []).flat().map((wire) => wire.close()));
  await servers?.stop();
});

/** What one client has seen, by the token that it was given with it. */
const isLater = (one: ClusterPosition, other: ClusterPosition): boolean =>
  one.epoch > other.epoch || (one.epoch === other.epoch && one.seq > other.seq);

interface Session {
  key: string;
  /** Last that was written. */
  value: number;
  /** Writes that nobody has answered. */
  open: Set<number>;
  seen: { least: number; at: ClusterPosition };
}

/** An answer, and how far its node was. */
interface At {
  answer: { item: { value: number }[] | { value: number } | null };
  at: ClusterPosition;
}

/** What clients were told. */
class History {
  readonly registers = new Map<string, Call<RegisterCall>[]>();
  readonly acknowledged = new Set<string>();
  readonly open = new Set<string>();
  readonly codes = new Map<string, number>();
  /** Session reads that were older than their token. */
  readonly stale: object[] = [];
  #next = 0;

  constructor(private readonly cluster: NodeProcesses) {}

  note(code = 'ok'): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }

  /** The node that any of them believes to lead. */
  async leader(random: Random): Promise<number> {
    const node = random.below(this.cluster.count);
    const { value } = await this.cluster.ask<{ leader?: string }>(node, 'look', {}, 1_000);
    return value?.leader === undefined ? node : Number(value.leader.slice(1));
  }

  async write(random: Random): Promise<void> {
    const leader = await this.leader(random);
    const key = `r${random.below(3)}`;
    const value = ++this.#next;
    const call: Call<RegisterCall> = {
      call: { kind: 'write', value },
      begun: performance.now(),
      ended: Number.POSITIVE_INFINITY,
    };
    const body = { code: key, value };
    const { code } = await this.cluster.ask(leader, 'call', { query: 'put', body });
    this.note(code);
    if (code !== undefined && refusals.includes(code)) return;
    if (code === undefined) call.ended = performance.now();
    this.registers.set(key, [...(this.registers.get(key) ?? []), call]);
  }

  async add(random: Random): Promise<void> {
    const leader = await this.leader(random);
    const item = `s${++this.#next}`;
    const ask = { query: 'add', body: { code: item } };
    const { code } = await this.cluster.ask(leader, 'call', ask);
    this.note(code);
    if (code === undefined) this.acknowledged.add(item);
    else if (!refusals.includes(code)) this.open.add(item);
  }

  /** A strong read on any node: the leader says where the log is, the node waits for that. */
  async read(random: Random): Promise<void> {
    const begun = performance.now();
    const key = `r${random.below(3)}`;
    const leader = await this.leader(random);
    const node = random.below(this.cluster.count);
    const at = await this.cluster.ask<ClusterPosition>(leader, 'strong', { ms: 5_000 });
    if (at.value === undefined) return;
    const waited = await this.cluster.ask(node, 'wait', { at: at.value, ms: 2_000 });
    if (waited.code !== undefined) return;
    const ask = { query: 'look', body: { code: key } };
    const answer = await this.cluster.ask<{ item: { value: number }[] | { value: number } | null }>(
      node,
      'call',
      ask,
    );
    if (answer.code !== undefined) return;
    const item = [answer.value?.item ?? []].flat()[0];
    this.note('read');
    const call: RegisterCall = { kind: 'read', value: item?.value ?? -1 };
    const list = this.registers.get(key) ?? [];
    this.registers.set(key, [...list, { call, begun, ended: performance.now() }]);
  }

  /**
   * What a client writes and reads with the token of what it has seen, through random nodes; each has a key of
   * its own. Never older than that.
   */
  async session(random: Random, own: Session): Promise<void> {
    const body = { code: own.key, value: own.value + 1 };
    if (random.chance(0.3)) {
      const leader = await this.leader(random);
      own.value++;
      const told = await this.cluster.ask<At>(leader, 'callAt', { query: 'put', body });
      if (told.value !== undefined) own.seen = { least: body.value, at: told.value.at };
      else if (!refusals.includes(told.code!)) own.open.add(body.value);
      return;
    }
    const node = random.below(this.cluster.count);
    const { least, at } = own.seen;
    const waited = await this.cluster.ask(node, 'wait', { at, ms: 2_000 });
    if (waited.code !== undefined) return;
    const ask = { query: 'look', body: { code: own.key } };
    const { value: read } = await this.cluster.ask<At>(node, 'callAt', ask);
    if (read === undefined) return;
    this.note('session');
    const found = [read.answer.item ?? []].flat()[0]?.value ?? 0;
    // What nobody has answered may still be done after what came later.
    if (own.open.has(found)) return;
    if (found < least) this.stale.push({ node, key: own.key, found, least, seen: at, at: read.at });
    else own.seen = { least: found, at: isLater(at, read.at) ? at : read.at };
  }

  /** Writes without an answer that nobody has seen say nothing, and cost the search a lot. */
  isLinearizable(): boolean {
    return [...this.registers.values()].every((calls) => {
      const seen = new Set(
        calls.filter(({ call }) => call.kind === 'read').map(({ call }) => call.value),
      );
      const telling = calls.filter(
        ({ call, ended }) => ended !== Number.POSITIVE_INFINITY || seen.has(call.value),
      );
      return linearize(register, telling).isLinearizable;
    });
  }
}

async function work(
  history: History,
  random: Random,
  client: number,
  isDone: () => boolean,
): Promise<void> {
  const own: Session = {
    key: `c${client}`,
    value: 0,
    open: new Set(),
    seen: { least: 0, at: { epoch: 0, seq: 0 } },
  };
  while (!isDone()) {
    const kind = random.below(4);
    if (kind === 3) await history.session(random, own);
    else if (kind === 0) await history.write(random);
    else if (kind === 1) await history.read(random);
    else await history.add(random);
    await sleep(random.below(30));
  }
}

/** One blow, and its end after a while. */
async function strike(cluster: NodeProcesses, random: Random): Promise<string> {
  const [node, server] = [random.below(nodes), random.below(servers.count)];
  const cut = (wire: Wire): void => {
    for (const one of wires[node]!) one.wire = wire;
  };
  const blows: Record<string, () => Promise<void>> = {
    'kill node': async () => {
      cluster.signal(node, 'SIGKILL');
      await sleep(random.below(2_000));
    },
    'stop node': async () => {
      cluster.signal(node, 'SIGSTOP');
      await sleep(3_000 + random.below(4_000));
      cluster.signal(node, 'SIGCONT');
    },
    'kill server': async () => {
      await servers.kill(server);
      await sleep(random.below(3_000));
      servers.start(server);
    },
    'stop server': async () => {
      servers.pause(server);
      await sleep(1_000 + random.below(4_000));
      servers.resume(server);
    },
    'kill all servers': async () => {
      await Promise.all([0, 1, 2].map((i) => servers.kill(i)));
      for (const i of [0, 1, 2]) servers.start(i);
    },
    'isolate server': async () => {
      servers.isolate(server, random.pick(['cut', 'stall'] as const));
      await sleep(2_000 + random.below(4_000));
      servers.isolate(server, 'pass');
    },
    'cut node off': async () => {
      cut(random.pick(['cut', 'stall', 'deaf'] as const));
      await sleep(2_000 + random.below(5_000));
      cut('pass');
    },
  };
  const name = random.pick(Object.keys(blows));
  await blows[name]!();
  await sleep(500);
  for (let i = 0; i < nodes; i++) if (!cluster.isUp(i)) await cluster.start(i);
  return name;
}

/** One node that leads, and all at its position. */
async function settle(cluster: NodeProcesses): Promise<void> {
  for (const end = performance.now() + 60_000; ; await sleep(500)) {
    const looks = await Promise.all(
      Array.from({ length: nodes }, (_, i) =>
        cluster.ask<{ role: string; position: { seq: number } }>(i, 'look', {}, 2_000),
      ),
    );
    const leader = looks.findIndex(({ value }) => value?.role === 'leader');
    const at =
      leader < 0 ? {} : await cluster.ask<ClusterPosition>(leader, 'strong', { ms: 3_000 });
    const { value } = at as { value?: ClusterPosition };
    if (value !== undefined) {
      const waits = looks.map((_, i) => cluster.ask(i, 'wait', { at: value, ms: 5_000 }));
      if ((await Promise.all(waits)).every(({ code }) => code === undefined)) return;
    }
    if (performance.now() > end)
      throw new Error(`the nodes do not settle: ${JSON.stringify(looks)}`);
  }
}

test(`CT1 CT2 CT3 nothing acknowledged is lost or doubled, strong reads are linearizable, session reads never go back, seed ${seed}`, async () => {
  const log = (node: number) =>
    servers.place(
      'ct1',
      wires[node]!.map(({ port }) => port),
    ).url;
  const cluster = await NodeProcesses.found(nodes, { log, name: 'ct1', source, leaseMs: 2_000 });
  await Promise.all([0, 1, 2].map((i) => cluster.start(i)));
  await settle(cluster);
  const history = new History(cluster);
  const random = new Random(seed);
  const end = performance.now() + (long ? minutes * 60_000 : 90_000);
  const isDone = (): boolean => performance.now() > end;
  const working = Array.from({ length: clients }, (_, i) =>
    work(history, new Random(seed * 100 + i), i, isDone),
  );
  const blows: string[] = [];
  while (!isDone()) {
    await sleep(1_000 + random.below(4_000));
    blows.push(await strike(cluster, random));
  }
  await Promise.all(working);
  await settle(cluster);
  const all = await cluster.ask<{ items: { code: string }[] }>(0, 'call', {
    query: 'all',
    body: {},
  });
  const items = all.value!.items.map(({ code }) => code).filter((code) => code.startsWith('s'));
  console.log(
    `${blows.length} blows (${[...new Set(blows)].join(', ')}); answers ${JSON.stringify([...history.codes])}; ${history.acknowledged.size} acknowledged, ${items.length} there`,
  );
  const there = new Set(items);
  expect(there.size).toBe(items.length);
  expect([...history.acknowledged].filter((code) => !there.has(code))).toEqual([]);
  expect(items.filter((c) => !history.acknowledged.has(c) && !history.open.has(c))).toEqual([]);
  expect(history.isLinearizable()).toBe(true);
  expect(history.stale).toEqual([]);
  expect(history.codes.get('session')).toBeGreaterThan(50);
  expect(history.acknowledged.size).toBeGreaterThan(50);
  await cluster.stop();
  const hashes = [0, 1, 2].map((i) => {
    const env = openEnv(join(cluster.folderOf(i), 'graph'), { readOnly: true });
    const tables = hashTables(env);
    void env.close();
    return tables;
  });
  expect(hashes[1]).toEqual(hashes[0]);
  expect(hashes[2]).toEqual(hashes[0]);
});

/** Leaders that are stopped and continued, one after another, under clients. Whether strong reads lied. */
async function stopLeaders(name: string, log: () => string, ms: number): Promise<boolean> {
  const cluster = await NodeProcesses.found(nodes, { log, name, source, leaseMs: 1_000 });
  await Promise.all([0, 1, 2].map((i) => cluster.start(i)));
  await settle(cluster);
  const history = new History(cluster);
  const end = performance.now() + ms;
  let isFound = false;
  const isDone = (): boolean => isFound || performance.now() > end;
  const working = Array.from({ length: clients }, (_, i) =>
    work(history, new Random(i), i, isDone),
  );
  while (!isDone()) {
    await sleep(1_000);
    const leader = await history.leader(new Random(1));
    cluster.signal(leader, 'SIGSTOP');
    await sleep(4_000);
    cluster.signal(leader, 'SIGCONT');
    await sleep(2_000);
    isFound = !history.isLinearizable();
  }
  await Promise.all(working);
  isFound ||= !history.isLinearizable();
  console.log(`${name}: answers ${JSON.stringify([...history.codes])}`);
  await cluster.stop();
  return isFound;
}

test('K51 canary: with the fence torn down, a leader that was stopped is caught lying', async () => {
  const { url } = servers.place('canary');
  expect(await stopLeaders('honest', () => url, 15_000)).toBe(false);
  const dist = pathToFileURL(join(root, 'dist/engine/cluster/log/jetstream.js')).href;
  const path = pathToFileURL(join(root, 'test/support/cluster/faulty-driver.mjs')).href;
  const log = () => `${path}?${new URLSearchParams({ dist, log: url })}`;
  expect(await stopLeaders('lying', log, 60_000)).toBe(true);
});
