// Notes in the store what a load has done and that it is over. Invariant: what is noted of a piece is
// noted in its transaction, that the load is over in that of its last piece.
import type { LoadView } from '../../storage/view/load-view.js';
import { getWord, putWord } from '../../storage/table/word.js';
import { digestOf, endKey, pieceKey, progressKey } from './load-key.js';
import {
  type LoadEnd,
  type LoadPosition,
  type LoadProgress,
  type LoadedPiece,
  readProgress,
} from './load-progress.js';
import type { BatchResult } from './row/row-batch.js';

/** Loads that are over and still known by their names. */
const namesKept = 4096;

const encoder = new TextEncoder();

/** Notes a piece that ends at `to`, in its transaction; `rejected` by whoever read its rows. */
export function notePiece(
  view: LoadView,
  name: string,
  to: LoadPosition,
  result: BatchResult,
  read: { rejected: number; checksum: number },
): void {
  const former = readProgress(view, name);
  const { offset, line } = former;
  const { firstId, refused, held } = result;
  const from = { offset, line };
  const piece: LoadedPiece = {
    ...{ from, to, firstId, refused, checksum: read.checksum },
    ...(held.length > 0 && { held }),
  };
  const progress: LoadProgress = {
    ...to,
    nodes: former.nodes + result.nodes,
    edges: former.edges + result.edges,
    vectors: former.vectors + result.vectors,
    updated: (former.updated ?? 0) + result.updated,
    rejected: former.rejected + result.rejects.length + read.rejected,
    pieces: former.pieces + 1,
  };
  put(view, pieceKey(digestOf(name), former.pieces), piece);
  put(view, progressKey(digestOf(name)), progress);
}

function put(view: LoadView, key: Uint8Array, value: object): void {
  view.putDerived(key, encoder.encode(JSON.stringify(value)));
}

/** Notes that a load is over, in place of the oldest of as many as are kept. */
export function noteEnd(view: LoadView, name: string, end: LoadEnd): void {
  put(view, progressKey(digestOf(name)), { ...readProgress(view, name), end });
  const count = view.getDerived(endKey());
  const ended = count === undefined ? 0 : getWord(count, 0);
  const slot = endKey(ended % namesKept);
  const oldest = view.getDerived(slot);
  if (oldest !== undefined) forget(view, oldest);
  view.putDerived(slot, digestOf(name));
  const next = new Uint8Array(4);
  putWord(next, 0, (ended + 1) >>> 0);
  view.putDerived(endKey(), next);
}

/** Forgets a load that nobody will ask for again. */
export const forgetLoad = (view: LoadView, name: string): void => forget(view, digestOf(name));

function forget(view: LoadView, digest: Uint8Array): void {
  const { pieces } = readProgress(view, digest);
  for (let piece = 0; piece < pieces; piece++) view.deleteDerived(pieceKey(digest, piece));
  view.deleteDerived(progressKey(digest));
}
