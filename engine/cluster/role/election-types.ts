// Defines the options and the events of a node's election state (leader-election.ts).
import type { ErrorData } from '../../base/errors.js';
import type { Entry } from '../entry/decode-entry.js';
import type { EntryKeys } from '../entry/entry-keys.js';
import type { NotedPosition } from '../ipc/message.js';
import type { ClusterLeader, RoleChange } from '../node.js';

export interface ElectionOptions {
  self: ClusterLeader;
  mayLead: boolean;
  leaseMs: number;
  appendTimeoutMs: number;
  /** Keys of the nodes that may write to the log. Without keys, entries are not signed. */
  keys?: EntryKeys | undefined;
}

export interface ElectionEvents {
  /** Called with each entry to apply, in order. The receiver responds with `applied`. */
  onEntry: (entry: Entry) => void;
  onLead: (position: NotedPosition) => void;
  onFollow: () => void;
  onChange: (change: RoleChange) => void;
  /**
   * Called when the log shows a sign of life, or an entry is applied. It is the input for the lag of this
   * node.
   */
  onProgress: (contactAt: number, isCaughtUp: boolean) => void;
  onError: (error: ErrorData) => void;
  log: (level: 'info' | 'warn' | 'error', message: string, fields: Record<string, unknown>) => void;
}
