// Kinds of entries and their flags. A kind that stands not here is of a newer version: whoever meets
// it stops before it.

export const entryKind = {
  /** What a transaction changed. */
  changes: 1,
  /** A node begins to lead. */
  epoch: 2,
  /** The leader lives, and nothing changed. */
  beat: 3,
  /** Sources or keys, with what changed by them. */
  schema: 4,
  /** What the leader's tables hold here, where nothing was written since they were read. */
  check: 5,
  /** Every node may take a snapshot here, or is told what came of one (check-mark.ts). */
  mark: 6,
  /** Which database the log is of: its first entry. */
  genesis: 7,
  /** A change of the schema that every node makes for itself: too much of it to be sent. */
  intent: 8,
} as const;

/** The body is deflated. */
export const deflatedFlag = 1;
