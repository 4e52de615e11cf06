// The pieces of a load, as the store keeps what is known of each: what its rows became, so that a load that
// was cut short finds again what their names stand for, tells again which were refused, and can be taken back.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ReadView } from '../../storage/table/view-types.js';
import { digestOf, pieceKey } from './load-key.js';
import { type LoadCounts, type LoadPosition, readNote, readProgress } from './load-progress.js';
import type { Reject } from './row/row-batch.js';

type Derived = Pick<ReadView, 'getDerived'>;

/** One committed piece: what rows it had became of. */
export interface LoadedPiece {
  from: LoadPosition;
  to: LoadPosition;
  firstId: number;
  /** Elements of it that are there, from `firstId` on; absent in what earlier versions noted. */
  made?: number;
  /** What it added to the counts of the load; absent as `made` is. */
  counts?: LoadCounts;
  /** It is being taken back: what it made is there in part. */
  isLeaving?: boolean;
  /** Rows that the writer refused, packed; absent for none. */
  rejects?: string;
  refused: number[];
  /** [ordinal of a name, dense id, ...] of rows that changed an element; absent for none. */
  held?: number[];
  /** Of its bytes: whoever brings it again must bring the same. */
  checksum: number;
}

/** Rows that are refused in great numbers are refused for the same. */
export const packRejects = (rejects: readonly Reject[]): string =>
  deflateRawSync(JSON.stringify(rejects), { level: 1 }).toString('base64');

/** The rows of a piece that the writer refused. */
export function rejectsOf({ rejects }: LoadedPiece): Reject[] {
  if (rejects === undefined) return [];
  return JSON.parse(inflateRawSync(Buffer.from(rejects, 'base64')).toString()) as Reject[];
}

/** The committed pieces of a load, in order. */
export function readPieces(view: Derived, name: string | Uint8Array): LoadedPiece[] {
  const pieces: LoadedPiece[] = [];
  const digest = typeof name === 'string' ? digestOf(name) : name;
  const { pieces: count } = readProgress(view, digest);
  for (let piece = 0; piece < count; piece++) {
    pieces.push(readNote<LoadedPiece>(view, pieceKey(digest, piece))!);
  }
  return pieces;
}

export const readPiece = (view: Derived, name: string, place: number): LoadedPiece | undefined =>
  readNote<LoadedPiece>(view, pieceKey(digestOf(name), place));
