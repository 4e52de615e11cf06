// Defines how the keyword documents of a batch (row-batch.ts) are sent to the writer, grouped by term.

/**
 * Postings of all terms of a batch, by label and term. The arrays are flat: sending one object per term would
 * cost more than the term itself.
 */
export interface TermBatch {
  /** 3 numbers per term: label · end of its name · end of its postings. */
  heads: Uint32Array<ArrayBuffer>;
  /** Terms in key form, concatenated. */
  names: Uint8Array<ArrayBuffer>;
  /** [row, frequency, row, frequency, ...] of each term, by ascending row. */
  postings: Uint32Array<ArrayBuffer>;
}

export const termWords = 3;
