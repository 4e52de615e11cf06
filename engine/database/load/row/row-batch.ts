// Defines a batch of rows of a bulk load, which the reading thread sends to the writer. The rows are decoded,
// checked against their types, and already in record format. Only the writer knows ids and the ids of
// endpoints; these are left blank and filled in by the writer.
//
//   heads     7 numbers per row: label · name · from · to · record start · record end · line
//   name      ordinal of the row's temporary name, 0 without one
//   from, to  edges: above 0 the ordinal of a temporary name, below 0 ~k for `ends[16 k]`, up to
//             -keyBase for the element that has the value whose list is under key -keyBase - it
//   bytes     records (record.ts) with blank uuids and endpoints and with space for a checksum after
//             them, keys of index entries (index-key.ts) between them
//   entries   4 numbers per index entry: row · index of its property · key start · key end
//
// Invariant: entries, vectors, ids and documents are in the order of rows.
import type { ErrorData } from '../../../base/errors.js';
import type { TermBatch } from '../../../text/term-batch.js';

export const rowWords = 7;
export const entryWords = 4;

/** Endpoints from here downwards are keys of unique values. */
export const keyBase = 2 ** 40;

/** A row that was not loaded, and its error. */
export interface Reject {
  /** Line number in its file, starting at 1. */
  line: number;
  error: ErrorData;
}

/** A text whose embedding becomes the vector of a row. */
export interface RowText {
  /** Vector type, which may have its own model. */
  type: string;
  text: string;
}

export interface RowBatch {
  count: number;
  heads: Float64Array<ArrayBuffer>;
  bytes: Uint8Array<ArrayBuffer>;
  entries: Int32Array<ArrayBuffer>;
  /** [row, first number, length] per vector row; ~k in place of the first number refers to `embedded[k]`. */
  vectorHeads: Int32Array<ArrayBuffer>;
  vectors: Float64Array<ArrayBuffer>;
  /** Texts to embed before the rows go to the writer. */
  texts: RowText[];
  /** An error in place of a vector marks a text that was refused. */
  embedded: (Float64Array | ErrorData)[];
  /** Elements that endpoints name by their own id, 16 bytes each. */
  ends: Uint8Array;
  /** Keys of index lists by which endpoints are found, concatenated, and the end of each. */
  keys: Uint8Array<ArrayBuffer>;
  keyEnds: Uint32Array<ArrayBuffer>;
  /**
   * Rows that change the existing element with their value: [row, index of that property, n, n indexes of
   * properties in the row, ...].
   */
  upserts: Int32Array<ArrayBuffer>;
  /** Rows with their own id, and the ids, 16 bytes each. */
  ownRows: Uint32Array<ArrayBuffer>;
  ownIds: Uint8Array;
  terms: TermBatch;
  /** [row, number of terms in its document] of rows with a keyword document. */
  documents: Uint32Array<ArrayBuffer>;
  rejects: Reject[];
  /**
   * Deferred rows, with their lines and texts, because no chunk in memory contains their texts any longer.
   */
  retried: RetriedRow[];
}

export interface RetriedRow {
  line: number;
  text: Uint8Array;
}

/** Result of writing one batch. */
export interface BatchResult {
  nodes: number;
  edges: number;
  vectors: number;
  /** Number of rows that changed an existing element. */
  updated: number;
  /** Dense id of the first created element. The others follow consecutively. */
  firstId: number;
  /** Rows that created no element, because they were refused or changed one. Ascending. */
  refused: number[];
  /** [ordinal of a name, dense id, ...] of rows that changed an element. */
  held: number[];
  rejects: Reject[];
}
