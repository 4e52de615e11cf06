// The grid of K16. A log has lost its newest entries, and has fewer, as many, or more other entries instead.
// A node has none, some or all of the lost ones. All log drivers use the same grid.
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { EntryDecoder } from '../../../engine/cluster/entry/decode-entry.js';
import { logStart, type Position } from '../../../engine/cluster/entry/chain.js';
import { entryKind } from '../../../engine/cluster/entry/kind.js';
import { encodeEntry } from '../../../engine/cluster/entry/encode-entry.js';
import { withEpoch } from '../../../engine/cluster/ipc/epochs.js';
import { packLeader } from '../../../engine/cluster/ipc/leader.js';
import { ClusterState } from '../../../engine/cluster/ipc/shared-state.js';
import type { ReplicatedLog } from '../../../engine/cluster/log/replicated-log.js';
import { commonEpoch } from '../../../engine/cluster/role/common-epoch.js';
import { until, watch } from './members.js';

/** An entry of one message. */
export interface Written {
  id: string;
  bytes: Uint8Array;
  position: Position;
}

/** A log whose end a test can remove. */
export interface LosingLog {
  /** Entries that the node has. */
  open(): Promise<ReplicatedLog>;
  /** Whether the node reaches it. */
  reach(isReached: boolean): void;
  /** An entry of another node, after all that this node has. */
  add(entries: readonly Written[]): Promise<void>;
  /** What it has now will be left. */
  mark(): Promise<void>;
  lose(): Promise<void>;
  /** Forgets all but its newest message. */
  trim(): Promise<void>;
  /** All that it has, where nothing was forgotten. */
  messages(): Promise<Uint8Array[]>;
  count(): Promise<number>;
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

interface Case {
  manner: string;
  lost: number;
  fresh: number;
  /** Entries of the log before that the node has. */
  at: number;
}

/** Entries of the log before it lost some. */
const before = 8;

/**
 * Positions of a node for these numbers of lost and new entries: after, at and inside the remaining log,
 * and beyond it.
 */
export function casesOf(lost: readonly number[], fresh: readonly number[]): Case[] {
  return lost.flatMap((lost) => {
    const ats = [before - lost - 1, before - lost, before - lost + 1, before];
    const possible = [...new Set(ats)].filter((at) => at <= before);
    return fresh.flatMap((fresh) =>
      possible.flatMap((at) => Object.keys(manners).map((manner) => ({ manner, lost, fresh, at }))),
    );
  });
}

/**
 * The cases that differ in what a driver does: one lost entry, and nodes that just have it or just lack
 * it.
 */
export const fewCases = casesOf([1], [0, 1, 2]).filter(
  ({ at, manner }) => at >= before - 1 && (manner === 'begins' || manners[manner]!.runs),
);

/** Appends them by the driver, until it says so. */
export async function appendAll(
  log: Pick<ReplicatedLog, 'append'>,
  entries: readonly Written[],
): Promise<void> {
  for (const { bytes, id, position } of entries)
    while ((await log.append(bytes, position.seq - 1, id)) !== 'ok') await pause(20);
}

/**
 * The original log has three epochs, so that the next leader can use an epoch number of a lost one.
 */
function begun(): Written[] {
  const entries = lead(logStart, 3);
  for (const count of [3, 2]) entries.push(...lead(entries.at(-1)!.position, count));
  return entries;
}

/**
 * Entries as a leader appends them that leads from the first of them on, including the first entry of a
 * log.
 */
function lead(from: Position, count: number): Written[] {
  const entries: Written[] = [];
  const body = packLeader({ node: 'z', address: 'z:1' });
  for (let i = 0, at = from; i < count; i++, at = entries.at(-1)!.position) {
    const names = i === 0 && at.seq > 0;
    const kind = at.seq === 0 ? entryKind.genesis : names ? entryKind.epoch : entryKind.beat;
    const epoch = names ? at.epoch + 1 : at.epoch;
    const source = { kind, epoch, id: randomBytes(16), time: 0, body };
    const { parts, position } = encodeEntry(at, at.seq, source);
    entries.push({ ...parts[0]!, position });
  }
  return entries;
}

/** What has to become of the node. */
export function fateOf({
  lost,
  fresh,
  at,
  manner,
}: Case): 'follows' | 'LOG_LOST' | 'LOG_TRUNCATED' {
  const left = before - lost;
  const { trims } = manners[manner]!;
  if (trims && at + 1 < left + fresh) return 'LOG_TRUNCATED';
  return at <= left ? 'follows' : 'LOG_LOST';
}

/** The epochs that data remember which hold these entries of a log, all from the first on. */
const epochsOf = (positions: readonly Position[]): readonly Position[] =>
  positions.reduce<readonly Position[]>(withEpoch, []);

/**
 * What a node with the entries `held` says of the tokens of both logs is what it has. Where its log is another one, it
 * says no more than what both have in common: up to the newest of its epochs whose first entry is still there. Who
 * follows cannot tell a token of what is lost, where it has another entry of that number in an epoch of that number.
 */
async function expectTokens(
  held: readonly Position[],
  tokens: readonly Position[],
  now: { log: ReplicatedLog; kept: readonly Position[] } | undefined,
): Promise<void> {
  const words = new ClusterState();
  const epochs = epochsOf(held);
  words.publishPosition({ ...held.at(-1)!, epochs });
  const isIn = (all: readonly Position[], one: Position): boolean =>
    all.some(({ chain }) => chain === one.chain);
  let inCommon = Infinity;
  if (now !== undefined) {
    words.publishEpochs(await commonEpoch(now.log, epochs));
    inCommon = epochs.findLast((start) => isIn(now.kept, start))?.epoch ?? -1;
  }
  const said = tokens.map((token) => ({ ...token, sees: words.hasApplied(token) }));
  const isLike = ({ epoch, seq }: Position): boolean =>
    now === undefined && held.some((one) => one.seq === seq && one.epoch === epoch);
  const isSeen = (token: Position): boolean =>
    (isIn(held, token) && token.epoch <= inCommon) || isLike(token);
  expect(said).toEqual(tokens.map((token) => ({ ...token, sees: isSeen(token) })));
}

const positionsOf = (entries: readonly { position: Position }[]): Position[] =>
  entries.map(({ position }) => position);

async function fate(log: LosingLog, one: Case, leaseMs: number): Promise<string> {
  const { lost, fresh, at, manner } = one;
  const { mayLead, runs, trims } = manners[manner]!;
  const left = before - lost;
  const old = begun();
  const join = async (from: number) =>
    watch(await log.open(), old[from - 1]!.position, 'a', { mayLead, leaseMs });
  let node: Awaited<ReturnType<typeof join>> | undefined;
  const follow = async (): Promise<void> => {
    if (!runs) return;
    // Its last entry comes to it from the log: it is there, and reads on.
    node = await join(at - 1);
    const { member } = node;
    await until(() => member.role === 'follower' && member.head.seq === at);
    log.reach(false);
  };
  await log.add(old.slice(0, Math.min(at, left)));
  if (at <= left) await follow();
  await log.add(old.slice(at, left));
  await log.mark();
  await log.add(old.slice(left, at));
  if (at > left) await follow();
  await log.add(old.slice(Math.max(at, left)));
  await log.lose();
  const anew = lead(old[left - 1]!.position, fresh);
  await log.add(anew);
  let end = anew.at(-1)?.position ?? old[left - 1]!.position;
  if (trims) await log.trim();
  log.reach(true);
  node ??= await join(at);
  const { member, entries, faults } = node;
  const expected = fateOf(one);
  if (expected !== 'follows' && runs && end.seq === at && !mayLead) {
    // The loss is not visible until a leader appends.
    await pause(3 * leaseMs);
    const [next] = lead(end, 1);
    await log.add([next!]);
    anew.push(next!);
    end = next!.position;
  }
  const tokens = positionsOf([...old, ...anew]);
  const size = await log.count();
  await until(() => {
    const isThere = member.head.seq >= end.seq && member.role !== 'joining';
    const goesOn = expected === 'follows' && isThere && (!mayLead || member.role === 'leader');
    return faults.length > 0 || goesOn;
  }, 60_000);
  await pause(2 * leaseMs);
  // The node received entries of one log, and its own entries continue that log.
  if (expected === 'follows') {
    const assembler = new EntryDecoder(logStart);
    if (!trims)
      for (const [i, bytes] of (await log.messages()).entries())
        assembler.push({ seq: i + 1, bytes });
    const followed = entries
      .map(({ position }) => position.seq)
      .filter((seq) => seq > at && seq <= end.seq);
    expect(followed).toEqual(Array.from({ length: end.seq - at }, (_, i) => at + 1 + i));
    const more = positionsOf(entries).filter(({ seq }) => seq > at && seq <= end.seq);
    await expectTokens([...positionsOf(old.slice(0, at)), ...more], tokens, undefined);
  } else {
    expect([await log.count(), node.leads]).toEqual([size, 0]);
    const kept = positionsOf([...old.slice(0, left), ...anew]).slice(trims ? -1 : 0);
    await expectTokens(positionsOf(old.slice(0, at)), tokens, { log: await log.open(), kept });
  }
  return faults[0]?.code ?? 'follows';
}

/** Checks that each node gets its expected role, on a separate log. */
export async function expectFates(
  cases: readonly Case[],
  make: (at: number) => Promise<LosingLog>,
  leaseMs: number,
): Promise<void> {
  const told = cases.map(async (one, i) => ({
    ...one,
    fate: await fate(await make(i), one, leaseMs),
  }));
  expect(await Promise.all(told)).toEqual(cases.map((one) => ({ ...one, fate: fateOf(one) })));
}
