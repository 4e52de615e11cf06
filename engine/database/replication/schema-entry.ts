// How a reload on the leader is told to the log: as what it changes, or, where that is too much, as what every
// node makes it from. Invariant: what is told lies in the log before it is on this disk.
import { entryKind } from '../../cluster/entry/kind.js';
import type { LogClient } from '../../cluster/ipc/log-client.js';

/** Runs `work`, which changes the schema; a process of its own tells nobody. */
export function asSchemaEntry(
  link: LogClient | undefined,
  { nowMs, sources }: { nowMs: number; sources: Uint8Array | undefined },
  work: () => void,
): void {
  if (link === undefined) return work();
  const intent = sources && { nowMs, sources };
  link.withAppendOptions({ kind: entryKind.schema, ...(intent && { intent }) }, work);
}
