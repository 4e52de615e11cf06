// Interface to which an import writes its rows: the data directory, or a running server.

/** Methods of both targets. */
export interface ImportTarget {
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
  readonly nodes: number;
  readonly edges: number;
  readonly vectors: number;
  /** Number of these rows that changed an existing element. */
  readonly updated: number;
  readonly rejected: number;
  readonly resumed: number;
  /** Line of the stream up to which everything is loaded; 0 if unknown. */
  readonly doneLine: number;
  /** Whether the state of the data is known. It is not until the server has responded. */
  readonly hasListener: boolean;
  /** True if an earlier import loaded everything. The counts are those of that import. */
  readonly repeated: boolean;
}
