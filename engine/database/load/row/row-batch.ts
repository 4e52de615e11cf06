// Rows of a bulk load on their way from the thread that read them to the writer: decoded, checked
// against their types, and already in the form of records. What only the writer can know, ids and
// the ids of ends, is left blank and filled in there.
//
//   heads     7 numbers per row: label · name · from · to · record start · record end · line
//   name      ordinal of the row's temporary name, 0 without one
//   from, to  of edges: above 0 the ordinal of a temporary name, below 0 ~k for `ends[16 k]`, up to
//             -keyBase for the element that has the value whose list is under key -keyBase - it
//   bytes     records (record.ts) with blank uuids and ends and with room for a checksum behind them,
//             keys of index entries (index-key.ts) between them
//   entries   4 numbers per index entry: row · place of its property · key start · key end
//
// Invariant: entries, vectors, ids and documents are in the order of rows.
import type { ErrorData } from '../../../base/errors.js';
import type { TermBatch } from './term-batch.js';

export const rowWords = 7;
export const entryWords = 4;

/** Ends from here downwards are keys of unique values. */
export const keyBase = 2 ** 40;

/** A row that is not loaded, and why. */
export interface Reject {
  /** Counted from 1 in its file. */
  line: number;
  error: ErrorData;
}

/** A text whose embedding becomes the vector of a row. */
export interface RowText {
  /** Vector type, which may have a model of its own. */
  type: string;
  text: string;
}

export interface RowBatch {
  count: number;
  heads: Float64Array<ArrayBuffer>;
  bytes: Uint8Array<ArrayBuffer>;
  entries: Int32Array<ArrayBuffer>;
  /** [row, first number, length] per vector row; ~k for the first number: `embedded[k]`. */
  vectorHeads: Int32Array<ArrayBuffer>;
  vectors: Float64Array<ArrayBuffer>;
  /** Texts to embed before the rows go to the writer. */
  texts: RowText[];
  /** An error stands for a text that was refused. */
  embedded: (Float64Array | ErrorData)[];
  /** Elements that ends name by their own id, 16 bytes each. */
  ends: Uint8Array;
  /** Keys of index lists, end to end, by which ends are found, and where each ends. */
  keys: Uint8Array<ArrayBuffer>;
  keyEnds: Uint32Array<ArrayBuffer>;
  /**
   * Rows that change the element that has their value, where there is one: [row, place of that
   * property, n, n places of properties that the row gives, ...].
   */
  upserts: Int32Array<ArrayBuffer>;
  /** Rows that bring their own id, and the ids, 16 bytes each. */
  ownRows: Uint32Array<ArrayBuffer>;
  ownIds: Uint8Array;
  terms: TermBatch;
  /** [row, terms in its document] of rows with a keyword document. */
  documents: Uint32Array<ArrayBuffer>;
  rejects: Reject[];
  /** Rows that were put aside before, by their lines: their texts are in no piece any more. */
  retried: RetriedRow[];
}

export interface RetriedRow {
  line: number;
  text: Uint8Array;
}

/** What has become of a batch. */
export interface BatchResult {
  nodes: number;
  edges: number;
  vectors: number;
  /** How many of them changed an element that was there. */
  updated: number;
  /** Dense id of the first element that was made; those of the others follow without gaps. */
  firstId: number;
  /** Rows that made no element: they were not accepted, or changed one; ascending. */
  refused: number[];
  /** [ordinal of a name, dense id, ...] of rows that changed an element. */
  held: number[];
  rejects: Reject[];
}
