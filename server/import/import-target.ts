// Where an import writes its rows to: the data directory itself, or a running server.

/** What both ways of importing offer. */
export interface ImportTarget {
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
  readonly nodes: number;
  readonly edges: number;
  readonly vectors: number;
  /** How many of these changed an element that was there. */
  readonly updated: number;
  readonly rejected: number;
  readonly resumed: number;
  /** The line of the stream up to which everything is done; 0 where that is not known. */
  readonly doneLine: number;
  /** Whether anything is known of the data: a server has not answered yet, or is none. */
  readonly isHeard: boolean;
  /** Everything was loaded by an earlier import: the counts are those of that time. */
  readonly repeated: boolean;
}
