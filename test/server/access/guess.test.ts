// Who guesses keys is not listened to: at most `limits.auth_failures` a second of one source are looked at, ten times
// as many of all together, and who has shown a right key goes on amid them (access.md 3.1, A23 to A25).
import { afterAll, describe, expect, test, vi } from 'vitest';
import { Accepted } from '../../../server/auth/accepted-credentials.js';
import { digestOf } from '../../../server/auth/credential.js';
import { makeKey } from '../../../server/auth/key-record.js';
import { type KeyList, KeyTable } from '../../../server/auth/keys.js';
import { sourceOf } from '../../../server/http/address.js';
import { expectFigure } from '../../support/run/figure.js';
import type { Connection } from '../../support/server/http.js';
import { HttpThreadServer, admin } from '../../conformance/http-thread-server.js';
import { type RunningApp, startApp, transports } from '../running-app.js';

const right = 'the right one, known to few';
const second = (): number => Math.floor(performance.now() / 1000);

async function statusOf(to: Connection, key: string, more = {}): Promise<number> {
  const headers = { 'x-api-key': key, ...more };
  return (await to.request({ method: 'POST', path: '/ping', headers, body: '{}' })).status;
}

/** How often the server has looked for a key. */
function lookups(app: RunningApp): { count: number } {
  const { keys } = app.app;
  const find = keys.find.bind(keys);
  const seen = { count: 0 };
  vi.spyOn(keys, 'find').mockImplementation((...asked) => {
    seen.count++;
    return find(...asked);
  });
  return seen;
}

describe.each(transports)('guesses on %s', (transport) => {
  test('A25: ten a second are looked at, and the key that was accepted before passes amid them', async () => {
    const app = await startApp(transport, { 'auth.api_key': right });
    const open = await Promise.all(Array.from({ length: 4 }, () => app.connect()));
    expect(await statusOf(open[0]!, right)).toBe(200);
    const seen = lookups(app);
    const began = second();
    const end = performance.now() + 1_500;
    const told = new Map<number, number>();
    let passed = 0;
    let asked = 0;
    while (performance.now() < end) {
      await Promise.all(
        open.map(async (connection) => {
          for (let i = 0; i < 8; i++) {
            const status = await statusOf(connection, `guess ${asked++}`);
            told.set(status, (told.get(status) ?? 0) + 1);
          }
        }),
      );
      expect(await statusOf(open[0]!, right)).toBe(200);
      passed++;
    }
    const seconds = second() - began + 1;
    expect(told.get(403)).toBeLessThanOrEqual(10 * seconds);
    expect(seen.count - passed).toBe(told.get(403));
    expect(told.get(429)).toBe(asked - told.get(403)!);
    for (const connection of open) connection.close();
    app.close();
  });

  test('A25: a right key that comes for the first time beyond the bound is 429, and 200 later', async () => {
    const app = await startApp(transport, { 'auth.api_key': right, 'limits.auth_failures': '3' });
    const connection = await app.connect();
    let told: number[] = [];
    // All of them in one second.
    for (let began = -1; began !== second(); ) {
      began = second();
      told = [];
      for (let i = 0; i < 4; i++) told.push(await statusOf(connection, `guess ${i}`));
      if (began === second()) told.push(await statusOf(connection, right));
    }
    expect(told).toEqual([403, 403, 403, 429, 429]);
    await expect.poll(() => statusOf(connection, right), { timeout: 3_000 }).toBe(200);
    // Accepted once, it is never in doubt again.
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
    const from = (address: string): Promise<number> =>
      statusOf(connection, `guess of ${address}`, { 'X-Forwarded-For': address });
    const within = async (addresses: readonly string[]): Promise<Map<number, number>> => {
      for (;;) {
        const began = second();
        const told = new Map<number, number>();
        for (const address of addresses) {
          const status = await from(address);
          told.set(status, (told.get(status) ?? 0) + 1);
        }
        if (began === second()) return told;
      }
    };
    const ofOne = Array.from({ length: 20 }, (_, i) => `2001:db8:1:2::${(i + 1).toString(16)}`);
    const another = '2001:db8:1:3::1';
    const nextSecond = async (): Promise<void> => {
      const before = second();
      while (second() === before) await new Promise((done) => setTimeout(done, 20));
    };
    await nextSecond();
    expect(await within([...ofOne, another])).toEqual(
      new Map([
        [403, 6],
        [429, 15],
      ]),
    );
    await nextSecond();
    const many = Array.from({ length: 80 }, (_, i) => `10.1.${i}.1`);
    expect(await within(many)).toEqual(
      new Map([
        [403, 50],
        [429, 30],
      ]),
    );
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
    const began = performance.now();
    let wrong = 0;
    let unseen = 0;
    while (performance.now() - began < 1_200) {
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
    expect(unseen).toBeGreaterThan(wrong);
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

test('A24: among 20,000 keys a look costs what it costs among one, known or not', () => {
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
  const known = shown(made[0]!.text);
  const wrongSecret = shown(`${made[0]!.text.slice(0, -1)}!`);
  const unknown = shown(`tk_nobody_${'x'.repeat(32)}`);
  const tries = 10_000;
  const microsOf = (table: KeyTable, credential: typeof known): number => {
    const began = performance.now();
    for (let i = 0; i < tries; i++) table.find(credential, 1);
    return ((performance.now() - began) * 1000) / tries;
  };
  // Each the best of several, in turn: 100,000 looks and more.
  const best = { one: Infinity, many: Infinity, wrong: Infinity, unknown: Infinity };
  for (let round = 0; round < 5; round++) {
    best.one = Math.min(best.one, microsOf(few, known));
    best.many = Math.min(best.many, microsOf(many, known));
    best.wrong = Math.min(best.wrong, microsOf(many, wrongSecret));
    best.unknown = Math.min(best.unknown, microsOf(many, unknown));
  }
  expect(many.find(known, 1)?.keyId).toBe(made[0]!.record.id);
  expect(many.find(shown(made[19_999]!.text), 1)?.keyId).toBe(made[19_999]!.record.id);
  expect([many.find(wrongSecret, 1), many.find(unknown, 1)]).toEqual([undefined, undefined]);
  // 20,000 digests compared one by one take a thousand times as long.
  expectFigure(best.many / best.one, 1.5, 'a look among 20,000 keys');
  expectFigure(best.unknown / best.wrong, 1.5, 'an id that nobody has');
  expectFigure(best.wrong / best.unknown, 1.5, 'a wrong secret');
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
  there.forget(one);
  expect(here.find(one, 29 * minute)).toBe(-1);
});
