// What the threads of a node tell each other about the log: the writer, which commits and applies; the log
// thread, which alone talks to the log; and the thread that serves.
import type { ErrorData } from '../../base/errors.js';
import type { Entry } from '../entry/decode-entry.js';
import type { Position } from '../entry/chain.js';
import type { ClusterLeader, ClusterPosition, ReplicationSlot, RoleChange } from '../node.js';

/** How far this node is, and who led there. */
export interface NotedPosition extends Position {
  leader: ClusterLeader | undefined;
}

/** The same of data, which remember where the epochs before began (epochs.ts). */
export interface DataPosition extends NotedPosition {
  epochs: readonly Position[];
}

export type WriterToLog =
  /** The writer is there, and this far. */
  | { kind: 'ready'; position: NotedPosition }
  | { kind: 'append'; entryKind: number; epoch: number; body: Uint8Array; timeoutMs: number }
  /** Everything up to `seq` is applied. */
  | { kind: 'applied'; seq: number }
  /** It cannot lead before it has applied more: another node may. */
  | { kind: 'resign' }
  /** It cannot go on: this node takes no part any more. */
  | { kind: 'failed'; error: ErrorData };

export type LogToWriter =
  /** The next entry, in order; on the leader those without changes. */
  | { kind: 'entry'; entry: Pick<Entry, 'kind' | 'body' | 'time' | 'position'> }
  /** All before is applied: from now on transactions are appended under this epoch. */
  | { kind: 'lead'; position: NotedPosition }
  /** Another node may lead. */
  | { kind: 'follow' };

/** What is asked of the leader's log thread. */
export type Ask =
  | { what: 'beat' }
  | { what: 'leave' }
  | { what: 'handOver'; to: ClusterLeader | undefined }
  | { what: 'trim'; upTo: number }
  | { what: 'look' };

export type LogProbe = {
  first: number;
  last: number;
  bytes: number;
  /** Of nodes that follow, as this one has heard while it leads. */
  claims: ReplicationSlot[];
};

export type ServerToLog =
  | { kind: 'ask'; id: number; ask: Ask }
  | { kind: 'claim'; node: string; seq: number | undefined; keys: readonly number[] }
  | { kind: 'keepFrom'; marks: readonly number[] }
  /** This node takes no part any more. */
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
    }
  | { kind: 'closed' };
