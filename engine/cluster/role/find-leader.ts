// Who leads, by the log alone: how a node without data finds one that has them. Invariant: nothing is
// appended, and nothing of the log is trusted beyond an address, whose owner has to prove itself. Where entries are
// signed, those of nobody's are not even read.
import { driverOf } from '../log/drivers.js';
import { logPlaceOf } from '../log/log-address.js';
import type { ReplicatedLog } from '../log/replicated-log.js';
import { EntryKeys, checkWriter } from '../entry/entry-keys.js';
import { bodyOf, readHead } from '../entry/head.js';
import { entryKind } from '../entry/kind.js';
import { leaderOf } from '../ipc/leader.js';
import type { ClusterLeader } from '../node.js';
import type { ClusterOptions } from '../options.js';

/** The leader names itself at least once in a lease: seldom so many entries lie between. */
const lookBack = 200;

/**
 * The newest node that was named as the leader, once one is, be it this one; undefined after `ms`. `dbUuid`: of the
 * data that this node has. Fails LOG_UNAVAILABLE, LOG_UNTRUSTED, LOG_LOST where there is no such log.
 */
export async function findLeader(
  cluster: ClusterOptions,
  dbUuid: string | undefined,
  ms: number,
): Promise<ClusterLeader | undefined> {
  const place = logPlaceOf(cluster, dbUuid);
  const log = await (await driverOf(place.url)).open(place);
  const late = setTimeout(() => void log.close(), ms);
  try {
    const keys = EntryKeys.of(cluster.secrets, place.name);
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
  for await (const { seq, bytes } of log.read(Math.max(first, last - lookBack, 1), () => {})) {
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
