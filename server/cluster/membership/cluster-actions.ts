// Actions of a cluster node for operators and other nodes: `POST /_admin/cluster-<word>`. Invariant: a server
// outside a cluster refuses all of them.
import { type ClusterNode, fail, printPosition } from '../../../engine/internal.js';
import type { NodeProof } from '../node-auth.js';
import type { Action } from '../../handlers/admin-handler.js';
import type { NodeCopies } from './node-copies.js';
import { clusterStatus } from '../cluster-status.js';

export interface ClusterActionsOptions {
  node: () => ClusterNode | undefined;
  copies: NodeCopies;
  proof: NodeProof | undefined;
  /** Longest wait for a position, in milliseconds. */
  waitMs: number;
  /** Returns what all nodes share apart from the data, for the status. */
  known: (node: ClusterNode) => object;
}

/** Returns a whole number out of the parameters, or 0, which fits no file. */
const numberOf = (params: URLSearchParams, name: string): number => {
  const value = params.get(name) ?? '';
  return /^\d{1,15}$/.test(value) ? Number(value) : 0;
};

export function clusterActions(options: ClusterActionsOptions): [string, Action][] {
  const { copies, proof, waitMs, node: nodeOf } = options;
  const node = (): ClusterNode => {
    const found = nodeOf();
    if (found !== undefined) return found;
    const hint = 'Set `cluster.log`, and run `trellis cluster init` once.';
    return fail('FEATURE_DISABLED', { feature: 'A cluster' }, { hint });
  };
  return [
    [
      'cluster-status',
      async () => {
        const cluster = node();
        const log = await cluster.look().catch(() => null);
        return { ...clusterStatus(cluster), name: cluster.name, log, ...options.known(cluster) };
      },
    ],
    [
      'cluster-step-down',
      async (params) => {
        const to = params.get('to') ?? '';
        // The next leader announces its own address.
        const next = to === '' ? undefined : { node: to, address: '' };
        return { position: printPosition(await node().stepDown(next)) };
      },
    ],
    // Open to everyone: it reports the name of this node, and proves membership to callers that have the
    // secret.
    [
      'cluster-hello',
      (_, body) => {
        if (proof === undefined && node()) return { challenge: '', embeddings: true };
        return { ...proof!.welcome(body), embeddings: true };
      },
    ],
    ['cluster-beat', async () => ({ position: printPosition(await node().readBarrier(waitMs)) })],
    [
      'cluster-piece',
      (params) =>
        copies.readChunk(
          params.get('copy') ?? '',
          params.get('path') ?? '',
          numberOf(params, 'from'),
          numberOf(params, 'bytes'),
        ),
    ],
    ['cluster-copied', (params) => copies.end(params.get('copy') ?? '')],
  ];
}
