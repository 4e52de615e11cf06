// Roles alone, without data: who leads when, and what no member ever does to a log that is not its own.
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { Entry } from '../../engine/cluster/entry/decode-entry.js';
import type { Position } from '../../engine/cluster/entry/chain.js';
import { entryKind } from '../../engine/cluster/entry/kind.js';
import { LeaseTimer } from '../../engine/cluster/role/lease-timer.js';
import { closeMembers, founded, join, leaseMs, read, until } from './support/members.js';
import type { MemoryLog } from './support/memory-log.js';
import { expectFigure } from '../support/run/figure.js';

afterEach(closeMembers);

describe('members', () => {
  test('K14 K15 one of several leads, says so before anything else, and breaks its silence', async () => {
    const { log, start } = founded();
    const all = ['a', 'b', 'c'].map((name) => join(log, start, name));
    await until(() => all.some(({ member }) => member.role === 'leader'));
    await pause(6 * leaseMs);
    const leaders = all.filter(({ member }) => member.role === 'leader');
    expect(leaders).toHaveLength(1);
    const kinds = read(log).map(({ kind }) => kind);
    expect(kinds.slice(0, 2)).toEqual([entryKind.genesis, entryKind.epoch]);
    expect(kinds.filter((kind) => kind === entryKind.beat).length).toBeGreaterThan(3);
  });

  test('K12 a leader that appends after another epoch is deposed; the log has none of its entries', async () => {
    const { log, start } = founded();
    let hold: Promise<void> | undefined;
    const a = join(log, start, 'a', { answer: (said) => hold?.then(() => said) ?? said });
    await until(() => a.member.role === 'leader');
    // It stands still, as a process that was stopped: its beats reach nobody.
    let release = (): void => {};
    hold = new Promise((resolve) => (release = resolve));
    const b = join(log, start, 'b');
    await until(() => b.member.role === 'leader');
    const at = await b.member.append(entryKind.changes, Uint8Array.of(1));
    expect(at).toMatchObject({ epoch: 2 });
    hold = undefined;
    release();
    const late = await a.member.append(entryKind.changes, Uint8Array.of(9), { epoch: 1 });
    expect(late).toBe('behind');
    await until(() => a.member.role === 'follower' && a.member.head.seq === b.member.head.seq);
    expect(read(log).filter(({ kind }) => kind === entryKind.changes)).toHaveLength(1);
  });

  test('K11 after an unknown outcome it follows to the end, and leads again', async () => {
    const { log, start } = founded();
    let isLost = false;
    const a = join(log, start, 'a', {
      answer: (said) => (isLost ? pause(100).then(() => 'unknown') : said),
    });
    await until(() => a.member.role === 'leader');
    isLost = true;
    const body = Uint8Array.of(7);
    expect(await a.member.append(entryKind.changes, body)).toBe('unknown');
    isLost = false;
    await until(() => a.member.role === 'leader' && a.leads > 1);
    const changes = (list: Entry[]) => list.filter(({ kind }) => kind === entryKind.changes);
    expect(changes(read(log))).toHaveLength(1);
    // What it did not commit as the leader came to it as to a follower.
    expect(changes(a.entries).map((entry) => [...entry.body])).toEqual([[7]]);
    expect(a.reasons).toContain('unknown_append');
  });

  test('K44 a hand-over names the next leader, which leads immediately', async () => {
    const { log, start } = founded();
    const a = join(log, start, 'a');
    await until(() => a.member.role === 'leader');
    const b = join(log, start, 'b');
    await until(() => b.member.role === 'follower' && b.member.head.seq === a.member.head.seq);
    const started = performance.now();
    await a.member.handOver({ node: 'b', address: 'b:1' });
    await until(() => b.member.role === 'leader');
    expectFigure(performance.now() - started, leaseMs * 5, 'ms to hand over');
    await expect(a.member.handOver(undefined)).rejects.toMatchObject({ code: 'NOT_LEADER' });
    await expect(a.member.beat()).rejects.toMatchObject({ code: 'NOT_LEADER' });
  });

  test('K23 a node reports that it has caught up only when it has', async () => {
    const { log, start } = founded();
    const first = join(log, start, 'a');
    await until(() => first.member.role === 'leader');
    for (let i = 0; i < 200; i++) await first.member.append(entryKind.changes, Uint8Array.of(i));
    const late = join(log, start, 'b', { mayLead: false });
    const { length } = log.messages;
    await until(() => late.member.head.seq >= length);
    await until(() => late.caughtUp.length > 0);
    expect(late.caughtUp[0]).toBeGreaterThanOrEqual(length);
  });

  test('K15 the lease timer runs only while the log sends messages, and not while this process is suspended', () => {
    const watch = new LeaseTimer(100, 10, 0);
    watch.tick(1000);
    expect(watch.silence).toBe(0);
    watch.contact(1000);
    watch.tick(1010);
    expect(watch.silence).toBe(10);
    watch.tick(1090);
    expect(watch.silence).toBe(30);
    watch.tick(1200);
    expect(watch.silence).toBe(30);
    watch.reset();
    expect(watch.silence).toBe(0);
  });

  test('K15 no member tries to lead while the log is silent; a reader never tries', async () => {
    const { log, start } = founded();
    const reader = join(log, start, 'r', { mayLead: false });
    await until(() => reader.member.role === 'follower');
    await pause(4 * leaseMs);
    expect(log.messages).toHaveLength(1);
    log.isHeard = false;
    const a = join(log, start, 'a');
    await pause(4 * leaseMs);
    expect([a.member.role, log.messages.length]).toEqual(['joining', 1]);
    log.isHeard = true;
    await until(() => a.member.role === 'leader');
  });
});

/** What is done to a log of some entries; gives where the data are that would follow it. */
const wrongs: Record<string, (log: MemoryLog, at: Position) => Position> = {
  'of another database': (log, at) => {
    log.messages[0] = founded().log.messages[0]!;
    return at;
  },
  'with a changed entry': (log, at) => {
    log.messages[1]!.bytes[70]! ^= 4;
    return at;
  },
  'with an entry twice': (log, at) => {
    log.messages.splice(1, 0, log.messages[1]!);
    return at;
  },
  'without an entry': (log, at) => {
    log.messages.splice(1, 1);
    return at;
  },
  'that was cut below': (log, at) => {
    log.trimmed = 2;
    return at;
  },
  'that forked': (_, at) => ({ ...at, chain: at.chain ^ 1n }),
};

describe('a log that is not the one of the data', () => {
  test.each(Object.keys(wrongs))(
    'CT6 CT10 K16 %s: is not followed, nor appended to',
    async (name) => {
      const { log, start } = founded();
      const a = join(log, start, 'a');
      await until(() => a.member.role === 'leader');
      for (let i = 0; i < 3; i++) await a.member.append(entryKind.changes, randomBytes(30));
      a.member.close();
      await pause(leaseMs);
      const position = wrongs[name]!(log, start);
      const size = log.messages.length;
      const b = join(log, position, 'b');
      await until(() => b.member.role === 'lost');
      const code = name === 'that was cut below' ? 'LOG_TRUNCATED' : 'LOG_LOST';
      expect(b.faults).toEqual([expect.objectContaining({ code })]);
      await pause(2 * leaseMs);
      expect(log.messages).toHaveLength(size);
      expect(b.leads).toBe(0);
    },
  );
});
