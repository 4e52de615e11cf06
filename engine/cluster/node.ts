// Defines a node of a cluster as the main thread sees it: who leads, how far this node is, and what callers
// can request.
// Invariant: nothing here decides who may write. The log decides that with its response to the next append.
import type { ErrorData } from '../base/errors.js';
import type { ClusterSample } from './families.js';

/**
 * - `joining`: the node has not received anything from the log yet.
 * - `follower`, `leader`.
 * - `lost`: the node has left the cluster; `fault` has the reason. It still serves reads.
 */
export type ClusterRole = 'joining' | 'follower' | 'leader' | 'lost';

/**
 * Position of a node in the log. Printed as `epoch.seq`.
 *
 * @example
 * const position: ClusterPosition = db.cluster.position; // { epoch: 1, seq: 42 }
 */
export interface ClusterPosition {
  epoch: number;
  seq: number;
}

export const printPosition = ({ epoch, seq }: ClusterPosition): string => `${epoch}.${seq}`;

/** A leader, as its epoch entry names it. */
export interface ClusterLeader {
  node: string;
  /** Address that the leader advertises. */
  address: string;
}

/** A node that needs the log after a position. */
export interface ReplicationSlot {
  node: string;
  seq: number;
}

/** Result of a node when all nodes compare their tables. */
export interface Compared {
  /** Id of the comparison. */
  check: string;
  position: ClusterPosition;
  /** Tables whose content differs from the leader's. */
  other: string[];
}

export interface RoleChange {
  role: ClusterRole;
  leader: ClusterLeader | undefined;
  position: ClusterPosition;
  /** Why the role or the leader changed. These are values of the metric `cluster_leader_changes_total`. */
  reason: 'opened' | 'promoted' | 'deposed' | 'stepped_down' | 'unknown_append' | 'fault' | 'heard';
}

/**
 * This process as a node of its cluster: `db.cluster`.
 *
 * @example
 * const node: ClusterNode | undefined = db.cluster;
 * if (node?.role === 'follower') console.log(node.leader?.address, node.lagMs);
 */
export interface ClusterNode {
  /** Name of the replicated log. */
  readonly name: string;
  /** Name of this node. */
  readonly node: string;
  readonly role: ClusterRole;
  /**
   * Hash of the sources that serve on this node, 16 hexadecimal digits. Equal on all nodes with the same
   * sources.
   */
  readonly program: string;
  /** The leader, which can be this node. Undefined while no leader is known. */
  readonly leader: ClusterLeader | undefined;
  /** Position of the last entry whose changes every read of this node sees. */
  readonly position: ClusterPosition;
  /** Milliseconds since this node was last known to have applied everything in the log; 0 on the leader. */
  readonly lagMs: number;
  /** True if this node has ever caught up. Before that, `lagMs` counts from the start of the node. */
  readonly hasCaughtUp: boolean;
  /** Milliseconds since the last sign of life of the log. */
  readonly silenceMs: number;
  /**
   * Error that limits this node: LOG_LOST, LOG_TRUNCATED, SCHEMA_AHEAD, DIVERGED, LOG_UNAVAILABLE, NODE_LEFT,
   * NODE_NAME_TAKEN or NODE_DIFFERS. Undefined when the node is healthy.
   */
  readonly fault: ErrorData | undefined;
  /** True if the lag is below `maxLagMs` and there is no fault. /readyz reports this value. */
  readonly isReady: boolean;
  /**
   * Error of a write on this node: NOT_LEADER, NO_LEADER, LOG_UNAVAILABLE or the fault. Undefined on the
   * leader.
   */
  readonly refusal: ErrorData | undefined;
  /**
   * Returns true if every read of this node sees the entry at that position of the log to which the data
   * belong. A log that lost its end has other entries at the same sequences. Returns false while the log is
   * not verified as the log of these data.
   */
  hasApplied(position: ClusterPosition): boolean;
  /**
   * Resolves when every read of this node sees the entry at that position. Fails REPLICA_BEHIND after `ms`.
   */
  waitFor(position: ClusterPosition, ms: number): Promise<void>;
  /**
   * Records that this node has returned to its clients a response at this position, from another node. Later
   * reads of this node must not be older. The node keeps the furthest of these positions while the data are
   * open.
   */
  noteAnswered(position: ClusterPosition): void;
  /** The furthest noted position, while reads of this node do not see it yet. Undefined when they do. */
  readonly owed: ClusterPosition | undefined;
  /** Resolves with the leader when one is known, or with undefined after `ms`. */
  waitForLeader(ms: number): Promise<ClusterLeader | undefined>;
  /**
   * Returns a position at or after all writes that were acknowledged before the call. The leader appends one
   * beat entry for all waiting callers. Fails NOT_LEADER on other nodes; they ask the leader and wait for its
   * position.
   */
  readBarrier(ms: number): Promise<ClusterPosition>;
  /** Hands the lead over to `to`, or to the first node that claims it. Fails NOT_LEADER. */
  stepDown(to?: ClusterLeader): Promise<ClusterPosition>;
  /**
   * Makes every node compare its tables with those of the leader at one position; see `onCompared`. Resolves
   * when the leader has read its own tables, while writes continue. Fails NOT_LEADER.
   */
  check(): Promise<Omit<Compared, 'other'>>;
  /**
   * Calls `listener` with this node's result of each comparison. Returns a function that removes the
   * listener. A node whose tables differ leaves the cluster: DIVERGED.
   */
  onCompared(listener: (result: Compared) => void): () => void;
  /** Settings of the cluster, as far as this node has received them. Undefined when there are none yet. */
  settings(): Uint8Array | undefined;
  /** Replaces the settings on all nodes. Fails NOT_LEADER, or with the error of a write. */
  setSettings(settings: Uint8Array): Promise<ClusterPosition>;
  /**
   * Position that the disk of this node has reached at least. Every copy of its data is at or after this
   * position.
   */
  readonly durable: ClusterPosition;
  /**
   * Id of the key that signed the entry at the position, one of `keys`. Undefined while the log is not
   * signed.
   */
  readonly signedBy: number | undefined;
  /** Ids of the secrets that this node knows, oldest first. */
  readonly keys: readonly number[];
  /**
   * Reports that a node has everything up to `seq`. The leader then keeps the log after `seq` for that node.
   * Undefined means that the node no longer needs the log. `keys` are the ids of the secrets that the node
   * knows; the leader signs only with a key that all these nodes know.
   */
  claim(node: string, seq: number | undefined, keys?: readonly number[]): void;
  /** Asks the leader to keep the log from these positions on, for backups, as far as `keepBytes` allows. */
  keepFrom(marks: readonly number[]): void;
  /** Sets an error of this node that does not concern the log, or clears it with undefined. */
  setFault(error: ErrorData | undefined): void;
  /** Leaves the cluster because of this fault. Reads continue, and `fault` has the reason. */
  fail(error: ErrorData): void;
  /** Leaves the cluster, after handing over the lead. The fault becomes NODE_LEFT, and reads continue. */
  leave(): Promise<void>;
  /** Deletes the log up to `upTo`, never beyond what the disk of this node has. Fails NOT_LEADER. */
  trim(upTo: number): Promise<void>;
  /** Range and size of the log. May be stale. */
  look(): Promise<{ first: number; last: number; bytes: number; claims: ReplicationSlot[] }>;
  /** Calls `listener` at every change of role or leader. Returns a function that removes the listener. */
  onChange(listener: (change: RoleChange) => void): () => void;
  /** Samples for /metrics. All names begin with `cluster_`. */
  metrics(): ClusterSample[];
}
