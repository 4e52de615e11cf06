// The constants by which the executor chooses between access paths at run time. The unit of a cost is one
// visit: an element, an edge or an index entry that is read.
//
// Invariant: a constant changes the speed of a plan, never its rows or their order.

export const costModel = {
  /** Visits that any access path may spend before a scan of the type is considered. */
  minPathVisits: 256,
  /** Visits of the scan of the beginning of a type, at least, that estimates the share of matching rows. */
  minSampleVisits: 256,
  /** Product of the estimated visits per element on the access path and on the full scan. */
  visitsPerElementSquared: 32,
  /** An ordered scan ends after this many times the expected number of elements. */
  orderedScanFactor: 8,
  /** Ids of a condition that are always read before an ordered scan is considered. */
  minFilterIds: 64,
  /** Values of a list that are always looked up in the index. */
  minListLookups: 64,
  /** Entries of an index range that are always read before a scan of the type is considered. */
  minRangeEntries: 64,
  /** Entries of an index range that are read before the type is scanned too, for the first rows only. */
  firstRangeEntries: 128,
  /** Elements in the first step of a scan of the type. */
  firstScanElements: 64,
  /** Elements that can be tested in the time of reading one index entry. */
  testsPerEntry: 2,
  /** Visits that the traversal of a semi-join may always spend. */
  semiJoinVisits: 64,
  /** Divisor: the traversal of a semi-join may cost this fraction (1/4) of the evaluations. */
  semiJoinShare: 4,
};
