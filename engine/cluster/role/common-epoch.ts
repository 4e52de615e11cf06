// Finds out how much of a node's history its log still has, after the log lost its end and gained other
// entries.
// Invariant: an epoch reported as common began with the same entry in both histories.
import { setTimeout as pause } from 'node:timers/promises';
import { TrellisError } from '../../base/errors.js';
import type { Position } from '../entry/chain.js';
import type { ReplicatedLog } from '../log/replicated-log.js';
import { hasEntry } from './appender.js';

/** Number of tries. A server that does not respond may be restarting. */
const tries = 10;
const againMs = 500;

/**
 * Returns the newest of these epochs (ordered from oldest to newest) that the log has too. Returns `all` when
 * the log no longer exists, so that no node can lead others. Returns undefined when none is common or no
 * server responds.
 */
export async function commonEpoch(
  log: Pick<ReplicatedLog, 'at' | 'last'>,
  epochs: readonly Position[],
): Promise<number | 'all' | undefined> {
  for (let left = tries; left > 0; left--) {
    if (await isDeleted(log)) return 'all';
    for (const { epoch, seq, chain } of [...epochs].reverse())
      if (seq > 0 && (await isShared(log, { seq, chain }))) return epoch;
    if (left > 1) await pause(againMs);
  }
  return undefined;
}

const isShared = (
  log: Pick<ReplicatedLog, 'at'>,
  start: Pick<Position, 'seq' | 'chain'>,
): Promise<boolean> => hasEntry(log, start).catch(() => false);

async function isDeleted(log: Pick<ReplicatedLog, 'last'>): Promise<boolean> {
  try {
    return (await log.last()) === 0;
  } catch (error) {
    return error instanceof TrellisError && error.code === 'LOG_LOST';
  }
}
