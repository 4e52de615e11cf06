// Appends the parts of one entry, one behind the other, and repeats what the log did not answer. Invariant:
// what is said of an entry is final: it is in the log as a whole, or it never will be, or nobody knows.
import { errorDataOf } from '../../base/errors.js';
import type { SealedEntry } from '../entry/seal.js';
import type { ClusterTally } from '../link/tally.js';
import type { ReplicatedLog } from '../log/replicated-log.js';

/** full: nothing of it is there, for want of room. */
export type Outcome = 'ok' | 'behind' | 'unknown' | 'full';

/** Appends behind sequence `after`, with repeats until `timeoutMs` are over. Fails LOG_LOST. */
export async function appendEntry(
  log: ReplicatedLog,
  { parts }: SealedEntry,
  after: number,
  timeoutMs: number,
  tally: ClusterTally,
): Promise<Outcome> {
  const started = performance.now();
  const end = started + timeoutMs;
  let at = after;
  for (const { bytes, id } of parts) {
    for (let tries = 0; ; tries++) {
      const outcome = await appendOnce(log, bytes, at, id);
      if (outcome === 'ok') break;
      if (outcome === 'behind') return 'behind';
      // A part that found no room leaves those before it, and those that may still arrive.
      if (outcome === 'full') return at === after && tries === 0 ? 'full' : 'unknown';
      tally.add('unknown');
      // A log takes its time before it says so: this is no busy loop.
      if (performance.now() >= end) return 'unknown';
    }
    at++;
    tally.add('bytes', bytes.length);
  }
  tally.observe('cluster_append_seconds', (performance.now() - started) / 1000);
  return 'ok';
}

async function appendOnce(
  log: ReplicatedLog,
  bytes: Uint8Array,
  after: number,
  id: string,
): Promise<Outcome> {
  try {
    return await log.append(bytes, after, id);
  } catch (error) {
    if (errorDataOf(error).error.code === 'LOG_FULL') return 'full';
    throw error;
  }
}
