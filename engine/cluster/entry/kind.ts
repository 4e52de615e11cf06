// Lists the kinds of entries and their flags. A newer version may write other kinds. A node stops before an
// entry of an unknown kind.

export const entryKind = {
  /** The changes of a transaction. */
  changes: 1,
  /** A node begins to lead. */
  epoch: 2,
  /** The leader is alive; nothing changed. */
  beat: 3,
  /** Sources or keys, together with the changes that they caused. */
  schema: 4,
  /** Hashes of the leader's tables at this position. Nothing was written between the reads and this entry. */
  check: 5,
  /** Every node may take a snapshot here, or learns the result of a check (check-mark.ts). */
  mark: 6,
  /** Names the database of the log. It is the first entry. */
  genesis: 7,
  /** A schema change that every node makes for itself, because its changes are too large to send. */
  intent: 8,
} as const;

/** The body is deflated. */
export const deflatedFlag = 1;
