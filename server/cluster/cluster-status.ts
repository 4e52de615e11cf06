// Describes a node's role and position in its cluster as JSON, for /readyz and `trellis cluster status`.
// Invariant: it only reports and decides nothing.
import {
  type ClusterNode,
  type ErrorData,
  errorMessage,
  printKey,
  printPosition,
} from '../../engine/internal.js';

export interface ClusterStatus {
  node: string;
  role: string;
  epoch: number;
  position: string;
  lag_ms: number;
  leader: { node: string; address: string } | null;
  /** Id of the secret that signs the newest entry of this node; null if the entry is not signed. */
  signed_by: string | null;
  /** Ids of the secrets that this node has, oldest first. */
  keys: string[];
  fault?: { code: string; error: string };
}

const errorOf = (error: ErrorData) => ({ code: error.code, error: errorMessage(error) });

export function clusterStatus(node: ClusterNode): ClusterStatus {
  const { position, leader, fault: error, signedBy } = node;
  return {
    node: node.node,
    role: node.role,
    epoch: position.epoch,
    position: printPosition(position),
    lag_ms: Math.round(node.lagMs),
    leader: leader === undefined ? null : { node: leader.node, address: leader.address },
    signed_by: signedBy === undefined ? null : printKey(signedBy),
    keys: node.keys.map(printKey),
    ...(error && { fault: errorOf(error) }),
  };
}
