// What stands in the log of a comparison of all nodes: a mark where each of them takes a snapshot of its tables, and,
// when the leader has read its own, another one with what they hold. Versions before know the kind of entry and pass
// it over, so that none of them stops. JSON: `check`, the name of the comparison, and `tables` in the second one.
// Invariant: a mark changes no data.
import { entryKind } from '../../cluster/entry/kind.js';
import type { LogClient } from '../../cluster/ipc/log-client.js';
import type { ClusterPosition } from '../../cluster/node.js';
import type { TableHashes } from './table-check.js';

export interface CheckMark {
  check: string;
  /** What the leader holds at the mark before; absent in that one. */
  tables?: TableHashes;
}

/** Orders to the writer of a node that are about its cluster alone. */
export type ClusterOrder =
  /** Has the leader tell all nodes these settings. */
  | { kind: 'tell'; settings: Uint8Array }
  /** Has the leader append a mark, and take a snapshot at it (pinned-snapshot.ts). */
  | { kind: 'mark'; mark: CheckMark; words?: SharedArrayBuffer | undefined }
  /** Goes on behind the mark at which a follower stands, with a snapshot or without. */
  | { kind: 'pass'; words?: SharedArrayBuffer | undefined };

/** On the leader: gives where it is. Fails as writes do. */
export function appendMark(link: LogClient, mark: CheckMark): ClusterPosition {
  link.append(entryKind.mark, new TextEncoder().encode(JSON.stringify(mark)));
  const { epoch, seq } = link.position;
  return { epoch, seq };
}

/** Undefined: it is a mark of another purpose. */
export function checkMarkOf(body: Uint8Array): CheckMark | undefined {
  try {
    const mark = JSON.parse(Buffer.from(body).toString()) as Partial<CheckMark> | null;
    return typeof mark?.check === 'string' ? (mark as CheckMark) : undefined;
  } catch {
    return undefined;
  }
}
