// Keeps the positions at which the epochs of a log began, as far as a node stores them. An epoch begins at
// the entry that named the leader, or at the first entry of the log. When a log loses its end, the two
// histories can use the same epoch number for different epochs. Entries of the lost history are not in the
// current one.
// Invariant: the list is equal on all nodes at equal positions.
import type { Position } from '../entry/chain.js';
import type { ClusterPosition } from '../node.js';

/** Maximum length of the list: the first epoch of the log and the newest ones. */
export const epochsMax = 16;

/** Returns true if `a` is before `b`. A new log of the same data starts at sequence 0 under a later epoch. */
export const isBefore = (a: ClusterPosition, b: ClusterPosition): boolean =>
  a.epoch < b.epoch || (a.epoch === b.epoch && a.seq < b.seq);

/** Start of the current epoch for data without the list: everything before counts as part of this epoch. */
export const unknownStart = (epoch: number): Position => ({ epoch, seq: 0, chain: 0n });

/** Returns the list with a new epoch added, or the same list when the epoch is already known. */
export function withEpoch(epochs: readonly Position[], start: Position): readonly Position[] {
  const newest = epochs.at(-1);
  if (newest !== undefined && newest.epoch >= start.epoch) return epochs;
  const { epoch, seq, chain } = start;
  const all = [...epochs, { epoch, seq, chain }];
  return all.length > epochsMax ? [all[0]!, ...all.slice(1 - epochsMax)] : all;
}

/**
 * Returns true if a node at `seq` with these epochs has every entry that the token refers to. A later epoch
 * alone proves nothing: the token may refer to entries that the log has lost. Tokens of earlier logs are
 * always satisfied. A new log contains all data that were left of the earlier logs, and its epochs begin
 * above all of theirs.
 */
export function isAt(
  seq: number,
  epochs: readonly Pick<Position, 'epoch' | 'seq'>[],
  token: ClusterPosition,
): boolean {
  if (epochs.length === 0 || token.epoch > epochs.at(-1)!.epoch) return false;
  const next = epochs.findIndex(({ epoch }) => epoch > token.epoch);
  if (next === 0) return epochs[0]!.seq <= 1 || token.seq < epochs[0]!.seq;
  const end = next < 0 ? seq : epochs[next]!.seq - 1;
  return token.seq <= end && token.seq >= epochs.at(next < 0 ? -1 : next - 1)!.seq;
}
