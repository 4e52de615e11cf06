// The body of an epoch entry: who leads from there on. Invariant: a name of '' is nobody's: whoever is first.
import { fail } from '../../base/errors.js';
import type { ClusterLeader } from '../node.js';

export const packLeader = ({ node, address }: ClusterLeader): Uint8Array =>
  Buffer.from(JSON.stringify({ node, address }));

/**
 * Who can be asked for what only the leader does. Undefined: an entry has named nobody, or somebody who is yet to say
 * where it is.
 */
export const reachable = (leader: ClusterLeader | undefined): ClusterLeader | undefined =>
  leader?.address ? leader : undefined;

/** Fails LOG_LOST. */
export function leaderOf(body: Uint8Array): ClusterLeader {
  try {
    const { node, address } = JSON.parse(Buffer.from(body).toString()) as Partial<ClusterLeader>;
    if (typeof node === 'string' && typeof address === 'string') return { node, address };
  } catch {}
  return fail('LOG_LOST', { what: 'an epoch entry does not say who leads' });
}
