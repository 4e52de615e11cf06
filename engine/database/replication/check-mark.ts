// Encodes the log entries of a comparison of all nodes. The first mark makes each node take a snapshot of its
// tables. When the leader has read its own tables, it appends a second mark with their hashes. Earlier
// versions know the kind of entry and ignore it, so that none of them stops. The body is JSON: `check`, the
// id of the comparison, and in the second mark `tables`.
// Invariant: a mark changes no data.
import { entryKind } from '../../cluster/entry/kind.js';
import type { LogClient } from '../../cluster/ipc/log-client.js';
import type { ClusterPosition } from '../../cluster/node.js';
import type { TableHashes } from './table-check.js';

export interface CheckMark {
  check: string;
  /** Hashes of the leader's tables at the first mark. Absent in the first mark. */
  tables?: TableHashes;
}

/** Commands to the writer of a cluster node. */
export type ClusterCommand =
  /** Leader only: appends these settings for all nodes. */
  | { kind: 'tell'; settings: Uint8Array }
  /** Leader only: appends a mark and takes a snapshot at it (pinned-snapshot.ts). */
  | { kind: 'mark'; mark: CheckMark; words?: SharedArrayBuffer | undefined }
  /** Follower only: continues after the mark at which it waits, with a snapshot or without. */
  | { kind: 'pass'; words?: SharedArrayBuffer | undefined };

/** Leader only: appends a mark and returns its position. Fails with the error of a write. */
export function appendMark(log: LogClient, mark: CheckMark): ClusterPosition {
  log.append(entryKind.mark, new TextEncoder().encode(JSON.stringify(mark)));
  const { epoch, seq } = log.position;
  return { epoch, seq };
}

/** Decodes a mark. Returns undefined for a mark of another purpose. */
export function checkMarkOf(body: Uint8Array): CheckMark | undefined {
  try {
    const mark = JSON.parse(Buffer.from(body).toString()) as Partial<CheckMark> | null;
    return typeof mark?.check === 'string' ? (mark as CheckMark) : undefined;
  } catch {
    return undefined;
  }
}
