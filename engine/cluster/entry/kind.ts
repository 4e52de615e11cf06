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
  /** Every node hashes its tables here. */
  check: 5,
  /** A backup holds this position. */
  mark: 6,
  /** Which database the log is of: its first entry. */
  genesis: 7,
  /** A change of the schema that every node makes for itself: too much of it to be sent. */
  intent: 8,
} as const;

/** The body is deflated. */
export const deflatedFlag = 1;
