// Reads and writes the position of a node inside its data, next to the applied changes (key 05 of meta.ts).
// The next start reads the position, and copies of the data include it. The format is JSON:
//
//   epoch, seq     of the last entry that the data hold
//   chain          of that entry, 16 hexadecimal digits
//   restoreEpoch   of the manifest: data from a restored backup belong to no log; '' for data that
//                  left their log
//   epochs         start of the log, and its newest epochs, oldest first: [epoch, seq, chain] of
//                  the entry that began each (epochs.ts). Absent in data of older versions
//   leader         {node, address} of the leader of that epoch, where it is known
//   key            id of the key that signs the entry; absent: it is not signed
//
// Invariant: the position is written in the same transaction as its entry.
import { fail } from '../../base/errors.js';
import type { Position } from '../entry/chain.js';
import { printKey } from '../entry/entry-keys.js';
import type { ClusterPosition } from '../node.js';
import { unknownStart } from './epochs.js';
import type { DataPosition } from './message.js';

interface Stored {
  epoch: number;
  seq: number;
  chain: string;
  restoreEpoch: string;
  epochs?: [epoch: number, seq: number, chain: string][];
  leader?: { node: string; address: string } | undefined;
  key?: string | undefined;
}

const digitsOf = (chain: bigint): string => chain.toString(16).padStart(16, '0');
const chainOf = (digits: string): bigint => BigInt(`0x${digits}`);

/** Text of the list that was packed last. The list does not change within an epoch. */
let packed: { epochs: readonly Position[]; text: string } = { epochs: [], text: '[]' };

function textOf(epochs: readonly Position[]): string {
  if (packed.epochs !== epochs) {
    const rows = epochs.map(({ epoch, seq, chain }) => [epoch, seq, digitsOf(chain)]);
    packed = { epochs, text: JSON.stringify(rows) };
  }
  return packed.text;
}

export function packPosition(position: DataPosition, restoreEpoch: string): Uint8Array {
  const { epoch, seq, chain, leader, epochs } = position;
  const key = position.key === undefined ? undefined : printKey(position.key);
  const stored: Stored = { epoch, seq, chain: digitsOf(chain), restoreEpoch, leader, key };
  return Buffer.from(`${JSON.stringify(stored).slice(0, -1)},"epochs":${textOf(epochs)}}`);
}

/**
 * Returns true if the stored position belongs to these data, and not to the data of which a backup was made.
 */
export const isOf = (bytes: Uint8Array, restoreEpoch: string): boolean =>
  (JSON.parse(Buffer.from(bytes).toString()) as Stored).restoreEpoch === restoreEpoch;

/** Returns the position for data that detach from their log, or undefined when nothing has to change. */
export function leftPosition(bytes: Uint8Array | undefined): Uint8Array | undefined {
  if (bytes === undefined || isOf(bytes, '')) return undefined;
  const left = { ...knownPosition(bytes), chain: 0n, leader: undefined, epochs: [] };
  return packPosition(left, '');
}

/** Returns the position up to which the data followed a log, whether they still belong to it or not. */
export function knownPosition(bytes: Uint8Array): ClusterPosition {
  const { epoch, seq } = JSON.parse(Buffer.from(bytes).toString()) as Stored;
  return { epoch, seq };
}

/** Number of epochs to skip. It exceeds the number of leaders between a backup and its restore. */
const epochsSkipped = 65_536;

/**
 * Returns the epoch of the first entry of a new log. It is above all epochs of earlier logs of these data, so
 * that tokens of earlier logs are recognized as older.
 */
export function firstEpoch(bytes: Uint8Array | undefined): number {
  return bytes === undefined ? 0 : knownPosition(bytes).epoch + epochsSkipped;
}

/** Returns true if `epoch` belongs to an earlier log of data that are now in epoch `now`. */
export const isOfEarlierLog = (epoch: number, now: number): boolean => now - epoch >= epochsSkipped;

function failFounding(what: string): never {
  const hint =
    '`trellis cluster init` founds a cluster on them (of another `cluster.name`, where a log of this one is there). To ' +
    'join one instead, empty the data directory and start this node.';
  return fail('CONFIG_INVALID', { what }, { hint });
}

/** Reads the stored position. Fails CONFIG_INVALID for data that belong to no log, or to none any longer. */
export function readPosition(bytes: Uint8Array | undefined, restoreEpoch: string): DataPosition {
  if (bytes === undefined) return failFounding('These data are of no cluster yet.');
  if (isOf(bytes, ''))
    return failFounding('These data went on without their cluster, and are of it no more.');
  const stored = JSON.parse(Buffer.from(bytes).toString()) as Stored;
  if (stored.restoreEpoch !== restoreEpoch)
    return failFounding('These data were restored from a backup, and are of no cluster.');
  const { epoch, seq, leader } = stored;
  const epochs = stored.epochs?.map(([epoch, seq, chain]) => ({
    epoch,
    seq,
    chain: chainOf(chain),
  })) ?? [unknownStart(epoch)];
  const key = stored.key === undefined ? undefined : Number.parseInt(stored.key, 16);
  const chain = chainOf(stored.chain);
  return { epoch, seq, chain, leader, epochs, ...(key !== undefined && { key }) };
}
