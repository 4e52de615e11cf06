// Computes the hash chain of the log. Every entry carries a hash of itself and of the entry before it. Two
// nodes with equal chains have applied equal logs. A reader detects an entry that was lost, repeated,
// changed, or copied from the log of another database.
import { createHash } from 'node:crypto';
import { bodyOf } from './head.js';
import { chainAt, sumAt } from './head-layout.js';

/** A position in a log: the end of an entry. */
export interface Position {
  epoch: number;
  /** Sequence of the last part of the entry. */
  seq: number;
  chain: bigint;
  /** Id of the key that signs the entry. Absent when neither this entry nor any earlier one is signed. */
  key?: number;
}

/** The position before the first entry of every log. */
export const logStart: Position = { epoch: 0, seq: 0, chain: 0n };

/**
 * Returns the chain of the entry that follows `before`. It is the first 8 bytes of SHA-256 over three things:
 * the chain of `before`, the head of the first part without its chain and checksum, and the stored body. The
 * heads of the other parts follow from the first head.
 */
export function chainOf(before: Position, parts: readonly Uint8Array[]): bigint {
  const chain = Buffer.alloc(8);
  chain.writeBigUInt64LE(before.chain);
  const first = parts[0]!;
  const hash = createHash('sha256').update(chain);
  hash.update(first.subarray(0, chainAt)).update(first.subarray(chainAt + 8, sumAt));
  for (const part of parts) hash.update(bodyOf(part));
  return hash.digest().readBigUInt64LE(0);
}
