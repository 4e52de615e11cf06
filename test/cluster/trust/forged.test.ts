// Who writes to the log of a cluster without its secret stops it, and is never believed: nothing of theirs is applied,
// nobody takes them for the leader, and no node writes behind them. Keys are replaced while all goes on.
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { EntryDecoder } from '../../../engine/cluster/entry/decode-entry.js';
import { logStart, type Position } from '../../../engine/cluster/entry/chain.js';
import { EntryKeys, keyIdOf } from '../../../engine/cluster/entry/entry-keys.js';
import { readHead } from '../../../engine/cluster/entry/head.js';
import { entryKind } from '../../../engine/cluster/entry/kind.js';
import { encodeEntry } from '../../../engine/cluster/entry/encode-entry.js';
import { LogRetention } from '../../../engine/cluster/role/log-retention.js';
import { LogSigning } from '../../../engine/cluster/role/log-signing.js';
import { closeMembers, founded, join, leaseMs, read, until } from '../support/members.js';
import {
  forgeries,
  foundIn,
  honest,
  keys,
  logName,
  plainEpoch,
  secrets,
} from '../support/forgeries.js';
import type { MemoryLog } from '../support/memory-log.js';

afterEach(closeMembers);

const put = (log: MemoryLog, bytes: Uint8Array): void =>
  void log.messages.push({ id: randomBytes(8).toString('hex'), bytes });

const bytesOf = ({ messages }: MemoryLog): Uint8Array[] => messages.map(({ bytes }) => bytes);

const groupsOf = (names: readonly string[]): string[][] =>
  Array.from({ length: 6 }, (_, i) => names.filter((_, k) => k % 6 === i));

/** A leader with some entries, and one that follows it. */
async function led(signed: EntryKeys | undefined) {
  const { log, start } = founded(signed);
  const leader = join(log, start, 'a', { keys: signed });
  await until(() => leader.member.role === 'leader');
  const follower = join(log, start, 'b', { mayLead: false, keys: signed });
  for (let i = 0; i < 3; i++) await leader.member.append(entryKind.changes, randomBytes(30));
  const isThere = (): boolean => follower.member.head.seq === leader.member.head.seq;
  await until(isThere);
  return { log, start, leader, follower };
}

describe('an entry that no node has written', () => {
  // Each mostly waits: they wait beside each other.
  test.each(groupsOf(Object.keys(forgeries)))('no node applies it: %s', async (...names) => {
    await Promise.all(names.map(refused));
  });

  async function refused(name: string): Promise<void> {
    const { log, start, leader, follower } = await led(keys);
    // No beat comes between.
    leader.member.close();
    const found = foundIn(bytesOf(log));
    const counts = [leader.entries.length, follower.entries.length];
    for (const bytes of forgeries[name]!(found)) put(log, bytes);
    const { length } = log.messages;
    await until(() => follower.member.role === 'lost');
    expect(['LOG_UNTRUSTED', 'LOG_LOST'], name).toContain(follower.faults[0]!.code);
    // Nor by one that begins, nor by who led.
    const late = join(log, start, 'c', { keys });
    await until(() => late.member.role === 'lost');
    expect(await leader.member.append(entryKind.changes, Uint8Array.of(1))).toBe('behind');
    expect([leader.entries.length, follower.entries.length], name).toEqual(counts);
    expect(late.entries.map(({ position }) => position.seq)).toEqual(
      follower.entries.map(({ position }) => position.seq),
    );
    await pause(2 * leaseMs);
    expect(log.messages, name).toHaveLength(length);
    for (const { leaders } of [leader, follower, late])
      expect(leaders.filter((node) => node !== 'a')).toEqual([]);
  }

  test('a leader detects it when its append is refused, stops leading and says why', async () => {
    const { log, leader, follower } = await led(keys);
    put(log, plainEpoch(leader.member.head));
    expect(await leader.member.append(entryKind.changes, Uint8Array.of(1))).toBe('behind');
    for (const { member, faults } of [leader, follower]) {
      await until(() => member.role === 'lost');
      expect(faults).toMatchObject([{ code: 'LOG_UNTRUSTED' }]);
    }
    expect([...leader.leaders, ...follower.leaders]).not.toContain('thief');
  });

  test('canary: without a secret the same entry makes its writer the leader of all', async () => {
    const { log, leader, follower } = await led(undefined);
    put(log, plainEpoch(leader.member.head));
    await until(() => follower.leaders.at(-1) === 'thief');
    expect(await leader.member.append(entryKind.changes, Uint8Array.of(1))).toBe('behind');
    await until(() => leader.leaders.at(-1) === 'thief');
  });

  test('canary: what a node has signed for that position is accepted', async () => {
    const { log, follower, leader } = await led(keys);
    leader.member.close();
    put(log, honest(foundIn(bytesOf(log))));
    await until(() => follower.member.head.seq === log.messages.length);
    expect(follower.faults).toEqual([]);
  });

  test('any byte of any message changed, with matching checksums: always an error', async () => {
    const { log } = await led(keys);
    closeMembers();
    const all = bytesOf(log);
    for (const [i, message] of all.entries())
      for (let at = 0; at < message.length; at++) {
        const other = message.slice();
        other[at]! ^= 1 + (at % 255);
        const assembler = new EntryDecoder(logStart, keys);
        const follow = (): void => {
          for (const [k, bytes] of all.with(i, other).entries())
            assembler.push({ seq: k + 1, bytes });
        };
        expect(follow, `${i} at ${at}`).toThrow(
          expect.objectContaining({
            code: expect.stringMatching(/^LOG_(UNTRUSTED|LOST)|FORMAT_TOO_NEW$/),
          }),
        );
        expect(assembler.position.seq).toBeLessThanOrEqual(i);
      }
  });

  test('a secret that the file of a node does not hold: it takes no part, and names the key', async () => {
    const { log, leader, start } = await led(keys);
    const wrong = new EntryKeys(['a secret of another cluster'], logName);
    const cases: [Position, EntryKeys | undefined, RegExp][] = [
      [start, undefined, /has no|does not hold/],
      [start, wrong, /does not hold/],
      [{ ...start, key: keys.newest }, undefined, /does not hold/],
      [{ epoch: start.epoch, seq: start.seq, chain: start.chain }, undefined, /has no/],
      [{ epoch: start.epoch, seq: start.seq, chain: start.chain }, wrong, /does not hold/],
    ];
    const { length } = log.messages;
    for (const [at, mine, why] of cases) {
      const one = join(log, at, 'x', { keys: mine });
      await until(() => one.member.role === 'lost');
      expect(one.faults).toMatchObject([{ code: 'LOG_UNTRUSTED' }]);
      expect(String((one.faults[0]!.args as { what: string }).what)).toMatch(why);
      expect([one.leads, one.entries.length]).toEqual([0, 0]);
    }
    expect(log.messages.length).toBeGreaterThanOrEqual(length);
    expect(leader.member.role).toBe('leader');
  });

  test('golden bytes: what this version signs, every later one can check', () => {
    const id = Uint8Array.from({ length: 16 }, (_, i) => i);
    const body = Buffer.from('golden');
    const source = { kind: entryKind.genesis, epoch: 3, time: 1_700_000_000_000, id, body };
    const { parts } = encodeEntry(logStart, 0, source, { keys, id: keys.newest });
    expect(
      Buffer.from(parts[0]!.bytes)
        .toString('hex')
        .match(/.{1,64}/g),
    ).toMatchInlineSnapshot(`
      [
        "544c453207000000010000000300000000000000000000000001020304050607",
        "08090a0b0c0d0e0f89f2afac4c035ded00008056febc78422786ff33e9e8b163",
        "4d6e982500000000cd52067a936b94f904c003dfd29cd1a36b142a9b81173c7d",
        "196608ebe75129ed676f6c64656e",
      ]
    `);
  });

  test('secrets that are short or stand there twice are none', () => {
    for (const wrong of [
      ['short'],
      ['long enough, I think'.repeat(2), 'short'],
      [secrets[0]!, secrets[0]!],
    ])
      expect(() => new EntryKeys(wrong, logName)).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID' }),
      );
  });
});

describe('a log that was written by versions before', () => {
  test('an unsigned log is read, and signed from one entry on: every later entry is signed', async () => {
    const { log, start } = founded();
    const leader = join(log, start, 'a', { keys });
    await until(() => leader.member.role === 'leader');
    const follower = join(log, start, 'b', { mayLead: false, keys });
    const old = join(log, start, 'c', { mayLead: false });
    const add = (): Promise<unknown> => leader.member.append(entryKind.changes, randomBytes(9));
    await add();
    expect(leader.member.head.key).toBeUndefined();
    const { seq } = await leader.member.signBy(keys.newest);
    await add();
    await until(() => follower.member.head.seq === leader.member.head.seq);
    expect(read(log, keys).map(({ position }) => position.key)).toEqual(
      bytesOf(log).map((_, i) => (i + 1 < seq ? undefined : keys.newest)),
    );
    // One that knows no secret stops before the first that it cannot judge.
    await until(() => old.member.role === 'lost');
    expect(old.faults).toMatchObject([{ code: 'LOG_UNTRUSTED' }]);
    expect(old.member.head.seq).toBe(seq - 1);
    leader.member.close();
    put(log, plainEpoch(follower.member.head));
    await until(() => follower.member.role === 'lost');
    expect(follower.faults).toMatchObject([{ code: 'LOG_UNTRUSTED' }]);
  });

  test('the next leader signs too, whatever started its lead', async () => {
    const { log, start } = founded();
    const a = join(log, start, 'a', { keys });
    await until(() => a.member.role === 'leader');
    const { seq } = await a.member.signBy(keys.newest);
    const b = join(log, start, 'b', { keys });
    await until(() => b.member.head.seq >= seq);
    await a.member.handOver({ node: 'b', address: 'b:1' });
    await until(() => b.member.role === 'leader');
    a.member.close();
    b.member.close();
    const c = join(log, b.member.head, 'c', { keys });
    await until(() => c.member.role === 'leader');
    for (const { position } of read(log, keys).filter((one) => one.position.seq >= seq))
      expect(position.key).toBe(keys.newest);
  });
});

describe('by which key a leader signs', () => {
  const ids = secrets.map(keyIdOf) as [number, number];
  const [older, newer] = ids;
  const lookMs = 250;
  const due = 2 * lookMs + 1_000;

  /** What becomes of it, with these nodes heard of, so long after it began to lead. */
  async function signed(
    since: number | undefined,
    claims: Record<string, number[] | undefined>,
    at = due,
  ): Promise<number | undefined> {
    const keeper = new LogRetention({ keepMs: 4_000, keepBytes: 1 });
    const signing = new LogSigning(keys, keeper);
    signing.begin(0);
    for (const [node, known] of Object.entries(claims)) keeper.claim(node, 1, at - 1, known);
    let by: number | undefined;
    const head = { epoch: 1, seq: 1, chain: 1n, ...(since !== undefined && { key: since }) };
    const signBy = async (key: number): Promise<Position> => {
      by = key;
      return head;
    };
    await signing.check({ head, signBy }, at, () => {});
    return by;
  }

  const both = [older, newer];
  const cases: [string, number | undefined, Record<string, number[] | undefined>, number?][] = [
    ['nobody but itself', newer, {}],
    ['all know the newest', newer, { b: both, c: both }],
    ['one knows the older alone', older, { b: both, c: [older] }],
    ['one knows another alone', undefined, { b: both, c: [77] }],
    ['one is of a version that says nothing', undefined, { b: both, c: undefined }],
    ['one says nothing, and has the log kept for it', undefined, { c: [] }],
  ];
  test.each(cases)('%s', async (_, wanted, claims) => {
    expect(await signed(undefined, claims)).toBe(wanted);
    // It never goes back, and does nothing where nothing is newer.
    expect(await signed(older, claims)).toBe(wanted === newer ? newer : undefined);
    expect(await signed(newer, claims)).toBeUndefined();
    // Who has just begun to lead has heard nobody yet.
    expect(await signed(undefined, claims, due - 1)).toBeUndefined();
  });

  test('a message names its secret, and a replaced secret signs no more', () => {
    const genesis = { kind: entryKind.genesis, epoch: 0, time: 0, body: new Uint8Array(9) };
    const first = encodeEntry(
      logStart,
      0,
      { ...genesis, id: randomBytes(16) },
      { keys, id: older },
    );
    const beat = { kind: entryKind.beat, epoch: 0, time: 0, body: new Uint8Array(0) };
    const seal = (at: Position, id: number) =>
      encodeEntry(at, at.seq, { ...beat, id: randomBytes(16) }, { keys, id });
    const second = seal(first.position, newer);
    const third = seal(second.position, older);
    const assembler = new EntryDecoder(logStart, keys);
    const push = (seq: number, { parts }: typeof first): void =>
      void assembler.push({ seq, bytes: parts[0]!.bytes });
    push(1, first);
    push(2, second);
    expect(assembler.position.key).toBe(newer);
    expect(readHead(first.parts[0]!.bytes, 1).key).toBe(older);
    expect(() => push(3, third)).toThrow(/has replaced/);
  });
});
