// The keyword documents of a batch (row-batch.ts) by term, as they go to the writer.

/**
 * Postings of all terms of a batch, by label and term. Flat: an object per term would cost the way to
 * the writer more than the term itself.
 */
export interface TermBatch {
  /** 3 numbers per term: label · end of its name · end of its postings. */
  heads: Uint32Array<ArrayBuffer>;
  /** Terms as they stand in keys, end to end. */
  names: Uint8Array<ArrayBuffer>;
  /** [row, frequency, row, frequency, ...], of each term by ascending row. */
  postings: Uint32Array<ArrayBuffer>;
}

export const termWords = 3;
