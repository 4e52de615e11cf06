// Records in the store what a load has done, and that it has finished.
// Invariant: the record of a chunk is written in the transaction of the chunk, and the end of the load in the
// transaction of its last chunk.
import type { LoadView } from '../../storage/view/load-view.js';
import { getWord, putWord } from '../../storage/table/little-endian.js';
import { type LoadedFile, packFiles } from './load-files.js';
import { digestOf, endKey, filesKey, chunkKey, progressKey, undoRange } from './load-key.js';
import {
  type LoadCounts,
  type LoadEnd,
  type LoadPosition,
  type LoadProgress,
  readProgress,
} from './load-progress.js';
import { type LoadedChunk, packRejects } from './load-piece.js';
import type { BatchResult } from './row/row-batch.js';

/** Number of finished loads that are still known by their names. */
const namesMax = 4096;

const encoder = new TextEncoder();

/**
 * Records a chunk that ends at `to`, in its transaction. `rejected` is the number of rows that the reading
 * thread refused.
 */
export function storeChunk(
  view: LoadView,
  name: string,
  to: LoadPosition,
  result: BatchResult,
  read: { rejected: number; checksum: number; made: number },
): void {
  const former = readProgress(view, name);
  const { offset, line } = former;
  const { firstId, refused, held, rejects, nodes, edges, vectors, updated } = result;
  const counts = { nodes, edges, vectors, updated, rejected: rejects.length + read.rejected };
  const loaded: LoadedChunk = {
    ...{ from: { offset, line }, to, firstId, made: read.made, counts, refused },
    checksum: read.checksum,
    ...(held.length > 0 && { held }),
    ...(rejects.length > 0 && { rejects: packRejects(rejects) }),
  };
  put(view, chunkKey(digestOf(name), former.pieces), loaded);
  put(view, progressKey(digestOf(name)), changed(former, to, counts, 1));
}

/** Returns the progress with a chunk added or subtracted. */
function changed(
  former: LoadProgress,
  to: LoadPosition,
  counts: LoadCounts,
  by: 1 | -1,
): LoadProgress {
  return {
    ...to,
    nodes: former.nodes + by * counts.nodes,
    edges: former.edges + by * counts.edges,
    vectors: former.vectors + by * counts.vectors,
    updated: (former.updated ?? 0) + by * (counts.updated ?? 0),
    rejected: former.rejected + by * counts.rejected,
    pieces: former.pieces + by,
  };
}

/** Replaces the record of a chunk that is partly rolled back. */
export const rewriteChunk = (
  view: LoadView,
  name: string,
  chunk: number,
  loaded: LoadedChunk,
): void => put(view, chunkKey(digestOf(name), chunk), loaded);

/** Removes the record of the last chunk after its rollback. The load now ends before it. */
export function deleteChunk(
  view: LoadView,
  name: string,
  chunk: number,
  { from, counts }: LoadedChunk,
): void {
  const digest = digestOf(name);
  view.deleteDerived(chunkKey(digest, chunk));
  put(view, progressKey(digest), changed(readProgress(view, name), from, counts!, -1));
}

/** Records the files of a load. */
export const noteFiles = (view: LoadView, name: string, files: readonly LoadedFile[]): void =>
  view.putDerived(filesKey(digestOf(name)), packFiles(files));

/** Continues a started or finished load under another name. The former name no longer exists. */
export function takeOverLoad(view: LoadView, former: Uint8Array, name: string): void {
  const { end: _, ...progress } = readProgress(view, former);
  const digest = digestOf(name);
  for (let chunk = 0; chunk < progress.pieces; chunk++) {
    const value = view.getDerived(chunkKey(former, chunk));
    if (value) view.putDerived(chunkKey(digest, chunk), value);
  }
  for (const { key, value } of [...view.scanDerived(...undoRange(former))]) {
    const own = key.slice();
    own.set(digest, 2);
    view.putDerived(own, value);
    view.deleteDerived(key);
  }
  put(view, progressKey(digest), progress);
  deleteProgress(view, former);
}

function put(view: LoadView, key: Uint8Array, value: object): void {
  view.putDerived(key, encoder.encode(JSON.stringify(value)));
}

/** Records that a load has finished. It replaces the oldest such record beyond the limit. */
export function noteEnd(view: LoadView, name: string, end: LoadEnd): void {
  put(view, progressKey(digestOf(name)), { ...readProgress(view, name), end });
  const count = view.getDerived(endKey());
  const ended = count === undefined ? 0 : getWord(count, 0);
  const slot = endKey(ended % namesMax);
  const oldest = view.getDerived(slot);
  if (oldest !== undefined) deleteProgress(view, oldest);
  view.putDerived(slot, digestOf(name));
  const next = new Uint8Array(4);
  putWord(next, 0, (ended + 1) >>> 0);
  view.putDerived(endKey(), next);
}

/** Deletes the records of a load that no client will ask for again. */
export const deleteLoad = (view: LoadView, name: string): void =>
  deleteProgress(view, digestOf(name));

function deleteProgress(view: LoadView, digest: Uint8Array): void {
  const { pieces: count } = readProgress(view, digest);
  for (let chunk = 0; chunk < count; chunk++) view.deleteDerived(chunkKey(digest, chunk));
  for (const { key } of [...view.scanDerived(...undoRange(digest))]) view.deleteDerived(key);
  view.deleteDerived(filesKey(digest));
  view.deleteDerived(progressKey(digest));
}
