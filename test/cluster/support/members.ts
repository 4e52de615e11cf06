// Members of clusters without data, over logs in memory: how they are begun and watched.
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ErrorData } from '../../../engine/base/errors.js';
import { EntryDecoder, type Entry } from '../../../engine/cluster/entry/decode-entry.js';
import { type Position, logStart } from '../../../engine/cluster/entry/chain.js';
import type { EntryKeys } from '../../../engine/cluster/entry/entry-keys.js';
import { entryKind } from '../../../engine/cluster/entry/kind.js';
import { encodeEntry } from '../../../engine/cluster/entry/encode-entry.js';
import type { Appended, ReplicatedLog } from '../../../engine/cluster/log/replicated-log.js';
import { ElectionState } from '../../../engine/cluster/role/leader-election.js';
import { MemoryLog } from './memory-log.js';

export const leaseMs = 60;

interface Watched {
  member: ElectionState;
  entries: Entry[];
  faults: ErrorData[];
  /** Who was said to lead. */
  leaders: string[];
  leads: number;
  reasons: string[];
  /** Where it was when it said that it has all. */
  caughtUp: number[];
}

const members: ElectionState[] = [];

export function closeMembers(): void {
  for (const member of members.splice(0)) member.close();
}

/** A log with a first entry, and where data that hold it are. */
export function founded(keys?: EntryKeys): { log: MemoryLog; start: Position } {
  const log = new MemoryLog();
  const id = randomBytes(16);
  const source = { kind: entryKind.genesis, epoch: 0, time: 0, body: randomBytes(20), id };
  const signer = keys && { keys, id: keys.newest };
  const { parts, position } = encodeEntry(logStart, 0, source, signer);
  for (const { id, bytes } of parts) log.messages.push({ id, bytes });
  return { log, start: position };
}

export function join(
  log: MemoryLog,
  start: Position,
  node: string,
  more: MemberMore & { answer?: (said: Appended) => Appended | Promise<Appended> } = {},
): Watched {
  return watch(log.view(more.answer), start, node, more);
}

interface MemberMore {
  mayLead?: boolean;
  leaseMs?: number;
  keys?: EntryKeys | undefined;
}

/** A member over any log. */
export function watch(
  log: ReplicatedLog,
  start: Position,
  node: string,
  more: MemberMore = {},
): Watched {
  const lists = { entries: [], faults: [], leaders: [], reasons: [], caughtUp: [] };
  const watched = { ...lists, leads: 0 } as Omit<Watched, 'member'>;
  const { mayLead = true } = more;
  const options = {
    self: { node, address: `${node}:1` },
    mayLead,
    leaseMs: more.leaseMs ?? leaseMs,
    appendTimeoutMs: 150,
    keys: more.keys,
  };
  const member: ElectionState = new ElectionState(log, { ...start, leader: undefined }, options, {
    onEntry: (entry) => {
      watched.entries.push(entry);
      setImmediate(() => member.applied(entry.position.seq));
    },
    onLead: () => watched.leads++,
    onFollow: () => setImmediate(() => member.applied(member.head.seq)),
    onChange: ({ reason, leader }) => {
      watched.reasons.push(reason);
      if (leader !== undefined) watched.leaders.push(leader.node);
    },
    onProgress: (_, isCaughtUp) => {
      if (isCaughtUp) watched.caughtUp.push(member.head.seq);
    },
    onError: (fault) => watched.faults.push(fault),
    log: () => {},
  });
  members.push(member);
  return Object.assign(watched, { member });
}

export async function until(isSo: () => boolean, ms = 40_000): Promise<void> {
  for (const end = performance.now() + ms; !isSo(); await pause(2))
    if (performance.now() > end) throw new RangeError('waited in vain');
}

/** All entries of a log, proven. */
export function read(log: MemoryLog, keys?: EntryKeys): Entry[] {
  const assembler = new EntryDecoder(logStart, keys);
  return log.messages.flatMap(({ bytes }, i) => assembler.push({ seq: i + 1, bytes }) ?? []);
}
