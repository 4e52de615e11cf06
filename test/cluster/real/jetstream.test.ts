// 2.1, K09, K10, K16, K17, K26, K27: the JetStream driver against three real servers that are killed, cut
// off, answered for too late, emptied, deleted and made anew.
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, nanos } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { driverOf } from '../../../engine/cluster/log/drivers.js';
import { JetStreamLog } from '../../../engine/cluster/log/jetstream-log.js';
import type {
  LogDriver,
  LogAddress,
  ReplicatedLog,
} from '../../../engine/cluster/log/replicated-log.js';
import {
  appendSurely,
  bytesOf,
  follow,
  race,
  readTo,
  verify,
} from '../../support/cluster/log-messages.js';
import { NatsServers, sleep } from '../../support/cluster/nats-servers.js';
import type { Relay } from '../../support/cluster/relay.js';

let servers: NatsServers;
let driver: LogDriver;
const open: ReplicatedLog[] = [];

beforeAll(async () => {
  servers = await NatsServers.start();
  driver = await driverOf('nats://');
});
afterAll(async () => {
  await Promise.all(open.map((log) => log.close()));
  await servers?.stop();
});

async function openLog(place: LogAddress): Promise<ReplicatedLog> {
  const log = await driver.open(place);
  open.push(log);
  return log;
}

let made = 0;
async function makeLog(more: Partial<LogAddress> = {}): Promise<[ReplicatedLog, LogAddress]> {
  const place = { ...servers.place(`log${++made}`), ...more };
  await driver.create(place);
  return [await openLog(place), place];
}

/** What an operator could do to the stream of a place. */
async function asOperator<T>(
  work: (manager: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<T>,
): Promise<T> {
  const connection = await connect({ servers: servers.addresses() });
  try {
    return await work(await jetstreamManager(connection, { timeout: 5_000 }));
  } finally {
    await connection.close();
  }
}

const leaderOf = (place: LogAddress): Promise<number> =>
  asOperator(async (manager) => {
    const { cluster } = await manager.streams.info(`TRELLIS_${place.name}`);
    return Number(cluster?.leader?.slice(1) ?? '0') - 1;
  });

describe('in order', () => {
  test('appends, reads, trims; K26 what is trimmed keeps its numbers', async () => {
    const [log, place] = await makeLog();
    expect([await log.first(), await log.last()]).toEqual([0, 0]);
    for (let i = 0; i < 10; i++) expect(await log.append(bytesOf(`m${i}`), i, `m${i}`)).toBe('ok');
    expect(await log.append(bytesOf('late'), 3, 'late')).toBe('behind');
    expect(await readTo(log, 1, 10)).toEqual(Array.from({ length: 10 }, (_, i) => `m${i}`));
    await log.trim(7);
    expect([await log.first(), await log.last()]).toEqual([7, 10]);
    expect(await readTo(log, 7, 10)).toEqual(['m6', 'm7', 'm8', 'm9']);
    expect(await follow(log, 6).ended).toMatchObject({
      code: 'LOG_TRUNCATED',
      data: { args: { first: 7, needed: 6 } },
    });
    await log.trim(10);
    // An old leader stays refused where everything it knew was trimmed; what became of its own is not known.
    expect(await log.append(bytesOf('old'), 10, 'late')).toBe('ok');
    expect(await log.append(bytesOf('old'), 2, 'old')).toBe('unknown');
    expect(await log.last()).toBe(11);
    await expect(driver.create(place)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  test('the largest part, and many of them', async () => {
    const [log] = await makeLog();
    const part = new Uint8Array(512 * 1024 + 64).fill(7);
    expect(log.maxBytes).toBeGreaterThan(part.length);
    const begun = performance.now();
    for (let i = 0; i < 32; i++) expect(await log.append(part, i, `p${i}`)).toBe('ok');
    const written = performance.now() - begun;
    const again = performance.now();
    let count = 0;
    for await (const { bytes } of log.read(1, () => {})) {
      expect(bytes.length).toBe(part.length);
      if (++count === 32) break;
    }
    const mb = (32 * part.length) / 1e3;
    console.log(
      `parts of 512 KiB: ${(mb / written).toFixed(0)} MB/s in, ${(mb / (performance.now() - again)).toFixed(0)} out`,
    );
  });

  test('many small ones are read again faster than they are written', async () => {
    const [log] = await makeLog();
    const bytes = new Uint8Array(1024);
    const begun = performance.now();
    const count = 2_000;
    // As many under way as a leader may have parts of entries.
    for (let i = 0; i < count; i += 50) {
      const batch = Array.from({ length: 50 }, (_, k) => log.append(bytes, i + k, `s${i + k}`));
      expect(new Set(await Promise.all(batch))).toEqual(new Set(['ok']));
    }
    const written = performance.now() - begun;
    const again = performance.now();
    // Nobody is told that there is no more before all is there.
    const told: boolean[] = [];
    let seen = 0;
    for await (const _ of log.read(1, (hasMore = false) => void told.push(hasMore)))
      if (++seen === count) break;
    expect(told.length).toBeGreaterThanOrEqual(count);
    expect(told.includes(false)).toBe(false);
    const read = performance.now() - again;
    const rate = (ms: number): string => ((count / ms) * 1000).toFixed(0);
    console.log(`1 KiB: ${rate(written)}/s in, 50 under way; ${rate(read)}/s out`);
    expect(read).toBeLessThan(written);
  });

  test('K09 a repeated append is the first one, also when the log has forgotten its id', async () => {
    const [log, place] = await makeLog();
    for (let i = 0; i < 3; i++) expect(await log.append(bytesOf('a'), 0, 'a')).toBe('ok');
    expect(await log.append(bytesOf('b'), 0, 'b')).toBe('behind');
    expect(await log.append(bytesOf('b'), 1, 'b')).toBe('ok');
    await asOperator((manager) =>
      manager.streams.update(`TRELLIS_${place.name}`, { duplicate_window: nanos(100) }),
    );
    await sleep(1500);
    // Now the server refuses, and the message at its place says whose it is.
    expect(await log.append(bytesOf('b'), 1, 'b')).toBe('ok');
    expect(await log.append(bytesOf('a'), 0, 'a')).toBe('ok');
    expect(await log.append(bytesOf('c'), 0, 'c')).toBe('behind');
    expect(await readTo(log, 1, 2)).toEqual(['a', 'b']);
    expect(await log.last()).toBe(2);
  });

  test('an append ahead of the log never lands', async () => {
    const [log] = await makeLog();
    expect(await log.append(bytesOf('x'), 5, 'x')).toBe('unknown');
    expect(await log.last()).toBe(0);
  });

  test('K27 a full log refuses appends, loses nothing, and continues when it was trimmed', async () => {
    const [log] = await makeLog({ keepBytes: 1 << 19 });
    const bytes = new Uint8Array(1 << 17);
    let after = 0;
    let code = '';
    while (code === '' && after < 100) {
      try {
        expect(await log.append(bytes, after, `f${after}`)).toBe('ok');
        after++;
      } catch (error) {
        code = (error as { code: string }).code;
      }
    }
    expect([code, await log.first(), await log.last()]).toEqual(['LOG_FULL', 1, after]);
    expect(after).toBeGreaterThan(4);
    await log.trim(after);
    expect((await appendSurely(log, 'more', after)).outcome).toBe('ok');
  });
});

describe('two writers', () => {
  test('every sequence has one owner', async () => {
    const [log, place] = await makeLog();
    const logs = [log, await openLog(place)];
    const end = performance.now() + 3_000;
    const { owner, twice, refused } = await race(logs, () => performance.now() > end);
    expect([twice, refused > 0, owner.size > 100]).toEqual([0, true, true]);
    await verify(log, owner);
    console.log(`two writers, 3 s: ${owner.size} appended, ${refused} refused`);
  });

  test('K10 so also while the server that leads the stream is killed', async () => {
    const [log, place] = await makeLog();
    const logs = [log, await openLog(place)];
    let done = false;
    const racing = race(logs, () => done);
    const rounds = process.env.TRELLIS_TEST_LONG === '1' ? 20 : 2;
    for (let round = 0; round < rounds; round++) {
      await sleep(1_000);
      const leader = await leaderOf(place);
      await servers.kill(leader);
      await sleep(6_000);
      servers.start(leader);
      await servers.ready();
      await sleep(2_000);
    }
    done = true;
    const { owner, twice, unknown } = await racing;
    expect(twice).toBe(0);
    await verify(log, owner);
    console.log(`${rounds} kills: ${owner.size} acknowledged, ${unknown} tries unknown, 0 lost`);
  });
});

describe('a connection that loses answers', () => {
  let wires: Relay[];
  beforeAll(async () => {
    wires = await servers.proxies();
  });
  afterAll(() => Promise.all(wires.map((wire) => wire.close())));
  const spoil = (wire: Relay['wire']): void => {
    for (const one of wires) one.wire = wire;
  };

  test('K10 unknown, and then known: neither twice nor lost', async () => {
    const [direct, place] = await makeLog();
    const log = await openLog({
      ...servers.place(
        place.name,
        wires.map(({ port }) => port),
      ),
    });
    let after = 0;
    for (const wire of ['deaf', 'stall', 'cut', 'deaf'] as const) {
      expect((await appendSurely(log, `before ${wire} ${after}`, after)).outcome).toBe('ok');
      after++;
      spoil(wire);
      const lost = `during ${wire} ${after}`;
      expect(await log.append(bytesOf(lost), after, lost)).toBe('unknown');
      if (wire === 'deaf') expect(await direct.last()).toBe(after + 1);
      spoil('pass');
      const { outcome } = await appendSurely(log, lost, after);
      expect(outcome).toBe('ok');
      after++;
    }
    const texts = await readTo(direct, 1, after);
    expect(await direct.last()).toBe(after);
    expect(new Set(texts).size).toBe(8);
  });

  test('an entry of another writer at the position of a lost reply means that this append failed', async () => {
    const [direct, place] = await makeLog();
    const log = await openLog({
      ...servers.place(
        place.name,
        wires.map(({ port }) => port),
      ),
    });
    spoil('cut');
    expect(await log.append(bytesOf('mine'), 0, 'mine')).toBe('unknown');
    expect(await direct.append(bytesOf('theirs'), 0, 'theirs')).toBe('ok');
    spoil('pass');
    expect((await appendSurely(log, 'mine', 0)).outcome).toBe('behind');
  });

  test('a reader continues at its position; the log counts as alive only while it runs', async () => {
    const [direct, place] = await makeLog();
    const log = await openLog({
      ...servers.place(
        place.name,
        wires.map(({ port }) => port),
      ),
    });
    const { seen, beats } = follow(log, 1);
    await sleep(3_000);
    expect(beats()).toBeGreaterThanOrEqual(3);
    for (let i = 0; i < 5; i++) await appendSurely(direct, `r${i}`, i);
    for (const wire of ['cut', 'stall', 'deaf'] as const) {
      spoil(wire);
      await sleep(500);
      const before = beats();
      await sleep(2_500);
      expect(beats()).toBe(before);
      const last = await direct.last();
      await appendSurely(direct, `r${last}`, last);
      spoil('pass');
      const end = performance.now() + 20_000;
      while (seen.length <= last && performance.now() < end) await sleep(50);
      expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: last + 1 }, (_, i) => i + 1));
    }
  });
});

// Side by side: each waits until it is sure.
describe.concurrent('a log that cannot be followed', () => {
  test('K16 no log is created automatically; a deleted log stays deleted', async ({ expect }) => {
    const nothing = expect(driver.open(servers.place('nowhere'))).rejects;
    await nothing.toMatchObject({ code: 'LOG_LOST' });
    expect(await driver.look(servers.place('nowhere'))).toMatchObject({ exists: false });
    const [log, place] = await makeLog();
    await appendSurely(log, 'a', 0);
    const { seen, ended } = follow(log, 1);
    await sleep(1_000);
    await asOperator((manager) => manager.streams.delete(`TRELLIS_${place.name}`));
    expect(await log.append(bytesOf('b'), 1, 'b')).toBe('unknown');
    expect(await ended).toMatchObject({ code: 'LOG_LOST' });
    expect(seen.length).toBe(1);
  });

  test('K16 a recreated log accepts nothing from writers of the former one', async ({ expect }) => {
    const [log, place] = await makeLog();
    await appendSurely(log, 'a', 0);
    const { ended } = follow(log, 2);
    await asOperator((manager) => manager.streams.delete(`TRELLIS_${place.name}`));
    await driver.create(place);
    const anew = await openLog(place);
    await appendSurely(anew, 'z', 0);
    // Its sequence is the one that is expected, and still nothing is written.
    expect(await log.append(bytesOf('b'), 1, 'b')).toBe('unknown');
    expect(await anew.last()).toBe(1);
    expect(await ended).toMatchObject({ code: 'LOG_LOST' });
  });

  test('a log that ends before the position of the node', async ({ expect }) => {
    const [log] = await makeLog();
    await appendSurely(log, 'a', 0);
    expect(await follow(log, 9).ended).toMatchObject({ code: 'LOG_LOST' });
    // Its end is no fault.
    const { ended, seen } = follow(log, 2);
    expect(await Promise.race([ended, sleep(2_000).then(() => 'waits')])).toBe('waits');
    await appendSurely(log, 'b', 1);
    await sleep(500);
    expect(seen.length).toBe(1);
  });

  test('a stream that may forget is not used', async ({ expect }) => {
    const config = { name: 'TRELLIS_hand', subjects: ['hand'], num_replicas: 3 };
    await asOperator((manager) => manager.streams.add(config));
    const opened = driver.open(servers.place('hand'));
    await expect(opened).rejects.toMatchObject({ code: 'LOG_UNSAFE' });
    const [log, other] = await makeLog();
    await appendSurely(log, 'a', 0);
    const removal = asOperator((m) => m.streams.deleteMessage(`TRELLIS_${other.name}`, 1));
    await expect(removal).rejects.toThrow('not permitted');
  });

  test('a message that was removed is a gap', async ({ expect }) => {
    const connection = await connect({ servers: servers.addresses() });
    const manager = await jetstreamManager(connection);
    const config = { name: 'TRELLIS_gap', subjects: ['gap'], num_replicas: 3 };
    await manager.streams.add(config);
    const name = { stream: 'TRELLIS_gap', subject: 'gap' };
    const log = new JetStreamLog(connection, jetstream(connection), manager, name, 1 << 20);
    open.push(log);
    for (let i = 0; i < 5; i++) await appendSurely(log, `g${i}`, i);
    await manager.streams.deleteMessage('TRELLIS_gap', 3);
    const { seen, ended } = follow(log, 1);
    expect(await ended).toMatchObject({ code: 'LOG_LOST' });
    expect(seen.map(({ seq }) => seq)).toEqual([1, 2]);
  });
});
