// Decides which member should lead the database of a tenant. Every node computes the same order of members
// for each name by rendezvous hashing (Thaler, Ravishankar, 1998). Leaders spread evenly, and few move when a
// member is added or removed. Invariant: a leader hands over to a better placed member only if that member
// follows closely.
import { createHash } from 'node:crypto';
import { type ClusterNode, fail } from '../../engine/internal.js';
import type { NodeClient } from './node-client.js';

export interface Member {
  node: string;
  address: string;
}

/** Parses members such as `["a=10.0.0.1:6969", …]`. Fails CONFIG_INVALID. */
export function readMembers(texts: readonly string[]): Member[] {
  return texts.map((text) => {
    const [, node, address] = /^([^=\s]+)=(\S+:\d+)$/.exec(text) ?? [];
    if (node !== undefined && address !== undefined) return { node, address };
    const what = `cluster.members: ${JSON.stringify(text)} is not NODE=HOST:PORT.`;
    return fail('CONFIG_INVALID', { what });
  });
}

const weightOf = (tenant: string, { node }: Member): bigint =>
  createHash('sha256').update(`${tenant}\n${node}`).digest().readBigUInt64BE();

/** Returns the members, best placed first. */
export function ranked(tenant: string, members: readonly Member[]): Member[] {
  const weights = new Map(members.map((member) => [member, weightOf(tenant, member)]));
  return [...members].sort((a, b) => (weights.get(a)! > weights.get(b)! ? -1 : 1));
}

/** Lag in milliseconds below which a follower may take over. */
const closeMs = 1_000;
const requestTimeoutMs = 2_000;

/**
 * Hands over to the best placed member, if that is another one and it follows closely. Returns true if it
 * did.
 */
export async function handOver(
  tenant: string,
  node: ClusterNode,
  members: readonly Member[],
  calls: NodeClient,
): Promise<boolean> {
  const [best] = ranked(tenant, members);
  if (best === undefined || best.node === node.node || node.role !== 'leader') return false;
  try {
    const answer = await calls.request(
      best.address,
      '/_admin/cluster-status',
      {},
      requestTimeoutMs,
    );
    if (answer.status !== 200) return false;
    const answered = JSON.parse(answer.body.toString()) as {
      node: string;
      role: string;
      lag_ms: number;
      fault?: unknown;
    };
    const isClose = answered.role === 'follower' && answered.lag_ms < closeMs && !answered.fault;
    if (!isClose || answered.node !== best.node) return false;
    await node.stepDown(best);
    return true;
  } catch {
    // The member cannot be reached, or leadership has changed. The caller tries again later.
    return false;
  }
}
