// What is asked of a replicated log, and all that the cluster is built on. Drivers keep to it; nobody
// else may know which one it is. Invariant: only `append` is linearizable. What `first`, `last` and
// the other looks answer may be stale, and no decision rests on it.

/**
 * ok: durable on a majority, at exactly `after + 1`. behind: something else stands there; final. unknown: it may
 * be there now, or later, or never; append it again.
 */
export type Appended = 'ok' | 'behind' | 'unknown';

export interface Logged {
  seq: number;
  /** In memory of its own: whoever reads it may hand it to another thread. */
  bytes: Uint8Array;
}

export type Heard = (hasMore?: boolean) => void;

export interface ReplicatedLog {
  /** Bytes that one message may have. */
  readonly maxBytes: number;
  /**
   * Appends at exactly `after + 1`. May be repeated with the same arguments: it never appends twice, and
   * says ok where an earlier try was. Fails LOG_FULL where the log has no room: this try appended nothing,
   * which says nothing of an earlier one that ended unknown.
   */
  append(bytes: Uint8Array, after: number, id: string): Promise<Appended>;
  /**
   * All messages from sequence `from` on, in order and without gaps, for ever: it waits at the end, also for a
   * log that cannot be reached. `heard` is called whenever the log gave a sign of life, messages or not; `hasMore`:
   * it holds more than was handed over, or may.
   * Ends when the log is closed. Fails LOG_TRUNCATED where `from` was trimmed, LOG_LOST where the log has
   * a gap, or ends before `from - 1`, was made anew or is gone, and that for longer than any failover takes.
   */
  read(from: number, heard: Heard): AsyncIterable<Logged>;
  /**
   * The message at `seq` as the log has it now, not as a reader once got it. Undefined: there is none, or nobody says.
   */
  at(seq: number): Promise<Uint8Array | undefined>;
  /** Sequence of the oldest message that is kept. May be stale. */
  first(): Promise<number>;
  /** Sequence of the newest message, 0 for none. May be stale. */
  last(): Promise<number>;
  /** Bytes that are kept. May be stale. */
  size(): Promise<number>;
  /**
   * Forgets the messages before `upTo`. Their numbers are never given again, and what stands at `upTo` stays: by
   * it a node that has followed so far knows the log as its own.
   */
  trim(upTo: number): Promise<void>;
  close(): Promise<void>;
}

/** What is known of a log before anybody uses it. */
export interface LogStatus {
  exists: boolean;
  /** Whether every server syncs what it acknowledges; undefined where it cannot be asked. */
  durable: boolean | undefined;
  /** Why it is not, or how it was found out. */
  note: string;
}

/** A driver: the way from an address to a log. */
export interface LogDriver {
  /** Fails LOG_UNAVAILABLE where it cannot be reached, LOG_LOST where there is none; never makes one. */
  open(place: LogPlace): Promise<ReplicatedLog>;
  /** Makes an empty log. Fails LOG_UNSAFE unless it is durable, CONFIG_INVALID where there is one. */
  create(place: LogPlace): Promise<void>;
  look(place: LogPlace): Promise<LogStatus>;
}

export interface LogPlace {
  /** `nats://a:4222,b:4222` or `s3://bucket/prefix`. */
  url: string;
  /** Of the log: one per database. */
  name: string;
  /** The file with the credentials of the log. */
  tokenFile?: string;
  tls?: { ca?: string; cert?: string; key?: string };
  /** Bytes of entries to keep; the log refuses at twice as many. */
  keepBytes: number;
  /** The operator confirms that the log is durable, or may lose what it has acknowledged. */
  allowLazy?: boolean;
}
