// What a bulk load has done, kept in the store beside what it loaded and in the same transaction: a
// load that was cut short goes on where its last committed piece ended, and finds again what the
// temporary names of earlier rows stand for.
//
//   derived key    FF 'l' name(16)            LoadProgress, JSON
//   derived key    FF 'm' name(16) piece u32  LoadedPiece, JSON
import { createHash } from 'node:crypto';
import type { LoadView } from '../../storage/load-view.js';
import type { ReadView, WriteView } from '../../storage/store.js';
import type { BatchResult } from './row-batch.js';

/** A place between two rows of a load: all of its files are one stream. */
export interface LoadPosition {
  /** Bytes before it. */
  offset: number;
  /** Number of the next line, from 1. */
  line: number;
}

export interface LoadProgress extends LoadPosition {
  nodes: number;
  edges: number;
  vectors: number;
  rejected: number;
  pieces: number;
}

/** One committed piece: what rows it had became of. */
export interface LoadedPiece {
  from: LoadPosition;
  to: LoadPosition;
  firstId: number;
  refused: number[];
}

export const noProgress: LoadProgress = {
  offset: 0,
  line: 1,
  nodes: 0,
  edges: 0,
  vectors: 0,
  rejected: 0,
  pieces: 0,
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function keyOf(tag: number, name: string, piece?: number): Uint8Array {
  const digest = createHash('sha256').update(name).digest().subarray(0, 16);
  const key = new Uint8Array(piece === undefined ? 18 : 22);
  key[0] = 0xff;
  key[1] = tag;
  key.set(digest, 2);
  if (piece !== undefined) new DataView(key.buffer).setUint32(18, piece);
  return key;
}

const progressKey = (name: string): Uint8Array => keyOf(0x6c, name);
const pieceKey = (name: string, piece: number): Uint8Array => keyOf(0x6d, name, piece);

type Derived = Pick<ReadView, 'getDerived'>;

function read<T>(view: Derived, key: Uint8Array): T | undefined {
  const bytes = view.getDerived(key);
  return bytes && (JSON.parse(decoder.decode(bytes)) as T);
}

export function readProgress(view: Derived, name: string): LoadProgress {
  return read<LoadProgress>(view, progressKey(name)) ?? noProgress;
}

/** The committed pieces of a load, in order. */
export function readPieces(view: Derived, name: string): LoadedPiece[] {
  const pieces: LoadedPiece[] = [];
  const { pieces: count } = readProgress(view, name);
  for (let piece = 0; piece < count; piece++) {
    pieces.push(read<LoadedPiece>(view, pieceKey(name, piece))!);
  }
  return pieces;
}

/** Notes a piece that ends at `to`, in its transaction; `rejected` by whoever read its rows. */
export function noteProgress(
  view: LoadView,
  name: string,
  to: LoadPosition,
  result: BatchResult,
  rejected: number,
): void {
  const former = readProgress(view, name);
  const { offset, line } = former;
  const { firstId, refused } = result;
  const piece: LoadedPiece = { from: { offset, line }, to, firstId, refused };
  const progress: LoadProgress = {
    ...to,
    nodes: former.nodes + result.nodes,
    edges: former.edges + result.edges,
    vectors: former.vectors + result.vectors,
    rejected: former.rejected + result.rejects.length + rejected,
    pieces: former.pieces + 1,
  };
  view.putDerived(pieceKey(name, former.pieces), encoder.encode(JSON.stringify(piece)));
  view.putDerived(progressKey(name), encoder.encode(JSON.stringify(progress)));
}

/** Forgets a finished load. */
export function forgetLoad(view: Pick<WriteView, 'deleteDerived'> & Derived, name: string): void {
  const { pieces } = readProgress(view, name);
  for (let piece = 0; piece < pieces; piece++) view.deleteDerived(pieceKey(name, piece));
  if (pieces > 0) view.deleteDerived(progressKey(name));
}
