// Defines the messages about the log between the threads of a node. The writer thread commits and applies.
// Only the log thread uses the log. The main thread serves calls.
import type { ErrorData } from '../../base/errors.js';
import type { Entry } from '../entry/decode-entry.js';
import type { Position } from '../entry/chain.js';
import type { ClusterLeader, ClusterPosition, ReplicationSlot, RoleChange } from '../node.js';

/** Position of this node, with the leader of that epoch. */
export interface NotedPosition extends Position {
  leader: ClusterLeader | undefined;
}

/** A stored position, with the start positions of earlier epochs (epochs.ts). */
export interface DataPosition extends NotedPosition {
  epochs: readonly Position[];
}

export type WriterToLog =
  /** The writer is ready at this position. */
  | { kind: 'ready'; position: NotedPosition }
  | { kind: 'append'; entryKind: number; epoch: number; body: Uint8Array; timeoutMs: number }
  /** Everything up to `seq` is applied. */
  | { kind: 'applied'; seq: number }
  /** The writer must apply more before it can lead. Another node may lead. */
  | { kind: 'resign' }
  /** The writer cannot continue. This node leaves the cluster. */
  | { kind: 'failed'; error: ErrorData };

export type LogToWriter =
  /** The next entry, in order. On the leader, only entries without changes are sent. */
  | { kind: 'entry'; entry: Pick<Entry, 'kind' | 'body' | 'time' | 'position'> }
  /** Everything before is applied. From now on, transactions are appended under this epoch. */
  | { kind: 'lead'; position: NotedPosition }
  /** Stops leading. Another node may lead. */
  | { kind: 'follow' };

/** Requests to the log thread of the leader. */
export type LogRequest =
  | { what: 'beat' }
  | { what: 'leave' }
  | { what: 'handOver'; to: ClusterLeader | undefined }
  | { what: 'trim'; upTo: number }
  | { what: 'look' };

export type LogProbe = {
  first: number;
  last: number;
  bytes: number;
  /** Positions of the followers, as far as this leader has received them. */
  claims: ReplicationSlot[];
};

export type ServerToLog =
  | { kind: 'ask'; id: number; ask: LogRequest }
  | { kind: 'claim'; node: string; seq: number | undefined; keys: readonly number[] }
  | { kind: 'keepFrom'; marks: readonly number[] }
  /** This node leaves the cluster. */
  | { kind: 'fail'; error: ErrorData }
  | { kind: 'close' };

export type LogToServer =
  | { kind: 'change'; change: RoleChange }
  | { kind: 'fault'; error: ErrorData | undefined }
  | { kind: 'done'; id: number; error?: ErrorData; result?: ClusterPosition | LogProbe }
  | {
      kind: 'log';
      level: 'debug' | 'info' | 'warn' | 'error';
      message: string;
      fields: Record<string, unknown>;
    };
