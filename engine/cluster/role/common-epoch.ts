// How much of what a node has is still of its log, once that is another one: it lost its end, and got others in its
// place. Invariant: an epoch that is said to be shared began with the same entry in both.
import { setTimeout as pause } from 'node:timers/promises';
import { TrellisError } from '../../base/errors.js';
import type { Position } from '../entry/chain.js';
import type { ReplicatedLog } from '../log/replicated-log.js';
import { hasEntry } from './appender.js';

/** Who does not answer at once may be on its way back. */
const tries = 10;
const againMs = 500;

/**
 * The newest of these epochs, oldest first, that the log has as well. `all`: there is no log any more, so that nobody
 * leads others; undefined: none of them, or nobody says.
 */
export async function commonEpoch(
  log: Pick<ReplicatedLog, 'at' | 'last'>,
  epochs: readonly Position[],
): Promise<number | 'all' | undefined> {
  for (let left = tries; left > 0; left--) {
    if (await isGone(log)) return 'all';
    for (const { epoch, seq, chain } of [...epochs].reverse())
      if (seq > 0 && (await isHeld(log, { seq, chain }))) return epoch;
    if (left > 1) await pause(againMs);
  }
  return undefined;
}

const isHeld = (
  log: Pick<ReplicatedLog, 'at'>,
  start: Pick<Position, 'seq' | 'chain'>,
): Promise<boolean> => hasEntry(log, start).catch(() => false);

async function isGone(log: Pick<ReplicatedLog, 'last'>): Promise<boolean> {
  try {
    return (await log.last()) === 0;
  } catch (error) {
    return error instanceof TrellisError && error.code === 'LOG_LOST';
  }
}
