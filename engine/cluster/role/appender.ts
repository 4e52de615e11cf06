// Appends the parts of one entry, one behind the other, and repeats what the log did not answer. Invariant:
// what is said of an entry is final: it is in the log as a whole, or it never will be, or nobody knows.
import { setTimeout as pause } from 'node:timers/promises';
import { errorDataOf, fail } from '../../base/errors.js';
import { readHead } from '../entry/head.js';
import type { SealedEntry } from '../entry/seal.js';
import type { ClusterTally } from '../link/tally.js';
import type { ReplicatedLog } from '../log/replicated-log.js';

/** full: nothing of it is there, for want of room. */
export type Outcome = 'ok' | 'behind' | 'unknown' | 'full';

/** The message behind which an entry goes. */
export interface Before {
  seq: number;
  /** Of the entry that it is a part of. */
  chain: bigint;
  /** Whether the log had it a moment ago: since then nobody else can have led. */
  isSure: boolean;
}

const againMs = 100;

/**
 * Whether the log has that message. A sequence alone says little: a log that lost its end, and got as many others in
 * their place, would take what is made to follow the lost ones. False: nobody says. Fails LOG_LOST.
 */
export async function holds(
  log: ReplicatedLog,
  { seq, chain }: Pick<Before, 'seq' | 'chain'>,
): Promise<boolean> {
  const bytes = await log.at(seq).catch(() => undefined);
  if (bytes === undefined) return false;
  if (readHead(bytes, seq).chain === chain) return true;
  return fail('LOG_LOST', { what: `it has another entry at ${seq} than these data` });
}

/** Appends behind `before`, with repeats until `timeoutMs` are over. Fails LOG_LOST. */
export async function appendEntry(
  log: ReplicatedLog,
  { parts, position }: SealedEntry,
  before: Before,
  timeoutMs: number,
  tally: ClusterTally,
): Promise<Outcome> {
  const started = performance.now();
  const end = started + timeoutMs;
  const place = { ...before };
  for (const { bytes, id } of parts) {
    for (let tries = 0; ; tries++) {
      const outcome = await appendOnce(log, bytes, place, id);
      if (outcome === 'ok') break;
      if (outcome === 'behind') return 'behind';
      // A part that found no room leaves those before it, and those that may still arrive.
      if (outcome === 'full') return place.seq === before.seq && tries === 0 ? 'full' : 'unknown';
      tally.add('unknown');
      // While nobody answers, the log may become another one.
      place.isSure = false;
      // A log takes its time before it says so: this is no busy loop.
      if (performance.now() >= end) return 'unknown';
    }
    Object.assign(place, { seq: place.seq + 1, chain: position.chain, isSure: true });
    tally.add('bytes', bytes.length);
  }
  tally.observe('cluster_append_seconds', (performance.now() - started) / 1000);
  return 'ok';
}

/** Who does not know what stands there appends nothing behind it. */
async function appendOnce(
  log: ReplicatedLog,
  bytes: Uint8Array,
  before: Before,
  id: string,
): Promise<Outcome> {
  const { seq, isSure } = before;
  if (!isSure && seq > 0 && !(await holds(log, before))) {
    await pause(againMs);
    return 'unknown';
  }
  try {
    return await log.append(bytes, seq, id);
  } catch (error) {
    if (errorDataOf(error).error.code === 'LOG_FULL') return 'full';
    throw error;
  }
}
