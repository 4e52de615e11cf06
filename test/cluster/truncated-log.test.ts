// K16: a log that lost its newest entries, in memory, in a bucket, and behind a driver of the operator's own.
// Whoever has none of what was lost goes on; whoever has some of it says so and never appends, however well the
// numbers fit. On real log servers: real/lost-end.test.ts.
import { afterAll, afterEach, test } from 'vitest';
import { driverOf } from '../../engine/cluster/log/drivers.js';
import { ObjectStore } from '../support/cluster/object-store.js';
import { Relay } from '../support/cluster/relay.js';
import { TcpLog } from '../support/cluster/tcp-log.js';
import { type LosingLog, appendAll, casesOf, expectFates, fewCases } from './support/lost-end.js';
import { closeMembers, leaseMs } from './support/members.js';
import { MemoryLog } from './support/memory-log.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(closeMembers);
afterAll(() => Promise.all(closing.map((close) => close())));

async function inMemory(): Promise<LosingLog> {
  const log = new MemoryLog();
  let left = 0;
  return {
    open: async () => log.view(),
    reach: (isReached) => void (log.isHeard = isReached),
    add: async (entries) => void log.messages.push(...entries),
    mark: async () => void (left = log.messages.length),
    lose: async () => void log.messages.splice(left),
    trim: async () => void (log.trimmed = log.messages.length - 1),
    messages: async () => log.messages.map(({ bytes }) => bytes),
    count: async () => log.messages.length,
  };
}

/** Of an operator's own: its node reaches it over a socket. */
async function ofAFile(): Promise<LosingLog> {
  const log = await TcpLog.start();
  const place = { url: log.urlOf('a'), name: 'a', keepBytes: 1 << 30 };
  const other = { ...place, url: log.urlOf('z') };
  const driver = await driverOf(place.url);
  const operator = await driver.open(other);
  closing.push(async () => {
    await operator.close();
    await log.close();
  });
  let left = 0;
  return {
    open: async () => {
      const opened = await driver.open(place);
      closing.unshift(() => opened.close());
      return opened;
    },
    reach: (isReached) => log.fault('a', isReached ? undefined : { away: 'lost' }),
    add: (entries) => appendAll(operator, entries),
    mark: async () => void (left = log.last),
    lose: async () => log.shorten(left),
    trim: async () => log.trim(log.last),
    messages: async () => Array.from({ length: log.last }, (_, i) => log.bytesAt(i + 1)),
    count: async () => log.last,
  };
}

async function inABucket(store: ObjectStore, name: string): Promise<LosingLog> {
  const place = store.place(name);
  const driver = await driverOf(place.url);
  await driver.create(place);
  const operator = await driver.open(place);
  const relay = await Relay.open(() => store.port);
  closing.push(async () => {
    await operator.close();
    await relay.close();
  });
  const keys = (): string[] => store.keys(`/${name}/`).filter((key) => key.includes('/log/'));
  let left = 0;
  return {
    open: async () => {
      const opened = await driver.open(store.place(name, { port: relay.port, pollMs: 25 }));
      closing.unshift(() => opened.close());
      return opened;
    },
    reach: (isReached) => void (relay.wire = isReached ? 'pass' : 'cut'),
    add: async (entries) => {
      // By who knows nothing of an end that is gone.
      const writer = await driver.open(place);
      await appendAll(writer, entries);
      await writer.close();
    },
    mark: async () => void (left = keys().length),
    lose: async () => {
      for (const key of keys().slice(left)) store.objects.delete(key);
    },
    trim: async () => operator.trim(keys().length),
    messages: async () => keys().map((key) => new Uint8Array(store.objects.get(key)!.bytes)),
    count: async () => Number(keys().at(-1)!.slice(-15)),
  };
}

const counts = [0, 1, 2, 5];

test.each(counts)('K16 a log in memory that lost %i entries', async (lost) => {
  await expectFates(casesOf([lost], counts), inMemory, leaseMs);
});

const cases = process.env.TRELLIS_TEST_LONG === '1' ? casesOf([2], [0, 1, 2, 3]) : fewCases;

test('K16 a log of a driver of the operator', async () => {
  await expectFates(cases, ofAFile, 5 * leaseMs);
});

test('K16 a log in a bucket', async () => {
  const store = await ObjectStore.open();
  closing.push(() => store.close());
  await expectFates(cases, (i) => inABucket(store, `log${i}`), 5 * leaseMs);
});
