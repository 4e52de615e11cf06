// Limits of guessed keys: the server looks up at most `limits.auth_failures` per second of one source, and
// ten times as many in total. Callers with a recently accepted key continue to be served (access.md 3.1, A23
// to A25).
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Accepted } from '../../../server/auth/accepted-credentials.js';
import { digestOf } from '../../../server/auth/credential.js';
import { makeKey } from '../../../server/auth/key-record.js';
import { type KeyList, KeyTable } from '../../../server/auth/keys.js';
import { sourceOf } from '../../../server/http/address.js';
import type { Connection } from '../../support/server/http.js';
import { HttpThreadServer, admin } from '../../conformance/http-thread-server.js';
import { type RunningApp, startApp, transports } from '../running-app.js';

const right = 'the right one, known to few';

/** A clock for the server in this process. It stands still until the test moves it. */
interface Clock {
  nextSecond(): void;
}

let clock: Clock;
beforeEach(() => {
  let now = Math.ceil(performance.now() / 1000) * 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  clock = { nextSecond: () => void (now += 1000) };
});
afterEach(() => {
  vi.restoreAllMocks();
});

async function statusOf(to: Connection, key: string, more = {}): Promise<number> {
  const headers = { 'x-api-key': key, ...more };
  return (await to.request({ method: 'POST', path: '/ping', headers, body: '{}' })).status;
}

/** How often the server has looked for a key. */
function lookups(app: RunningApp): { count: number } {
  const { keys } = app.app;
  const find = keys.find.bind(keys);
  const seen = { count: 0 };
  vi.spyOn(keys, 'find').mockImplementation((...credential) => {
    seen.count++;
    return find(...credential);
  });
  return seen;
}

/** The number of answers by status. */
function countsOf(statuses: readonly number[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe.each(transports)('guesses on %s', (transport) => {
  test('A25: the server looks up ten a second, and the key that was accepted before passes amid them', async () => {
    const app = await startApp(transport, { 'auth.api_key': right });
    const open = await Promise.all(Array.from({ length: 4 }, () => app.connect()));
    expect(await statusOf(open[0]!, right)).toBe(200);
    const seen = lookups(app);
    for (let second = 0; second < 3; second++) {
      clock.nextSecond();
      const before = seen.count;
      const statuses = await Promise.all(
        open.map(async (connection, at) => {
          const all: number[] = [];
          for (let i = 0; i < 8; i++)
            all.push(await statusOf(connection, `guess ${second} ${at} ${i}`));
          return all;
        }),
      );
      expect(countsOf(statuses.flat())).toEqual({ 403: 10, 429: 22 });
      expect(seen.count - before).toBe(10);
      expect(await statusOf(open[0]!, right)).toBe(200);
    }
    for (const connection of open) connection.close();
    app.close();
  });

  test('A25: a right key that comes for the first time beyond the bound is 429, and 200 in the next second', async () => {
    const app = await startApp(transport, { 'auth.api_key': right, 'limits.auth_failures': '3' });
    const connection = await app.connect();
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push(await statusOf(connection, `guess ${i}`));
    statuses.push(await statusOf(connection, right));
    expect(statuses).toEqual([403, 403, 403, 429, 429]);
    clock.nextSecond();
    expect(await statusOf(connection, right)).toBe(200);
    // An accepted key stays accepted, however many guesses follow.
    for (let i = 0; i < 8; i++) await statusOf(connection, `guess ${i}`);
    expect(await statusOf(connection, right)).toBe(200);
    const metrics = await app.request({
      method: 'GET',
      path: '/metrics',
      headers: { 'x-api-key': right },
    });
    expect(metrics.text).toMatch(/trellis_auth_failures_total\{reason="throttled"\} [1-9]/);
    connection.close();
    app.close();
  });

  test('guesses are counted by the /64 of an address, and over all', async () => {
    const app = await startApp(transport, {
      'auth.api_key': right,
      'limits.auth_failures': '5',
      'server.trust_proxy': 'true',
    });
    const connection = await app.connect();
    const inNextSecond = async (addresses: readonly string[]): Promise<Record<number, number>> => {
      clock.nextSecond();
      const statuses: number[] = [];
      for (const address of addresses)
        statuses.push(
          await statusOf(connection, `guess of ${address}`, { 'X-Forwarded-For': address }),
        );
      return countsOf(statuses);
    };
    const ofOne = Array.from({ length: 20 }, (_, i) => `2001:db8:1:2::${(i + 1).toString(16)}`);
    const another = '2001:db8:1:3::1';
    expect(await inNextSecond([...ofOne, another])).toEqual({ 403: 6, 429: 15 });
    const many = Array.from({ length: 80 }, (_, i) => `10.1.${i}.1`);
    expect(await inNextSecond(many)).toEqual({ 403: 50, 429: 30 });
    connection.close();
    app.close();
  });
});

describe('several threads that take connections', () => {
  let subject: HttpThreadServer | undefined;
  afterAll(() => subject?.dispose());

  test('A25: count guesses together, and let the accepted key pass amid them', async () => {
    subject = await HttpThreadServer.start();
    const key = admin['x-api-key'];
    const open = Array.from({ length: 6 }, (_, i) => subject!.at(i));
    const statusOn = async (to: Connection, shown: string): Promise<number> =>
      (await subject!.call(to, 'value', {}, { 'x-api-key': shown })).status;
    for (const connection of open) expect(await statusOn(connection, key)).toBe(200);
    vi.restoreAllMocks();
    const began = performance.now();
    let wrong = 0;
    let unseen = 0;
    // On a slow machine few requests fit in a second, so that it takes more of them until most are unseen.
    while (unseen <= wrong || unseen < 60) {
      if (performance.now() - began > 60_000) expect.fail(`${wrong} looked up, ${unseen} unseen`);
      const told = await Promise.all(
        open.map(async (connection, at) => {
          const all: number[] = [];
          for (let i = 0; i < 6; i++) all.push(await statusOn(connection, `guess ${at} ${i}`));
          expect(await statusOn(connection, key)).toBe(200);
          return all;
        }),
      );
      wrong += told.flat().filter((status) => status === 403).length;
      unseen += told.flat().filter((status) => status === 429).length;
    }
    const seconds = Math.ceil((performance.now() - began) / 1000) + 1;
    expect(wrong).toBeLessThanOrEqual(10 * seconds);
  });
});

test('addresses count by what one customer has', () => {
  const cases = [
    ['10.0.0.7', '10.0.0.7'],
    ['::1', '::1'],
    ['unix', 'unix'],
    ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
    ['2001:db8:0:1::', '2001:db8:0:1::/64'],
    ['2001:db8::1:2:3:4', '2001:db8:0:0::/64'],
    ['::2:3:4:5:6', '0:0:0:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['2001:DB8:0000:01::7', '2001:db8:0:1::/64'],
    ['::ffff:10.0.0.7', '10.0.0.7'],
  ];
  expect(cases.map(([address]) => [address, sourceOf(address!)])).toEqual(cases);
});

test('A24: among 20,000 keys a look-up compares as many digests as among one, for a known key or not', () => {
  const made = Array.from({ length: 20_000 }, (_, i) =>
    makeKey({ name: `k${i}`, role: 'read' }, new Date(0)),
  );
  const listOf = (count: number): KeyList => ({
    needed: true,
    keys: made.slice(0, count).map(({ record: { id, role, digest } }) => ({
      digests: [{ digest, until: Number.POSITIVE_INFINITY }],
      caller: { keyId: id, role },
      expiresAt: Number.POSITIVE_INFINITY,
    })),
  });
  const [few, many] = [new KeyTable(listOf(1)), new KeyTable(listOf(made.length))];
  const shown = (text: string) => ({ text, digest: digestOf(text) });
  const [first, last] = [shown(made[0]!.text), shown(made.at(-1)!.text)];
  const wrongSecret = shown(`${made[0]!.text.slice(0, -1)}!`);
  const unknown = shown(`tk_nobody_${'x'.repeat(32)}`);
  const compare = vi.spyOn(crypto, 'timingSafeEqual');
  syncBuiltinESMExports();
  /** The key that a look-up finds, and the number of digests that it compares. */
  const lookUp = (table: KeyTable, credential: typeof first): [string | undefined, number] => {
    compare.mockClear();
    return [table.find(credential, 1)?.keyId, compare.mock.calls.length];
  };
  try {
    expect(lookUp(few, first)).toEqual([made[0]!.record.id, 1]);
    expect(lookUp(many, first)).toEqual([made[0]!.record.id, 1]);
    expect(lookUp(many, last)).toEqual([made.at(-1)!.record.id, 1]);
    expect(lookUp(many, wrongSecret)).toEqual([undefined, 1]);
    expect(lookUp(many, unknown)).toEqual([undefined, 1]);
  } finally {
    compare.mockRestore();
    syncBuiltinESMExports();
  }
});

test('what was accepted is known for ten minutes, to all threads, and makes room', () => {
  const here = new Accepted();
  const there = new Accepted(here.buffer);
  const minute = 60_000;
  const digests = Array.from({ length: 20_000 }, (_, i) => digestOf(String(i)));
  for (const digest of digests) here.note(digest, 0);
  const isKnown = (at: number) => digests.filter((digest) => there.find(digest, at) >= 0).length;
  // A few have no place of their own: they are looked at as new ones are.
  expect(isKnown(9 * minute)).toBeGreaterThan(19_000);
  expect(isKnown(12 * minute)).toBe(0);
  const [one, other] = [digestOf('one'), digestOf('other')];
  here.note(one, 12 * minute);
  there.renew(there.find(one, 20 * minute), 20 * minute);
  expect(here.find(one, 29 * minute)).toBeGreaterThanOrEqual(0);
  expect(here.find(other, 29 * minute)).toBe(-1);
  there.remove(one);
  expect(here.find(one, 29 * minute)).toBe(-1);
});
