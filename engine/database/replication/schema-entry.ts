// Appends a reload of the leader to the log: as its changes or, if they are too large, as an intent from
// which every node makes them.
// Invariant: the entry is in the log before the change is on this disk.
import { entryKind } from '../../cluster/entry/kind.js';
import type { LogClient } from '../../cluster/ipc/log-client.js';

/** Runs `work`, which changes the schema. Outside a cluster, it appends nothing. */
export function asSchemaEntry(
  log: LogClient | undefined,
  { nowMs, sources }: { nowMs: number; sources: Uint8Array | undefined },
  work: () => void,
): void {
  if (log === undefined) return work();
  const intent = sources && { nowMs, sources };
  log.withAppendOptions({ kind: entryKind.schema, ...(intent && { intent }) }, work);
}
