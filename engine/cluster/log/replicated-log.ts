// Defines the interface of a replicated log, the base of the cluster. Each driver implements it; no other
// code depends on a specific driver.
// Invariant: only `append` is linearizable. The results of `first`, `last` and the other reads may be stale,
// and no decision relies on them.

/**
 * - `ok`: durable on a majority, at exactly `after + 1`.
 * - `behind`: another message is stored there; final.
 * - `unknown`: the message may be stored now, later, or never. Append it again.
 */
export type Appended = 'ok' | 'behind' | 'unknown';

export interface Logged {
  seq: number;
  /** Has its own memory, so that the reader can transfer it to another thread. */
  bytes: Uint8Array;
}

export type OnContact = (hasMore?: boolean) => void;

export interface ReplicatedLog {
  /** Maximum bytes of one message. */
  readonly maxBytes: number;
  /**
   * Appends at exactly `after + 1`. The caller may repeat it with the same arguments: the log never stores
   * the message twice, and returns `ok` if an earlier try stored it. Fails LOG_FULL when the log has no
   * space. Then this try appended nothing, but an earlier try that ended `unknown` may have.
   */
  append(bytes: Uint8Array, after: number, id: string): Promise<Appended>;
  /**
   * Yields all messages from sequence `from` on, in order, without gaps and without end. It waits at the end
   * of the log, and while the log cannot be reached. It calls `onContact` at every sign of life of the log,
   * with or without messages. The argument `hasMore` is true if the log holds, or may hold, more than was
   * yielded.
   *
   */
  read(from: number, onContact: OnContact): AsyncIterable<Logged>;
  /**
   * Reads the message at `seq` from the log as it is now, not from a reader's buffer. Returns undefined when
   * there is none or no server responds.
   */
  at(seq: number): Promise<Uint8Array | undefined>;
  /** Sequence of the oldest stored message. May be stale. */
  first(): Promise<number>;
  /** Sequence of the newest message, 0 when the log is empty. May be stale. */
  last(): Promise<number>;
  /** Bytes of all stored messages. May be stale. */
  size(): Promise<number>;
  /**
   * Deletes the messages before `upTo`. Their sequences are never reused. The message at `upTo` stays: a node
   * that has followed up to there uses it to verify that the log is its own.
   */
  trim(upTo: number): Promise<void>;
  close(): Promise<void>;
}

/** State of a log before a node uses it. */
export interface LogStatus {
  exists: boolean;
  /** True if every server syncs what it acknowledges. Undefined when the servers cannot be asked. */
  durable: boolean | undefined;
  /** Why the log is not durable, or how this was determined. */
  note: string;
}

/** A driver opens the log at an address. */
export interface LogDriver {
  /**
   * Fails LOG_UNAVAILABLE when the log cannot be reached, LOG_LOST when it does not exist. It never creates a
   * log.
   */
  open(address: LogAddress): Promise<ReplicatedLog>;
  /**
   * Creates an empty log. Fails LOG_UNSAFE when it would not be durable, CONFIG_INVALID when it already
   * exists.
   */
  create(address: LogAddress): Promise<void>;
  look(address: LogAddress): Promise<LogStatus>;
}

export interface LogAddress {
  /** `nats://a:4222,b:4222` or `s3://bucket/prefix`. */
  url: string;
  /** Name of the log. Each database has one. */
  name: string;
  /** File with the credentials for the log. */
  tokenFile?: string;
  tls?: { ca?: string; cert?: string; key?: string };
  /** Bytes of entries to keep. The log refuses appends at twice this size. */
  keepBytes: number;
  /** The operator confirms that the log is durable, or may lose acknowledged entries. */
  allowLazy?: boolean;
}
