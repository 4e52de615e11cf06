// The stored records of the chunks of a load: the result of their rows. With them, an interrupted load finds
// the elements of names again, reports the refused rows again, and can be rolled back.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ReadView } from '../../storage/table/view-types.js';
import { digestOf, chunkKey } from './load-key.js';
import { type LoadCounts, type LoadPosition, readNote, readProgress } from './load-progress.js';
import type { Reject } from './row/row-batch.js';

type Derived = Pick<ReadView, 'getDerived'>;

/** Record of a committed chunk and of the result of its rows. */
export interface LoadedChunk {
  from: LoadPosition;
  to: LoadPosition;
  firstId: number;
  /** Number of its elements that exist, from `firstId` on. Absent in records of earlier versions. */
  made?: number;
  /** What the chunk added to the counts of the load. Absent in the same records as `made`. */
  counts?: LoadCounts;
  /** True while the chunk is being rolled back: only a part of its elements is left. */
  isLeaving?: boolean;
  /** Rows that the writer refused, packed. Absent when there are none. */
  rejects?: string;
  refused: number[];
  /**
   * [ordinal of a name, dense id, ...] of rows that changed an existing element. Absent when there are none.
   */
  held?: number[];
  /** Checksum of its bytes. A client that sends the chunk again must send the same bytes. */
  checksum: number;
}

/** Compresses well: rows that are refused in great numbers usually have the same error. */
export const packRejects = (rejects: readonly Reject[]): string =>
  deflateRawSync(JSON.stringify(rejects), { level: 1 }).toString('base64');

/** Returns the rows of a chunk that the writer refused. */
export function rejectsOf({ rejects }: LoadedChunk): Reject[] {
  if (rejects === undefined) return [];
  return JSON.parse(inflateRawSync(Buffer.from(rejects, 'base64')).toString()) as Reject[];
}

/** Returns the committed chunks of a load, in order. */
export function readChunks(view: Derived, name: string | Uint8Array): LoadedChunk[] {
  const chunks: LoadedChunk[] = [];
  const digest = typeof name === 'string' ? digestOf(name) : name;
  const { pieces: count } = readProgress(view, digest);
  for (let index = 0; index < count; index++) {
    chunks.push(readNote<LoadedChunk>(view, chunkKey(digest, index))!);
  }
  return chunks;
}

export const readChunk = (view: Derived, name: string, chunk: number): LoadedChunk | undefined =>
  readNote<LoadedChunk>(view, chunkKey(digestOf(name), chunk));
