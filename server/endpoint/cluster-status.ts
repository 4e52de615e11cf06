// A node's place in its cluster as JSON, for /readyz and `trellis cluster status`. Invariant: tells, decides nothing.
import {
  type ClusterNode,
  type ErrorData,
  errorMessage,
  printPosition,
} from '../../engine/index.js';

export interface ClusterStatus {
  node: string;
  role: string;
  epoch: number;
  position: string;
  lag_ms: number;
  leader: { node: string; address: string } | null;
  fault?: { code: string; error: string };
}

const faultOf = (fault: ErrorData) => ({ code: fault.code, error: errorMessage(fault) });

export function clusterStatus(node: ClusterNode): ClusterStatus {
  const { position, leader, fault } = node;
  return {
    node: node.node,
    role: node.role,
    epoch: position.epoch,
    position: printPosition(position),
    lag_ms: Math.round(node.lagMs),
    leader: leader === undefined ? null : { node: leader.node, address: leader.address },
    ...(fault && { fault: faultOf(fault) }),
  };
}
