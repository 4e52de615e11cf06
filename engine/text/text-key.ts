// Keys of the keyword index inside the derived table. Numbers are big-endian; a term is UTF-8 and holds no zero byte.
//
//   totals   54 00 label:2                    documents:f64 length:f64    (length in terms, all documents together)
//   term     54 01 label:2 term               df, bounds, newest block    (posting.ts)
//   block    54 02 label:2 term 00 upper:4    an older, full block: ids above the previous upper, up to its own

import { createHash } from 'node:crypto';

const PREFIX = 0x54;
const TOTALS = 0;
const TERM = 1;
const BLOCK = 2;

/** Longer terms are told apart by a digest, so that every key fits LMDB. */
const termBytesMax = 128;

const encoder = new TextEncoder();

export function totalsKey(label: number): Uint8Array {
  return Uint8Array.of(PREFIX, TOTALS, label >>> 8, label & 255);
}

/** How a term stands in keys. */
export function termBytes(term: string): Uint8Array {
  const bytes = encoder.encode(term);
  if (bytes.length <= termBytesMax) return bytes;
  return encoder.encode(`${term.slice(0, 16)}#${createHash('sha256').update(bytes).digest('hex')}`);
}

export function termKey(label: number, term: Uint8Array): Uint8Array {
  const key = new Uint8Array(4 + term.length);
  start(key, TERM, label, term);
  return key;
}

/** Key of the block whose ids go up to `upper`; the block that would hold `id` is the first at or after blockKey(id). */
export function blockKey(label: number, term: Uint8Array, upper: number): Uint8Array {
  const key = new Uint8Array(9 + term.length);
  start(key, BLOCK, label, term);
  const at = key.length - 4;
  key[at] = upper >>> 24;
  key[at + 1] = upper >>> 16;
  key[at + 2] = upper >>> 8;
  key[at + 3] = upper;
  return key;
}

/** Greater than the key of every block of the term. */
export function blockKeyEnd(label: number, term: Uint8Array): Uint8Array {
  const key = blockKey(label, term, 0).subarray(0, 5 + term.length);
  key[key.length - 1] = 1;
  return key;
}

/** The `upper` of a block key. */
export function upperOf(key: Uint8Array): number {
  const at = key.length - 4;
  return ((key[at]! << 24) | (key[at + 1]! << 16) | (key[at + 2]! << 8) | key[at + 3]!) >>> 0;
}

/** First and last (exclusive) key of all terms of a label. */
export function termRange(label: number): [Uint8Array, Uint8Array] {
  const none = new Uint8Array(0);
  return [termKey(label, none), termKey(label + 1, none)];
}

/** The term bytes of a term key. */
export function termOfKey(key: Uint8Array): Uint8Array {
  return key.slice(4);
}

function start(key: Uint8Array, kind: number, label: number, term: Uint8Array): void {
  key[0] = PREFIX;
  key[1] = kind;
  key[2] = label >>> 8;
  key[3] = label & 255;
  key.set(term, 4);
}
