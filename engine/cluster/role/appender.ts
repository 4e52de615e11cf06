// Appends the parts of one entry in order, and repeats the parts that the log did not acknowledge.
// Invariant: a result is final. The entry is completely in the log, or it never will be, or its state is
// unknown.
import { setTimeout as pause } from 'node:timers/promises';
import { toErrorData, fail } from '../../base/errors.js';
import { readHead } from '../entry/head.js';
import type { SealedEntry } from '../entry/encode-entry.js';
import type { ClusterMetrics } from '../ipc/cluster-metrics.js';
import type { ReplicatedLog } from '../log/replicated-log.js';

/**
 * `full`, `held` and `lost` mean that nothing is in the log. With `full`, the log has no space. With `held`,
 * nothing was sent, because the preceding entry could not be verified. With `lost`, nothing was sent, because
 * the preceding entry is a different one. The other results are those of `Appended`.
 */
export type Outcome = 'ok' | 'behind' | 'unknown' | 'full' | 'held' | 'lost';

/** The message after which an entry is appended. */
export interface PreviousEntry {
  seq: number;
  /** Chain of the entry to which the message belongs. */
  chain: bigint;
  /** True if the log had the message recently enough that no other node can have led since. */
  isVerified: boolean;
}

const againMs = 100;

/**
 * Returns true if the log has that message. The sequence alone is not enough: a log that lost its end and
 * gained as many other entries would accept what follows the lost ones. Returns false when no server
 * responds. Fails LOG_LOST when the log has a different message.
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
  clusterMetrics: ClusterMetrics;
  /** Called with the error when the log accepts no more entries. */
  onError: (error: unknown) => void;
}

/** Appends the entry after `before`, with repeats until `timeoutMs` have passed. */
export async function appendEntry(
  log: Pick<ReplicatedLog, 'append' | 'at'>,
  { parts, position }: SealedEntry,
  before: PreviousEntry,
  { timeoutMs, clusterMetrics, onError }: AppendOptions,
): Promise<Outcome> {
  const started = performance.now();
  const end = started + timeoutMs;
  const previous = { ...before };
  let isSent = false;
  for (const { bytes, id } of parts) {
    for (;;) {
      const outcome = await appendOnce(log, bytes, previous, id).catch(onError);
      if (outcome === 'ok') break;
      if (outcome === undefined) return isSent ? 'unknown' : 'lost';
      if (outcome === 'behind') return 'behind';
      // When a part finds no space, the parts before it stay in the log, and unacknowledged ones may still
      // arrive.
      if (outcome === 'full') return isSent ? 'unknown' : 'full';
      isSent ||= outcome === 'unknown';
      if (outcome === 'unknown') clusterMetrics.add('unknown');
      // While the log does not respond, it may be replaced by another one.
      previous.isVerified = false;
      // The driver waits before it returns `unknown`, so this loop does not spin.
      if (performance.now() >= end) return isSent ? 'unknown' : 'held';
    }
    isSent = true;
    Object.assign(previous, { seq: previous.seq + 1, chain: position.chain, isVerified: true });
    clusterMetrics.add('bytes', bytes.length);
  }
  clusterMetrics.observe('cluster_append_seconds', (performance.now() - started) / 1000);
  return 'ok';
}

/** Appends one part. When the preceding message cannot be verified, nothing is sent. */
async function appendOnce(
  log: Pick<ReplicatedLog, 'append' | 'at'>,
  bytes: Uint8Array,
  before: PreviousEntry,
  id: string,
): Promise<Outcome> {
  const { seq, isVerified } = before;
  if (!isVerified && seq > 0 && !(await hasEntry(log, before))) {
    await pause(againMs);
    return 'held';
  }
  try {
    return await log.append(bytes, seq, id);
  } catch (error) {
    if (toErrorData(error).error.code === 'LOG_FULL') return 'full';
    throw error;
  }
}
