// How far a node is, as it stands in its data beside what it has applied (key 05 of meta.ts): read at the
// next start, and carried along by copies. JSON:
//
//   epoch, seq     of the last entry that the data hold
//   chain          of that entry, 16 hexadecimal digits
//   restoreEpoch   of the manifest: data from a backup that was restored belong to no log; '' for
//                  those that left theirs
//   epochs         where the log began, and its newest epochs, oldest first: [epoch, seq, chain] of
//                  the entry that began each (epochs.ts). Absent in data of versions before
//   leader         {node, address} of whoever leads in that epoch, where it is known
//   key            by which the entry is signed; absent: it is not
//
// Invariant: it is written in the transaction of its entry.
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

/** Of the list that was packed last: it is the same one for as long as an epoch lasts. */
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

/** Whether what is stored is of these data, and not of those that their backup was made of. */
export const isOf = (bytes: Uint8Array, restoreEpoch: string): boolean =>
  (JSON.parse(Buffer.from(bytes).toString()) as Stored).restoreEpoch === restoreEpoch;

/** What is left of it in data that go on without their log; undefined: nothing has to change. */
export function leftPosition(bytes: Uint8Array | undefined): Uint8Array | undefined {
  if (bytes === undefined || isOf(bytes, '')) return undefined;
  const left = { ...knownPosition(bytes), chain: 0n, leader: undefined, epochs: [] };
  return packPosition(left, '');
}

/** How far their log was followed, whether they are still of it or not. */
export function knownPosition(bytes: Uint8Array): ClusterPosition {
  const { epoch, seq } = JSON.parse(Buffer.from(bytes).toString()) as Stored;
  return { epoch, seq };
}

/** More leaders than there are between a backup and what made it needed. */
const epochsSkipped = 65_536;

/**
 * Of the first entry of a new log of these data: above all that their earlier logs have had, so that tokens of
 * those are known as older than any of this one.
 */
export function firstEpoch(bytes: Uint8Array | undefined): number {
  return bytes === undefined ? 0 : knownPosition(bytes).epoch + epochsSkipped;
}

/** Whether somebody has led in that epoch of an earlier log of the data that are in epoch `now` of theirs. */
export const isOfEarlierLog = (epoch: number, now: number): boolean => now - epoch >= epochsSkipped;

function failFounding(what: string): never {
  const hint =
    '`trellis cluster init` founds a cluster on them (of another `cluster.name`, where a log of this one is there). To ' +
    'join one instead, empty the data directory and start this node.';
  return fail('CONFIG_INVALID', { what }, { hint });
}

/** Fails CONFIG_INVALID for data that belong to no log, or no more. */
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
