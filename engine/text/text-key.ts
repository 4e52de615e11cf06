// Builds and parses the keys of the keyword index inside the derived table. Numbers are big-endian; a term is
// UTF-8 without zero bytes.
//
//   totals      54 00 label:2                   documents:f64 length:f64, length in terms
//   term        54 01 label:2 term              df and the newest postings (posting.ts)
//   directory   54 02 label:2 term              impacts of each sealed block (impacts.ts)
//   block       54 03 label:2 term 00 upper:4   older postings (posting.ts): ids above the previous
//                                               upper, up to its own
//   complete    54 04                           rules of the analyzer; present while every document has
//                                               its postings (database/maintenance/rebuild-text-index.ts)
import { createHash } from 'node:crypto';

const PREFIX = 0x54;
const TOTALS = 0;
const TERM = 1;
const DIRECTORY = 2;
const BLOCK = 3;
const COMPLETE = 4;

/** A longer term is replaced by its start and a digest, so that every key fits into LMDB. */
const termBytesMax = 128;

const encoder = new TextEncoder();

export function totalsKey(label: number): Uint8Array {
  return Uint8Array.of(PREFIX, TOTALS, label >>> 8, label & 255);
}

/** Returns the bytes of a term as keys contain them. */
export function termBytes(term: string): Uint8Array {
  const bytes = encoder.encode(term);
  if (bytes.length <= termBytesMax) return bytes;
  return encoder.encode(`${term.slice(0, 16)}#${createHash('sha256').update(bytes).digest('hex')}`);
}

export function termKey(label: number, term: Uint8Array): Uint8Array {
  return buildKey(TERM, label, term, 0);
}

export function directoryKey(label: number, term: Uint8Array): Uint8Array {
  return buildKey(DIRECTORY, label, term, 0);
}

/** Returns the key of the block whose ids go up to `upper`. */
export function blockKey(label: number, term: Uint8Array, upper: number): Uint8Array {
  const key = buildKey(BLOCK, label, term, 5);
  const at = key.length - 4;
  key[at] = upper >>> 24;
  key[at + 1] = upper >>> 16;
  key[at + 2] = upper >>> 8;
  key[at + 3] = upper;
  return key;
}

const none: Uint8Array = new Uint8Array(0);

/**
 * Returns the first and the last (exclusive) key of the terms of a label; of those that begin with
 * `start`.
 */
export function termRange(label: number, start = none): [Uint8Array, Uint8Array] {
  const first = termKey(label, start);
  if (start.length === 0) return [first, termKey(label + 1, none)];
  const end = first.slice();
  // UTF-8 has no byte 255.
  end[end.length - 1]!++;
  return [first, end];
}

function buildKey(kind: number, label: number, term: Uint8Array, more: number): Uint8Array {
  const key = new Uint8Array(4 + term.length + more);
  key[0] = PREFIX;
  key[1] = kind;
  key[2] = label >>> 8;
  key[3] = label & 255;
  key.set(term, 4);
  return key;
}

/** Returns the first and the last (exclusive) key of the whole keyword index. */
export function textRange(): [Uint8Array, Uint8Array] {
  return [Uint8Array.of(PREFIX), Uint8Array.of(PREFIX + 1)];
}

/** A parsed key of the keyword index. */
type TextKey =
  | { kind: 'complete' }
  | { kind: 'totals' | 'other'; label: number }
  | { kind: 'term' | 'directory'; label: number; term: Uint8Array; upper?: undefined }
  | { kind: 'block'; label: number; term: Uint8Array; upper: number };

export function parseTextKey(key: Uint8Array): TextKey {
  const label = (key[2]! << 8) | key[3]!;
  const { length } = key;
  if (key[1] === COMPLETE && length === 2) return { kind: 'complete' };
  if (key[1] === TOTALS && length === 4) return { kind: 'totals', label };
  if (key[1] === TERM && length > 4) return { kind: 'term', label, term: key.slice(4) };
  if (key[1] === DIRECTORY && length > 4) return { kind: 'directory', label, term: key.slice(4) };
  const at = length - 5;
  if (key[1] !== BLOCK || at <= 4 || key[at] !== 0) return { kind: 'other', label };
  const upper = new DataView(key.buffer, key.byteOffset + at + 1).getUint32(0);
  return { kind: 'block', label, term: key.slice(4, at), upper };
}
