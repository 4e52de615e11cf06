// K16: real log servers that come back with the stores of an earlier moment, all of them: their streams have lost
// what was acknowledged since, and got others in its place or not. The same grid as in lost-end.test.ts, by the
// JetStream driver.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toErrorData } from '../../../engine/base/errors.js';
import { driverOf } from '../../../engine/cluster/log/drivers.js';
import type { LogDriver, ReplicatedLog } from '../../../engine/cluster/log/replicated-log.js';
import { NatsServers } from '../../support/cluster/nats-servers.js';
import type { Relay } from '../../support/cluster/relay.js';
import { type LosingLog, appendAll, expectFates, fateOf, fewCases } from '../support/lost-end.js';
import { closeMembers } from '../support/members.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const cases = fewCases;
/** The short run has one server: what it has forgotten, a majority has. */
const replicas = long ? 3 : 1;
const leaseMs = 1_500;
const patienceMs = 30_000;
const againMs = 100;

let servers: NatsServers;
let driver: LogDriver;
const opened: ReplicatedLog[] = [];
const relays: Relay[] = [];

beforeAll(async () => {
  servers = await NatsServers.start({ sync: 'always', count: replicas });
  driver = await driverOf('nats://');
});
afterAll(async () => {
  closeMembers();
  await Promise.all(opened.map((log) => log.close()));
  await Promise.all(relays.map((relay) => relay.close()));
  await servers?.stop();
});

/** Done once for all, when all have come there. */
function together(count: number, work: () => Promise<void>): () => Promise<void> {
  let missing = count;
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const done = begun.then(work);
  return () => {
    missing--;
    if (missing === 0) begin();
    return done;
  };
}

const all = Array.from({ length: replicas }, (_, i) => i);
const storeOf = (i: number): string => join(servers.folder, `n${i + 1}`);
const keptOf = (i: number): string => join(servers.folder, `kept${i + 1}`);

async function whileStopped(work: (i: number) => void): Promise<void> {
  await Promise.all(all.map((i) => servers.kill(i, 'SIGTERM')));
  for (const i of all) work(i);
  for (const i of all) servers.start(i);
  await servers.ready();
}

const mark = together(cases.length, () =>
  whileStopped((i) => cpSync(storeOf(i), keptOf(i), { recursive: true })),
);
const lose = together(cases.length, () =>
  whileStopped((i) => {
    rmSync(storeOf(i), { recursive: true });
    cpSync(keptOf(i), storeOf(i), { recursive: true });
  }),
);

/** Servers that have just come back with many streams, on a busy machine, do not answer at once. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + patienceMs; ; ) {
    try {
      return await ask();
    } catch (error) {
      if (toErrorData(error).error.code !== 'LOG_UNAVAILABLE' || performance.now() > end)
        throw error;
      await pause(againMs);
    }
  }
}

/** One after another: so many at once are too much for servers that sync. */
let creating: Promise<void> = Promise.resolve();

async function inAStream(number: number): Promise<LosingLog> {
  const wires = await servers.proxies();
  relays.push(...wires);
  const more = `&replicas=${replicas}`;
  const name = `lost${number}`;
  const place = { ...servers.place(name, servers.ports, more), allowLazy: true };
  const near = servers.place(
    name,
    wires.map(({ port }) => port),
    more,
  );
  const open = async (at: typeof near): Promise<ReplicatedLog> => {
    const log = await patiently(() => driver.open(at));
    opened.push(log);
    return log;
  };
  // One that was asked for may have come, though nobody said so in time.
  const isThere = async (): Promise<boolean> => (await driver.look(place)).exists;
  creating = creating.then(() =>
    patiently(async () => {
      if (!(await isThere())) await driver.create(place);
    }),
  );
  await creating;
  const operator = await open(place);
  const last = (): Promise<number> => patiently(() => operator.last());
  return {
    open: () => open(near),
    reach: (isReached) => {
      for (const one of wires) one.wire = isReached ? 'pass' : 'cut';
    },
    add: (entries) => appendAll(operator, entries),
    mark,
    lose,
    trim: () => patiently(async () => operator.trim(await last())),
    messages: async () => {
      const messages: Uint8Array[] = [];
      const end = await last();
      for await (const { bytes } of operator.read(1, () => {}))
        if (messages.push(bytes) === end) break;
      return messages;
    },
    count: last,
  };
}

test('K16 streams whose servers came back unchanged', async () => {
  await expectFates(cases, inAStream, leaseMs);
  // Of each the operator's and the node's, and one that reads where the node's log was another one.
  const others = cases.filter((one) => fateOf(one) !== 'follows');
  expect(opened.length).toBe(2 * cases.length + others.length);
});
