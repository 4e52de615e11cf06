// Describes how the results of shards are merged into one reply. Plain data; the compiler makes it,
// and the database that sends the query to the shards applies it.

/** How one member of the reply is computed from the shards' members. */
export type MergedMember =
  /** The value of any shard: it depends on no data. */
  | { kind: 'same'; key: string }
  | {
      kind: 'hits';
      key: string;
      /** Number of ranked lists that the member is merged from. */
      lists: number;
      rank: 'score' | 'rerank' | 'fuse';
      /**
       * For lists that are ranked again: names of the members of an item, in order. The merge
       * computes `score`.
       */
      parts?: readonly { name: string; isScore: boolean }[];
    };

/** A text that is embedded once for all shards. They receive the vector as a parameter. */
export interface EmbeddedText {
  /** Name of the shards' vector parameter. */
  vector: string;
  /** The vector type whose model is used, if known. */
  type?: string;
  /** The vector is searched for, not stored. */
  isQuery?: true;
  /** Parameter of the query that contains the text. */
  parameter?: string;
  /** The text, if no parameter contains it. */
  text?: string;
}

export type Merge =
  /**
   * One shard runs the query: the shard of the id in this parameter, or any shard for a new
   * element.
   */
  | { kind: 'one'; id?: string }
  | {
      kind: 'all';
      members: MergedMember[];
      texts: EmbeddedText[];
      /** Parameter of the shards that is their NOW, for a query that uses NOW. */
      moment?: string;
      model?: string;
    };
