// What a node has the leader of its cluster do, as a node. Invariant: it is done once, here or there, and who asks
// hears what came of it.
import { type ClusterNode, TrellisError } from '../../../engine/internal.js';
import type { NodeClient } from '../node-client.js';
import { parseRemoteJson } from '../../http/remote-error.js';

const tellMs = 10_000;

/** `here`: how it is done where this node leads. Fails NO_LEADER, as connections do, and as it has failed. */
export async function askLeader(
  { node, calls }: { node: ClusterNode; calls: NodeClient },
  path: string,
  body: object,
  here: () => Promise<void>,
): Promise<void> {
  if (node.role === 'leader') return here();
  const { leader } = node;
  if (leader === undefined) throw new TrellisError({ code: 'NO_LEADER', args: {} });
  const answer = await calls.ask(leader.address, `/_admin/${path}`, body, tellMs);
  parseRemoteJson(answer.status === 200, answer.body);
}
