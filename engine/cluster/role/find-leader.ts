// Finds the leader in the log, so that a node without data can find a node that has them.
// Invariant: nothing is appended. Nothing of the log is trusted except an address, whose owner must prove its
// identity. In a signed log, entries without a valid signature are ignored.
import { driverOf } from '../log/drivers.js';
import { logAddressOf } from '../log/log-address.js';
import type { ReplicatedLog } from '../log/replicated-log.js';
import { EntryKeys, checkWriter } from '../entry/entry-keys.js';
import { bodyOf, readHead } from '../entry/head.js';
import { entryKind } from '../entry/kind.js';
import { leaderOf } from '../ipc/leader.js';
import type { ClusterLeader } from '../node.js';
import type { ClusterOptions } from '../options.js';

/**
 * Number of entries to read back. The leader names itself at least once per lease, and a lease rarely has
 * more entries.
 */
const entriesBack = 200;

/**
 * Returns the newest node that an entry names as the leader, even if it is this node. Waits for one, and
 * returns undefined after `ms`. `dbUuid` identifies the data of this node. Fails LOG_UNAVAILABLE,
 * LOG_UNTRUSTED, and LOG_LOST when the log does not exist.
 */
export async function findLeader(
  cluster: ClusterOptions,
  dbUuid: string | undefined,
  ms: number,
): Promise<ClusterLeader | undefined> {
  const address = logAddressOf(cluster, dbUuid);
  const log = await (await driverOf(address.url)).open(address);
  const late = setTimeout(() => void log.close(), ms);
  try {
    const keys = EntryKeys.of(cluster.secrets, address.name);
    return await newestLeader(log, keys);
  } finally {
    clearTimeout(late);
    await log.close();
  }
}

async function newestLeader(
  log: ReplicatedLog,
  keys: EntryKeys | undefined,
): Promise<ClusterLeader | undefined> {
  let since: number | undefined;
  const [first, last] = await Promise.all([log.first(), log.last()]);
  let found: ClusterLeader | undefined;
  for await (const { seq, bytes } of log.read(Math.max(first, last - entriesBack, 1), () => {})) {
    const head = readHead(bytes, seq);
    checkWriter(keys, bytes, head, { seq, since });
    since = head.key;
    const { kind } = head;
    if (kind === entryKind.epoch || kind === entryKind.beat) {
      const body = bodyOf(bytes);
      const leader = body.length === 0 ? undefined : leaderOf(body);
      if (leader !== undefined) found = leader.node === '' ? undefined : leader;
    }
    if (seq >= last && found !== undefined) break;
  }
  return found;
}
