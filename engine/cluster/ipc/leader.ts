// Encodes and decodes the body of an epoch entry: which node leads from this entry on.
// Invariant: the empty name means that the first node to claim the lead becomes the leader.
import { type ErrorData, fail } from '../../base/errors.js';
import type { ClusterLeader } from '../node.js';

export const packLeader = ({ node, address }: ClusterLeader): Uint8Array =>
  Buffer.from(JSON.stringify({ node, address }));

/**
 * Returns the leader if its address is known. Returns undefined when an entry named no node, or a node whose
 * address is not known yet.
 */
export const reachable = (leader: ClusterLeader | undefined): ClusterLeader | undefined =>
  leader?.address ? leader : undefined;

/** Decodes the leader. Fails LOG_LOST. */
export function leaderOf(body: Uint8Array): ClusterLeader {
  try {
    const { node, address } = JSON.parse(Buffer.from(body).toString()) as Partial<ClusterLeader>;
    if (typeof node === 'string' && typeof address === 'string') return { node, address };
  } catch {}
  return fail('LOG_LOST', { what: 'an epoch entry does not say who leads' });
}

/** Returns the error of a write, given what is known of the leader. */
export function writeRefusal(leader: ClusterLeader | undefined): ErrorData {
  if (leader === undefined) return { code: 'NO_LEADER', args: {} };
  return { code: 'NOT_LEADER', args: { node: leader.node, address: leader.address } };
}
