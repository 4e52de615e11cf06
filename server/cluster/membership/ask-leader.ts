// Sends a request of a node to the leader of its cluster. Invariant: the request runs one time, here or on
// the leader, and the caller gets its result.
import { type ClusterNode, TrellisError } from '../../../engine/internal.js';
import type { NodeClient } from '../node-client.js';
import { parseRemoteJson } from '../../http/remote-error.js';

const timeoutMs = 10_000;

/**
 * Runs `locally` if this node leads. Fails NO_LEADER, with connection errors, or with the leader's error.
 */
export async function sendToLeader(
  { node, calls }: { node: ClusterNode; calls: NodeClient },
  path: string,
  body: object,
  locally: () => Promise<void>,
): Promise<void> {
  if (node.role === 'leader') return locally();
  const { leader } = node;
  if (leader === undefined) throw new TrellisError({ code: 'NO_LEADER', args: {} });
  const answer = await calls.request(leader.address, `/_admin/${path}`, body, timeoutMs);
  parseRemoteJson(answer.status === 200, answer.body);
}
