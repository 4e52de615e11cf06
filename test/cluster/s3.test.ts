// 2.1, K09, K16, K26: logs in an S3-compatible store. Answers are lost and refused at random, writers race and
// stand still, objects vanish. With a real store: real/s3.test.ts.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { driverOf } from '../../engine/cluster/log/drivers.js';
import type { LogDriver, ReplicatedLog } from '../../engine/cluster/log/replicated-log.js';
import { s3Address } from '../../engine/cluster/log/s3.js';
import { signed } from '../../engine/cluster/log/s3-sign.js';
import {
  appendSurely,
  bytesOf,
  follow,
  race,
  readTo,
  verify,
} from '../support/cluster/log-messages.js';
import { ObjectStore } from '../support/cluster/object-store.js';
import { Random } from '../support/random.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
let store: ObjectStore;
let driver: LogDriver;
let log: ReplicatedLog;
let made = 0;
const place = () => store.place(`log${made}`);

beforeAll(async () => {
  store = await ObjectStore.open();
  driver = await driverOf('s3://');
});
beforeEach(async () => {
  made++;
  await driver.create(place());
  log = await driver.open(place());
});
afterEach(async () => {
  store.fault = () => undefined;
  store.keeps = false;
  store.ignoresConditions = false;
  await log.close();
});
afterAll(() => store.close());

test('requests are signed as the maker of the signature shows it', () => {
  const request = {
    method: 'GET',
    host: 'examplebucket.s3.amazonaws.com',
    path: '/test.txt',
    query: {},
    headers: { range: 'bytes=0-9' },
    body: new Uint8Array(0),
  };
  const key = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
  const { authorization } = signed(request, key, 'us-east-1', Date.UTC(2013, 4, 24));
  expect(authorization).toContain(
    'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  );
});

test('addresses', () => {
  const of = (url: string) => s3Address({ url, name: 'db', keepBytes: 1 });
  expect(of('s3://b/p/q?region=eu-north-1')).toMatchObject({
    endpoint: new URL('https://b.s3.eu-north-1.amazonaws.com'),
    bucketPath: '',
    prefix: 'p/q/db/',
  });
  expect(of('s3://b?endpoint=http://h:9000&poll=20')).toMatchObject({
    bucketPath: '/b',
    prefix: 'db/',
    pollMs: 20,
  });
  for (const wrong of ['s3://', 's3://b?x=1', 's3://b?poll=0', 's3://b?endpoint=no', 's3://B!'])
    expect(() => of(wrong), wrong).toThrow('must be `s3://bucket/prefix`');
});

describe('in order', () => {
  test('K09 appends one time, after the last entry, never before it', async () => {
    expect([await log.first(), await log.last(), await log.size()]).toEqual([1, 0, 0]);
    expect(await log.append(bytesOf('x'), 1, 'x')).toBe('unknown');
    for (let i = 0; i < 40; i++) expect(await log.append(bytesOf(`m${i}`), i, `m${i}`)).toBe('ok');
    expect(await log.append(bytesOf('m5'), 5, 'm5')).toBe('ok');
    expect(await log.append(bytesOf('other'), 5, 'other')).toBe('behind');
    expect(await readTo(log, 3, 40)).toEqual(Array.from({ length: 38 }, (_, i) => `m${i + 2}`));
    const fresh = await driver.open(place());
    expect([await fresh.last(), await fresh.size()]).toEqual([40, 110]);
    await fresh.close();
  });

  test('K23 a reader reports that there is more until it has read everything', async () => {
    for (let i = 0; i < 40; i++) await appendSurely(log, `m${i}`, i);
    const { seen, told } = follow(log, 1);
    while (!told.includes(false)) await new Promise((resolve) => setTimeout(resolve, 5));
    // Signs of life go on after that, and say the same.
    expect([told.lastIndexOf(true) < told.indexOf(false), seen.length]).toEqual([true, 40]);
  });

  test('K16 no log is created automatically, twice, or in something that only resembles a store', async () => {
    const nowhere = store.place('nowhere');
    await expect(driver.open(nowhere)).rejects.toMatchObject({ code: 'LOG_LOST' });
    expect(await driver.look(nowhere)).toMatchObject({ exists: false });
    await expect(driver.create(place())).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    store.ignoresConditions = true;
    await expect(driver.create(nowhere)).rejects.toMatchObject({ code: 'LOG_UNSAFE' });
    store.fault = () => 'refuse';
    await expect(driver.open(place())).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' });
    await expect(log.trim(1)).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' });
  });
});

describe('what was trimmed', () => {
  const fill = async (): Promise<void> => {
    for (let i = 0; i < 9; i++) await appendSurely(log, `m${i}`, i);
  };

  test('K26 a trimmed log is deleted except for the position of its end', async () => {
    await fill();
    await log.trim(7);
    expect([await log.first(), await log.last()]).toEqual([7, 9]);
    expect(store.keys(`log${made}/`).filter((key) => key.includes('/log/')).length).toBe(3);
    expect(await readTo(log, 7, 9)).toEqual(['m6', 'm7', 'm8']);
    expect(await follow(log, 6).ended).toMatchObject({ code: 'LOG_TRUNCATED' });
    await log.trim(3);
    expect(await log.first()).toBe(7);
  });

  test('a writer that stood still meanwhile has not appended, though its PUT succeeds', async () => {
    await fill();
    const stale = await driver.open(place());
    await log.trim(8);
    expect(await stale.append(bytesOf('late'), 3, 'late')).toBe('unknown');
    // It knows its place and does not ask before it puts.
    const knows = await driver.open(place());
    await appendSurely(knows, 'm8', 8);
    expect(await knows.append(bytesOf('late'), 3, 'late')).toBe('unknown');
    expect(await knows.append(bytesOf('m3'), 3, 'm3')).toBe('unknown');
    // Nor is it read where it could not remove what it has put there.
    store.keeps = true;
    expect(await knows.append(bytesOf('late'), 3, 'late')).toBe('unknown');
    expect(store.keys(`log${made}/`).some((key) => key.endsWith('/log/000000000000004'))).toBe(
      true,
    );
    const { seen, ended } = follow(log, 4);
    expect(await ended).toMatchObject({ code: 'LOG_TRUNCATED' });
    expect(seen).toEqual([]);
    await Promise.all([stale.close(), knows.close()]);
  });
});

describe('a log that cannot be followed', () => {
  test('a gap, a log that ends too early, a deleted log', async () => {
    for (let i = 0; i < 5; i++) await appendSurely(log, `m${i}`, i);
    expect(await follow(log, 9).ended).toMatchObject({ code: 'LOG_LOST' });
    for (const key of store.keys(`log${made}/`))
      if (key.endsWith('/log/000000000000003')) store.objects.delete(key);
    const { seen, ended } = follow(log, 1);
    expect(await ended).toMatchObject({ code: 'LOG_LOST' });
    expect(seen.length).toBe(2);
    const atEnd = follow(log, 6);
    for (const key of store.keys(`log${made}/log.json`)) store.objects.delete(key);
    expect(await atEnd.ended).toMatchObject({ code: 'LOG_LOST' });
    // Made anew, it takes nothing of those who knew the old one.
    await driver.create(place());
    await appendSurely(log, 'old', 5);
    const anew = await driver.open(place());
    expect(await anew.last()).toBe(0);
    await anew.close();
  });

  test('a store that does not respond is waited for, and does not count as alive', async () => {
    await appendSurely(log, 'a', 0);
    const { seen, beats } = follow(log, 1);
    while (seen.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    store.fault = () => 'refuse';
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = beats();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([beats(), seen.length]).toEqual([before, 1]);
    store.fault = () => undefined;
    await appendSurely(log, 'b', 1);
    while (seen.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(beats()).toBeGreaterThan(before);
  });
});

test('K10 writers race while answers are lost: every sequence has one owner', async () => {
  for (let seed = 1; seed <= (long ? 40 : 1); seed++) {
    const random = new Random(seed);
    made++;
    await driver.create(place());
    const logs = [await driver.open(place()), await driver.open(place())];
    store.fault = () => (random.chance(0.04) ? 'lose' : random.chance(0.04) ? 'refuse' : undefined);
    const { owner, twice } = await race(logs, (count) => count >= (long ? 40 : 15));
    store.fault = () => undefined;
    expect(twice, `seed ${seed}`).toBe(0);
    await verify(logs[0]!, owner);
    await Promise.all(logs.map((one) => one.close()));
  }
});
