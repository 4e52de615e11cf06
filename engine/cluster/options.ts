// What a database is told of its cluster when it opens. Owns the meaning of each member; what they are
// by default, and which values are sound, is said where configurations are read.

export type ReadMode = 'local' | 'session' | 'strong';

export interface ClusterOptions {
  /** Address of the log: `nats://a:4222,b:4222`, `tls://…`, `s3://bucket/prefix` (experimental), or a module of a driver. */
  log: string;
  /** Name of the log; that of the database when absent. */
  name?: string;
  /** Of this process, unique in the cluster. */
  node: string;
  /** Where the other nodes reach this one. */
  advertise: string;
  /** A `reader` never leads. */
  role: 'member' | 'reader';
  /** Silence of the log after which a member tries to lead. */
  leaseMs: number;
  /** Longest stall of the writer for one entry. */
  appendTimeoutMs: number;
  /** Longest wait of a read for a position, and of a write for a leader. */
  waitMs: number;
  /** A node that is further behind is not ready. */
  maxLagMs: number;
  /** So long the log is kept for nodes that are away, as far as `keepBytes` allows. */
  keepMs: number;
  /** Bytes of entries to keep for nodes that are away; the log refuses at twice as many. */
  keepBytes: number;
  /** A change of the schema that changes more bytes is made by every node for itself. */
  schemaBytes: number;
  /** Vector types that this node, a reader, keeps no index of and does not search. */
  skipVectors?: string[];
  /**
   * Known to all nodes alone, oldest first: entries are signed by the newest that all of them know. Without one they
   * are not signed.
   */
  secrets?: readonly string[];
  /** The file with the credentials of the log. */
  tokenFile?: string;
  /** `ca`: file of the authority that signs the log's servers, or `system` for the authorities that Node trusts. */
  tls?: { ca?: string; cert?: string; key?: string };
}

/** The sources of a program, as they travel to the other nodes: all that a compilation depends on. */
export interface SourceArchive {
  compat: boolean;
  /** Vector types that are divided over several databases. */
  scattered?: string[];
  /** Of a database that has a share of one: its type. */
  shard?: string;
  sources: { path: string; text: string }[];
}
