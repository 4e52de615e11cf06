// What a bulk load has done, kept in the store beside what it loaded and in the same transaction: a
// load that was cut short goes on where its last committed piece ended, and finds again what the
// temporary names of earlier rows stand for; one that is over is known by its name, so that a client
// which did not hear the answer may ask again.
//
// Invariant: what is noted of a piece is noted in its transaction, that the load is over in that of
// its last piece.
import type { ReadView } from '../../storage/table/view-types.js';
import { digestOf, progressKey } from './load-key.js';

/** A place between two rows of a load: all of its files are one stream. */
export interface LoadPosition {
  /** Bytes before it. */
  offset: number;
  /** Number of the next line, from 1. */
  line: number;
}

export interface LoadCounts {
  nodes: number;
  edges: number;
  vectors: number;
  /** How many of these changed an element that was there; absent for none. */
  updated?: number;
  rejected: number;
}

export interface LoadProgress extends LoadPosition, LoadCounts {
  pieces: number;
  /** The load is over. */
  end?: LoadEnd;
}

/** The last of the parts in which a stream came, as the whole of it where it came in one. */
export interface StreamPart {
  /** Bytes of the stream before it. */
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

/** By name, or by what stands for it. */
export function readProgress(view: Derived, name: string | Uint8Array): LoadProgress {
  const digest = typeof name === 'string' ? digestOf(name) : name;
  return readNote<LoadProgress>(view, progressKey(digest)) ?? noProgress;
}
