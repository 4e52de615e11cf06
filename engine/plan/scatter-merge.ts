// How the answers of the databases that a type is divided over become one answer. Plain data, made by the
// compiler and carried out by whoever asks the shards.

/** How one member of the answer is made of what the shards say. */
export type MergedMember =
  /** Any shard's: it depends on no data. */
  | { kind: 'same'; key: string }
  | {
      kind: 'hits';
      key: string;
      /** Ranked lists that it is made of. */
      lists: number;
      rank: 'score' | 'rerank' | 'fuse';
      /** Of lists ranked anew: names of the members of an item, in order; `score` is made here. */
      parts?: readonly { name: string; isScore: boolean }[];
    };

/** A text that is embedded once for all shards, which get its vector as a parameter. */
export interface EmbeddedText {
  /** Of the shards. */
  vector: string;
  /** The vector type whose model it is, where one is known. */
  type?: string;
  /** Of the query, whose value is the text. */
  parameter?: string;
  /** The text itself, or where there is no parameter. */
  text?: string;
}

export type Merge =
  /** One shard has it all: that of the id in this parameter, or any for a new element. */
  | { kind: 'one'; id?: string }
  | {
      kind: 'all';
      members: MergedMember[];
      texts: EmbeddedText[];
      /** Parameter of the shards that is their NOW, of a query that speaks of it. */
      moment?: string;
      model?: string;
    };
