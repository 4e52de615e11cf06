// Appends the parts of one entry, one behind the other, and repeats what the log did not answer. Invariant:
// what is said of an entry is final: it is in the log as a whole, or it never will be, or nobody knows.
import { setTimeout as pause } from 'node:timers/promises';
import { errorDataOf, fail } from '../../base/errors.js';
import { readHead } from '../entry/head.js';
import type { SealedEntry } from '../entry/encode-entry.js';
import type { ClusterTally } from '../ipc/cluster-metrics.js';
import type { ReplicatedLog } from '../log/replicated-log.js';

/**
 * full: nothing of it is there, for want of room. held: nothing of it was sent, for nobody said what stands before it;
 * lost: for that is another one.
 */
export type Outcome = 'ok' | 'behind' | 'unknown' | 'full' | 'held' | 'lost';

/** The message behind which an entry goes. */
export interface PreviousEntry {
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
export async function hasEntry(
  log: Pick<ReplicatedLog, 'at'>,
  { seq, chain }: Pick<PreviousEntry, 'seq' | 'chain'>,
): Promise<boolean> {
  const bytes = await log.at(seq).catch(() => undefined);
  if (bytes === undefined) return false;
  if (readHead(bytes, seq).chain === chain) return true;
  return fail('LOG_LOST', { what: `it has another entry at ${seq} than these data` });
}

interface AppendOptions {
  timeoutMs: number;
  tally: ClusterTally;
  /** Hears why the log cannot be appended to any more. */
  onFault: (error: unknown) => void;
}

/** Appends behind `before`, with repeats until `timeoutMs` are over. */
export async function appendEntry(
  log: Pick<ReplicatedLog, 'append' | 'at'>,
  { parts, position }: SealedEntry,
  before: PreviousEntry,
  { timeoutMs, tally, onFault }: AppendOptions,
): Promise<Outcome> {
  const started = performance.now();
  const end = started + timeoutMs;
  const place = { ...before };
  let isSent = false;
  for (const { bytes, id } of parts) {
    for (;;) {
      const outcome = await appendOnce(log, bytes, place, id).catch(onFault);
      if (outcome === 'ok') break;
      if (outcome === undefined) return isSent ? 'unknown' : 'lost';
      if (outcome === 'behind') return 'behind';
      // A part that found no room leaves those before it, and those that may still arrive.
      if (outcome === 'full') return isSent ? 'unknown' : 'full';
      isSent ||= outcome === 'unknown';
      if (outcome === 'unknown') tally.add('unknown');
      // While nobody answers, the log may become another one.
      place.isSure = false;
      // A log takes its time before it says so: this is no busy loop.
      if (performance.now() >= end) return isSent ? 'unknown' : 'held';
    }
    isSent = true;
    Object.assign(place, { seq: place.seq + 1, chain: position.chain, isSure: true });
    tally.add('bytes', bytes.length);
  }
  tally.observe('cluster_append_seconds', (performance.now() - started) / 1000);
  return 'ok';
}

/** Who does not know what stands there appends nothing behind it. */
async function appendOnce(
  log: Pick<ReplicatedLog, 'append' | 'at'>,
  bytes: Uint8Array,
  before: PreviousEntry,
  id: string,
): Promise<Outcome> {
  const { seq, isSure } = before;
  if (!isSure && seq > 0 && !(await hasEntry(log, before))) {
    await pause(againMs);
    return 'held';
  }
  try {
    return await log.append(bytes, seq, id);
  } catch (error) {
    if (errorDataOf(error).error.code === 'LOG_FULL') return 'full';
    throw error;
  }
}
