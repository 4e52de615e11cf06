// The chain: every entry names a hash of itself and of the entry before it, so that two nodes at equal
// chains have followed equal logs, and whoever meets an entry that was lost, repeated, changed or put
// into the log of another database sees it there.
import { createHash } from 'node:crypto';
import { bodyOf } from './head.js';
import { chainAt, sumAt } from './head-layout.js';

/** How far a log has been followed: the end of an entry. */
export interface Position {
  epoch: number;
  /** Sequence of the last part of the entry. */
  seq: number;
  chain: bigint;
  /** By which key that entry is signed; absent: it is not, nor is any before it. */
  key?: number;
}

/** Before the first entry of every log. */
export const logStart: Position = { epoch: 0, seq: 0, chain: 0n };

/**
 * The chain of an entry behind `before`: the first 8 bytes of SHA-256 over the chain of that one, the head of
 * the first part without its chain and checksum, and the body as it is stored. The heads of the other
 * parts follow from the first.
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
