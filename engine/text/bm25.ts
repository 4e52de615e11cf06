// Scores with BM25 (S. Robertson, H. Zaragoza, "The probabilistic relevance framework", 2009, section 3.4),
// with k1 = 1.2, b = 0.75 and the idf that is never negative (helixql.md 3.15).

const k1 = 1.2;
const b = 0.75;

/** Counts of one label. */
export interface CollectionStats {
  documents: number;
  /** Sum of the document lengths, in terms. */
  length: number;
}

/** Returns the average length of a document; 1 if all of them have nothing but stop words. */
export const averageLength = ({ documents, length }: CollectionStats): number =>
  length / documents || 1;

/** Returns the weight of a term that `df` documents contain. */
export function idf(df: number, totals: CollectionStats): number {
  return Math.log(1 + (totals.documents - df + 0.5) / (df + 0.5));
}

/**
 * Returns what a term of weight `weight` adds to the score of a document: more with its frequency, less with
 * the length of the document.
 */
export function termScore(
  weight: number,
  frequency: number,
  length: number,
  average: number,
): number {
  const norm = k1 * (1 - b + (b * length) / average);
  return (weight * frequency * (k1 + 1)) / (frequency + norm);
}
