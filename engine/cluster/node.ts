// One database's place in its cluster, as the thread that serves sees it: who leads, how far this node is,
// and what can be asked of it. Invariant: nothing here decides who may write; that is the log's answer
// to the next append (cluster.md 6).
import type { ErrorData } from '../base/errors.js';
import type { ClusterSample } from './families.js';

/**
 * `joining`: the log has not been heard yet · `follower` · `leader` · `lost`: this node takes no part any more,
 * `fault` says why; it answers reads.
 */
export type ClusterRole = 'joining' | 'follower' | 'leader' | 'lost';

/** A token of how far a node is; printed `epoch.seq`. */
export interface ClusterPosition {
  epoch: number;
  seq: number;
}

export const printPosition = ({ epoch, seq }: ClusterPosition): string => `${epoch}.${seq}`;

/** A node that leads, as its epoch entry names it. */
export interface ClusterLeader {
  node: string;
  /** What it advertises. */
  address: string;
}

/** Who needs the log, behind which position. */
export interface ReplicationSlot {
  node: string;
  seq: number;
}

/** What a node has found where all were asked to compare. */
export interface Compared {
  /** The name of the comparison. */
  check: string;
  position: ClusterPosition;
  /** Tables that do not hold what the leader's hold. */
  other: string[];
}

export interface RoleChange {
  role: ClusterRole;
  leader: ClusterLeader | undefined;
  position: ClusterPosition;
  /** In the words of the metric `cluster_leader_changes_total`: why it has changed. */
  reason: 'opened' | 'promoted' | 'deposed' | 'stepped_down' | 'unknown_append' | 'fault' | 'heard';
}

export interface ClusterNode {
  /** Of the log. */
  readonly name: string;
  /** Of this node. */
  readonly node: string;
  readonly role: ClusterRole;
  /** Of the sources that answer here, 16 hexadecimal digits: equal on all nodes with the same ones. */
  readonly program: string;
  /** Who leads, this node included; undefined while nobody is known to. */
  readonly leader: ClusterLeader | undefined;
  /** Of the last entry whose changes every read of this node sees. */
  readonly position: ClusterPosition;
  /** Since this node was last known to have applied all that the log holds; 0 on the leader. */
  readonly lagMs: number;
  /** Whether it ever was: what `lagMs` tells before is how long it is there. */
  readonly hasCaughtUp: boolean;
  /** Since the log was last heard. */
  readonly silenceMs: number;
  /**
   * Why this node is not in order: LOG_LOST, LOG_TRUNCATED, SCHEMA_AHEAD, DIVERGED, LOG_UNAVAILABLE, NODE_LEFT,
   * NODE_NAME_TAKEN, NODE_DIFFERS.
   */
  readonly fault: ErrorData | undefined;
  /** Whether its lag is below `maxLagMs` and nothing is wrong with it: what /readyz says. */
  readonly isReady: boolean;
  /** What a write gets here now: NOT_LEADER, NO_LEADER, LOG_UNAVAILABLE, the fault; undefined on the leader. */
  readonly refusal: ErrorData | undefined;
  /**
   * Whether every read of this node sees the entry at that position, of the log that the data are of: one that lost its
   * end has others there. Of data that the log is not yet known to have, nobody can say.
   */
  hasApplied(position: ClusterPosition): boolean;
  /** Resolves when every read of this node sees the entry at that position. Fails REPLICA_BEHIND after `ms`. */
  waitFor(position: ClusterPosition, ms: number): Promise<void>;
  /**
   * This node has given its clients the answer of a node that was so far: what they read here next is not older. The
   * furthest of these positions is kept for as long as the data are open.
   */
  noteAnswered(position: ClusterPosition): void;
  /** That furthest position, where reads of this node do not see it yet; undefined: they see all. */
  readonly owed: ClusterPosition | undefined;
  /** Resolves with the leader once there is one, undefined after `ms`. */
  waitForLeader(ms: number): Promise<ClusterLeader | undefined>;
  /**
   * A position at or behind all writes that were answered before the call: the leader appends one beat for
   * all who wait. Fails NOT_LEADER on others, who ask the leader and wait for what it says.
   */
  readBarrier(ms: number): Promise<ClusterPosition>;
  /** The leader hands over: to `to`, or to whoever is first. Fails NOT_LEADER. */
  stepDown(to?: ClusterLeader): Promise<ClusterPosition>;
  /**
   * Every node compares its tables, at the position given, with those of the leader, and finds out by itself: see
   * `onCompared`. Resolves when the leader has read its own, beside writes. Fails NOT_LEADER.
   */
  check(): Promise<Omit<Compared, 'other'>>;
  /** Hears what this node has found; gives what stops it. One that differs takes no part any more: DIVERGED. */
  onCompared(listener: (result: Compared) => void): () => void;
  /** What all nodes are to know beside the data, as far as this node has heard; undefined: nothing yet. */
  settings(): Uint8Array | undefined;
  /** The leader has all nodes know it instead. Fails NOT_LEADER, and as writes do. */
  setSettings(settings: Uint8Array): Promise<ClusterPosition>;
  /** As far as the disk of this node is, at least; every copy of its data is. */
  readonly durable: ClusterPosition;
  /** By which key the entry at the position is signed, of `keys`; undefined: the log is not signed yet. */
  readonly signedBy: number | undefined;
  /** The numbers of the secrets that this node knows, oldest first. */
  readonly keys: readonly number[];
  /**
   * That node has all up to `seq`: whoever leads keeps the log for it from there on; undefined: no more. `keys`: of the
   * secrets that it knows; whoever leads signs by none that such a node does not know.
   */
  claim(node: string, seq: number | undefined, keys?: readonly number[]): void;
  /** Whoever leads keeps the log from these positions on, for backups, as far as `keepBytes` allows. */
  keepFrom(marks: readonly number[]): void;
  /** Says that this node is not in order, though the log can be followed; undefined: it is again. */
  setFault(fault: ErrorData | undefined): void;
  /** Takes no part any more: reads go on, and `fault` says why. */
  fail(fault: ErrorData): void;
  /** Takes no part any more, having handed over if it led: its fault is NODE_LEFT, and reads go on. */
  leave(): Promise<void>;
  /** Forgets the log up to `upTo`, never beyond what the disk of this node has. Fails NOT_LEADER. */
  trim(upTo: number): Promise<void>;
  /** What the log keeps; may be stale. */
  look(): Promise<{ first: number; last: number; bytes: number; claims: ReplicationSlot[] }>;
  /** Hears of every change of role and leader; gives what stops it. */
  onChange(listener: (change: RoleChange) => void): () => void;
  /** Numbers for /metrics, all beginning with `cluster_`. */
  metrics(): ClusterSample[];
}
