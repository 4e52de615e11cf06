// Defines the cluster options of a database. The code that reads configurations defines the defaults and
// checks the ranges.

export type ReadMode = 'local' | 'session' | 'strong';

/**
 * The option `cluster` of `open`, of which `log`, `node` and `advertise` are needed.
 *
 * @example
 * const cluster: Partial<ClusterOptions> = { log: 'nats://a:4222', node: 'a', advertise: 'http://a:6969' };
 */
export interface ClusterOptions {
  /**
   * Address of the log: `nats://a:4222,b:4222`, `tls://…`, `s3://bucket/prefix` (experimental), or a module
   * of a driver.
   */
  log: string;
  /** Name of the log. Default: the name of the database. */
  name?: string;
  /** Name of this process, unique in the cluster. */
  node: string;
  /** Address at which the other nodes reach this node. */
  advertise: string;
  /** A `reader` never leads. */
  role: 'member' | 'reader';
  /** Milliseconds of silence in the log after which a member tries to lead. */
  leaseMs: number;
  /** Maximum milliseconds that the writer waits for one entry. */
  appendTimeoutMs: number;
  /** Maximum milliseconds that a read waits for a position, and a write for a leader. */
  waitMs: number;
  /** A node with a larger lag, in milliseconds, is not ready. */
  maxLagMs: number;
  /** Milliseconds for which the log is kept for absent nodes, as far as `keepBytes` allows. */
  keepMs: number;
  /** Bytes of entries to keep for absent nodes. The log refuses appends at twice this size. */
  keepBytes: number;
  /** For a schema change with more bytes of changes, each node makes the changes itself. */
  schemaBytes: number;
  /** Vector types without an index on this node, which must be a reader. The node does not search them. */
  skipVectors?: string[];
  /**
   * Secrets that only the nodes know, oldest first. Entries are signed with the newest secret that all nodes
   * know. Without secrets, entries are not signed.
   */
  secrets?: readonly string[];
  /** File with the credentials for the log. */
  tokenFile?: string;
  /** `ca`: CA file that verifies the log servers, or `system` for the authorities that Node trusts. */
  tls?: { ca?: string; cert?: string; key?: string };
}

/**
 * Sources of a program in the form that is sent to other nodes. It contains everything on which a compilation
 * depends.
 */
export interface SourceArchive {
  compat: boolean;
  /** Vector types that are sharded over several databases. */
  scattered?: string[];
  /** In a database that holds a shard: the sharded type. */
  shard?: string;
  sources: { path: string; text: string }[];
}
