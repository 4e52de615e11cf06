// Where the epochs of a log began, as far as a node remembers it: at the entry that named who leads there, or at the
// first of the log. Two logs that were one until their end was lost may give the same number to two epochs; what
// a token tells of one of them is not in the other. Invariant: the list is the same on all nodes that are equally far.
import type { Position } from '../entry/chain.js';
import type { ClusterPosition } from '../node.js';

/** The first of the log, and the newest. */
export const epochsKept = 16;

/** Whether `a` is behind `b`: a new log of the same data counts from the beginning, under a later epoch. */
export const isBehind = (a: ClusterPosition, b: ClusterPosition): boolean =>
  a.epoch < b.epoch || (a.epoch === b.epoch && a.seq < b.seq);

/** Of data that came without the list: all that is before their epoch is taken for theirs. */
export const unknownStart = (epoch: number): Position => ({ epoch, seq: 0, chain: 0n });

/** The list once an entry has begun another epoch; the same one where it is known already. */
export function withEpoch(epochs: readonly Position[], start: Position): readonly Position[] {
  const newest = epochs.at(-1);
  if (newest !== undefined && newest.epoch >= start.epoch) return epochs;
  const { epoch, seq, chain } = start;
  const all = [...epochs, { epoch, seq, chain }];
  return all.length > epochsKept ? [all[0]!, ...all.slice(1 - epochsKept)] : all;
}

/**
 * Whether a node at `seq` that remembers these epochs has all that a token tells of. A later epoch is not enough: what
 * was said in the token's own may have been behind the end of that epoch here, in entries that the log has lost. Tokens
 * of logs before this one are: it is made of what was left of them, and begins above all epochs that they have had.
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
