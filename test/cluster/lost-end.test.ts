// K16: a log that lost its newest entries, and got others in their place or not: fewer, as many, more. Whoever has none
// of what was lost goes on; whoever has some of it says so and never appends, however well the numbers fit.
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { Position } from '../../engine/cluster/entry/chain.js';
import { entryKind } from '../../engine/cluster/entry/kind.js';
import { sealEntry } from '../../engine/cluster/entry/seal.js';
import { packLeader } from '../../engine/cluster/link/leader.js';
import { closeMembers, founded, join, leaseMs, read, until } from './kit/members.js';
import type { MemoryLog } from './kit/memory-log.js';

afterEach(closeMembers);

const counts = [0, 1, 2, 5];
/** Entries of the log before it lost some. */
const before = 8;

/** Appends entries as somebody who leads from the first of them on; where the log is behind each. */
function lead(log: MemoryLog, from: Position, count: number): Position[] {
  const places: Position[] = [];
  const body = packLeader({ node: 'z', address: 'z:1' });
  for (let i = 0, at = from; i < count; i++, at = places.at(-1)!) {
    const isFirst = i === 0;
    const { parts, position } = sealEntry(at, at.seq, {
      kind: isFirst ? entryKind.epoch : entryKind.beat,
      epoch: isFirst ? at.epoch + 1 : at.epoch,
      id: randomBytes(16),
      time: 0,
      body,
    });
    for (const { id, bytes } of parts) log.messages.push({ id, bytes });
    places.push(position);
  }
  return places;
}

interface Manner {
  /** The node has followed so far, and is cut off while all this happens; else it begins afterwards. */
  runs?: boolean;
  mayLead: boolean;
  /** All but the newest message has been forgotten. */
  trims?: boolean;
}

const manners: Record<string, Manner> = {
  begins: { mayLead: true },
  'begins, and never leads': { mayLead: false },
  'begins, on a log that was trimmed': { mayLead: true, trims: true },
  runs: { runs: true, mayLead: true },
  'runs, and never leads': { runs: true, mayLead: false },
};

interface Case extends Manner {
  lost: number;
  fresh: number;
  /** Entries of the log before that the node has. */
  at: number;
}

/** What has to become of the node. */
function fateOf({ lost, fresh, at, trims }: Case): 'follows' | 'LOG_LOST' | 'LOG_TRUNCATED' {
  const left = before - lost;
  if (trims === true && at + 1 < left + fresh) return 'LOG_TRUNCATED';
  return at <= left ? 'follows' : 'LOG_LOST';
}

async function fate(one: Case): Promise<string> {
  const { lost, fresh, at, runs, mayLead, trims } = one;
  const { log, start } = founded();
  const all = [start, ...lead(log, start, before - 1)];
  const left = before - lost;
  const place = all[at - 1]!;
  const later = log.messages.splice(at);
  let node = runs ? join(log, place, 'a', { mayLead }) : undefined;
  if (node !== undefined) await until(() => node!.member.role === 'follower');
  log.isHeard = false;
  log.messages.push(...later);
  log.messages.splice(left);
  let end = lead(log, all[left - 1]!, fresh).at(-1) ?? all[left - 1]!;
  if (trims) log.trimmed = log.messages.length - 1;
  log.isHeard = true;
  node ??= join(log, place, 'a', { mayLead });
  const { member, entries, faults } = node;
  const expected = fateOf(one);
  if (expected !== 'follows' && runs && end.seq === at && !mayLead) {
    // Nothing tells it, until somebody goes on.
    await pause(3 * leaseMs);
    end = lead(log, end, 1).at(-1)!;
  }
  const size = log.messages.length;
  await until(() => {
    const isThere = member.head.seq >= end.seq && member.role !== 'joining';
    return faults.length > 0 || (isThere && (!mayLead || member.role === 'leader'));
  });
  await pause(2 * leaseMs);
  // What it was told is of one log, and what it appended continues that.
  if (expected === 'follows') {
    if (!trims) expect(read(log).length).toBe(log.messages.length);
    const followed = entries.map(({ position }) => position.seq).filter((seq) => seq <= end.seq);
    expect(followed).toEqual(Array.from({ length: end.seq - at }, (_, i) => at + 1 + i));
  } else expect([log.messages.length, node.leads]).toEqual([size, 0]);
  return faults[0]?.code ?? 'follows';
}

test.each(counts)('a log that lost %i entries', async (lost) => {
  const ats = [...new Set([before - lost - 1, before - lost, before - lost + 1, before])];
  const cases = Object.keys(manners).flatMap((manner) =>
    counts.flatMap((fresh) =>
      ats.filter((at) => at <= before).map((at) => ({ manner, lost, fresh, at })),
    ),
  );
  const told = cases.map(async (one) => ({
    ...one,
    fate: await fate({ ...one, ...manners[one.manner]! }),
  }));
  const wanted = cases.map((one) => ({
    ...one,
    fate: fateOf({ ...one, ...manners[one.manner]! }),
  }));
  expect(await Promise.all(told)).toEqual(wanted);
});
