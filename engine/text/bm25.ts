// BM25 (S. Robertson, H. Zaragoza, "The probabilistic relevance framework", 2009, section 3.4) with
// k1 = 1.2 and b = 0.75, and the idf that is never negative (helixql.md 3.15).

const k1 = 1.2;
const b = 0.75;

/** Counts of one label. */
export interface CollectionStats {
  documents: number;
  /** Terms of all documents together. */
  length: number;
}

/** Weight of a term that `df` of the documents hold. */
export function idf(df: number, totals: CollectionStats): number {
  return Math.log(1 + (totals.documents - df + 0.5) / (df + 0.5));
}

/**
 * What a term of weight `weight` adds to the score of a document: rises with frequency, falls with
 * length.
 */
export function termScore(
  weight: number,
  frequency: number,
  length: number,
  averageLength: number,
): number {
  const norm = k1 * (1 - b + (b * length) / averageLength);
  return (weight * frequency * (k1 + 1)) / (frequency + norm);
}
