// Records the progress of a bulk load, in the store and in the transactions of its data. An interrupted load
// continues after its last committed chunk, and finds the elements that the temporary names of earlier rows
// refer to. A finished load is known by its name, so that a client that missed the response can ask again.
//
// Invariant: the record of a chunk is written in the transaction of the chunk, and the end of the load in the
// transaction of its last chunk.
import type { ReadView } from '../../storage/table/view-types.js';
import { digestOf, progressKey } from './load-key.js';

/** A position between two rows of a load. All files of a load form one stream. */
export interface LoadPosition {
  /** Bytes before the position. */
  offset: number;
  /** Number of the next line, starting at 1. */
  line: number;
}

export interface LoadCounts {
  nodes: number;
  edges: number;
  vectors: number;
  /** Number of rows that changed an existing element. Absent when there are none. */
  updated?: number;
  rejected: number;
}

export interface LoadProgress extends LoadPosition, LoadCounts {
  pieces: number;
  /** Set when the load has finished. */
  end?: LoadEnd;
}

/** The last part of a stream that was sent in parts. A stream in one part is its own last part. */
export interface StreamPart {
  /** Bytes of the stream before the part. */
  at: number;
  bytes: number;
  checksum: number;
}

export interface LoadEnd {
  part?: StreamPart;
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

const decoder = new TextDecoder();

type Derived = Pick<ReadView, 'getDerived'>;

export function readNote<T>(view: Derived, key: Uint8Array): T | undefined {
  const bytes = view.getDerived(key);
  return bytes && (JSON.parse(decoder.decode(bytes)) as T);
}

/** Finds the progress by name, or by the digest of the name. */
export function readProgress(view: Derived, name: string | Uint8Array): LoadProgress {
  const digest = typeof name === 'string' ? digestOf(name) : name;
  return readNote<LoadProgress>(view, progressKey(digest)) ?? noProgress;
}
