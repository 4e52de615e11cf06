// The directory of one term: for each sealed block its best possible postings, so that a search can skip the
// block without reading it. Entries are edited as bytes, because no entry depends on its neighbours.
//
//   directory   entry, entry, ...                                            by ascending upper
//   entry       upper:4 (big-endian)  count  count x (frequency, document length)         varints
//
// The pairs are the impacts of the block: its postings that no other posting beats in both frequency and
// length. For any average length, the best score of the block is the score of one of them (A. Grand et al.,
// "From MaxScore to block-max WAND", ECIR 2020).
import { ByteWriter } from '../base/bytes.js';
import type { Block } from './posting.js';
import { putVarint, VarintReader } from './varint.js';

const none = new Uint8Array(0);
const writer = new ByteWriter(256);

/** Position of an entry: bytes [start, end) of the directory, for the block with ids up to `upper`. */
export interface DirectoryEntry {
  upper: number;
  start: number;
  end: number;
}

/** Returns the entry of the block that covers `id`, or undefined when `id` is above all blocks. */
export function findEntry(directory: Uint8Array, id: number): DirectoryEntry | undefined {
  const reader = new VarintReader(directory);
  while (!reader.isDone) {
    const start = reader.at;
    const upper = reader.word();
    for (let left = 2 * reader.next(); left > 0; left--) reader.next();
    if (upper >= id) return { upper, start, end: reader.at };
  }
  return undefined;
}

/** Yields all entries in their order. */
export function* entriesIn(directory: Uint8Array): Generator<DirectoryEntry> {
  const reader = new VarintReader(directory);
  while (!reader.isDone) {
    const start = reader.at;
    const upper = reader.word();
    for (let left = 2 * reader.next(); left > 0; left--) reader.next();
    yield { upper, start, end: reader.at };
  }
}

/** Returns a copy of the directory in which `entries` replaces the bytes of an entry. */
export function replaceEntry(
  directory: Uint8Array,
  { start, end }: DirectoryEntry,
  entries: Uint8Array,
): Uint8Array {
  const result = new Uint8Array(directory.length - (end - start) + entries.length);
  result.set(directory.subarray(0, start));
  result.set(entries, start);
  result.set(directory.subarray(end), start + entries.length);
  return result;
}

/** Returns the directory with `entry` appended. */
export function appendEntry(directory: Uint8Array = none, entry: Uint8Array): Uint8Array {
  const range = { upper: 0, start: directory.length, end: directory.length };
  return replaceEntry(directory, range, entry);
}

/** Encodes the entry of a block made of postings [from, to). */
export function encodeEntry(upper: number, block: Block, from: number, to: number): Uint8Array {
  for (let shift = 24; shift >= 0; shift -= 8) writer.byte((upper >>> shift) & 255);
  const best = competitiveImpacts(block, from, to);
  putVarint(writer, best.length);
  for (const i of best) {
    putVarint(writer, block.frequencies[i]!);
    putVarint(writer, block.lengths[i]!);
  }
  return writer.take();
}

/** Returns the positions of the postings that no other one equals or beats in both respects. */
function competitiveImpacts({ frequencies, lengths }: Block, from: number, to: number): number[] {
  let best: number[] = [];
  const beats = (a: number, b: number): boolean =>
    frequencies[a]! >= frequencies[b]! && lengths[a]! <= lengths[b]!;
  for (let i = from; i < to; i++) {
    if (best.some((other) => beats(other, i))) continue;
    best = best.filter((other) => !beats(i, other));
    best.push(i);
  }
  return best;
}

/** Upper bounds of the scores by block, for one query term. */
export interface BlockBounds {
  count: number;
  /** Highest id of each block, ascending. The array may be longer than `count`. */
  uppers: Uint32Array;
  bounds: Float64Array;
}

const entryBytesMin = 7;

/** Computes the bounds from a directory; `score` rises with frequency and falls with length. */
export function maxScores(
  directory: Uint8Array,
  score: (frequency: number, length: number) => number,
): BlockBounds {
  const capacity = Math.floor(directory.length / entryBytesMin);
  const uppers = new Uint32Array(capacity);
  const bounds = new Float64Array(capacity);
  const reader = new VarintReader(directory);
  let count = 0;
  for (; !reader.isDone; count++) {
    uppers[count] = reader.word();
    let bound = 0;
    for (let left = reader.next(); left > 0; left--)
      bound = Math.max(bound, score(reader.next(), reader.next()));
    bounds[count] = bound;
  }
  return { count, uppers, bounds };
}
