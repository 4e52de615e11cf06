// Collects the results of a comparison of all nodes. Each node reports its result to the leader, which
// answers the operator. Invariant: the nodes are equal only if every known node has reported equality. A node
// without a report is silent, and never counts as equal.
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ClusterNode,
  TrellisError,
  errorMessage,
  printPosition,
} from '../../../engine/internal.js';
import type { Log } from '../../telemetry/log.js';
import type { NodeClient } from '../node-client.js';
import { askLeader } from './ask-leader.js';

export interface CheckedNode {
  node: string;
  result: 'equal' | 'differs' | 'silent';
  /** Tables that differ from the leader's. */
  tables?: string;
}

export interface CheckResult {
  position: string;
  /** Whether all known nodes have reported the same data. */
  equal: boolean;
  nodes: CheckedNode[];
}

export interface CheckDeskOptions {
  calls: NodeClient;
  log: Log;
  /** Configured node names. The leader adds the nodes that have contacted it. */
  members: readonly string[];
  /**
   * Longest wait in milliseconds for the other nodes, in addition to twice the time that the leader took.
   */
  waitMs?: number;
}

const pollIntervalMs = 20;
/** Number of comparisons whose reports are kept. */
const keptMax = 8;

export class CheckDesk {
  /** Differing tables by comparison and node, oldest comparison first. An empty text means none. */
  readonly #told = new Map<string, Map<string, string>>();
  #unhear = (): void => {};

  constructor(private readonly options: CheckDeskOptions) {}

  /** Reports the results of this node to the leader from now on. */
  attach(node: ClusterNode): void {
    this.close();
    const { calls, log } = this.options;
    this.#unhear = node.onCompared(({ check, other }) => {
      const told = { check, node: node.node, tables: other.join(', ') };
      const here = async (): Promise<void> => this.note(check, node.node, told.tables);
      askLeader({ node, calls }, 'cluster-checked', told, here).catch((error: unknown) => {
        const reason = error instanceof TrellisError ? errorMessage(error.data) : String(error);
        log('warn', 'comparison result not sent to the leader yet', { reason });
      });
    });
  }

  note(check: string, node: string, tables: string): void {
    const told = this.#told.get(check) ?? new Map<string, string>();
    this.#told.set(check, told.set(node, tables));
    const [oldest] = this.#told.keys();
    if (this.#told.size > keptMax) this.#told.delete(oldest!);
  }

  /**
   * Compares all nodes; runs on the leader. `left` names nodes that left the cluster. Fails NOT_LEADER.
   */
  async run(node: ClusterNode, left: readonly string[]): Promise<CheckResult> {
    const { members, waitMs = 10_000 } = this.options;
    const begun = performance.now();
    const [{ check, position }, { claims }] = await Promise.all([node.check(), node.look()]);
    const heard = claims.map((claim) => claim.node);
    const known = new Set([node.node, ...members, ...heard].filter((name) => !left.includes(name)));
    // Another machine may be slower than this one.
    const end = performance.now() + waitMs + 2 * (performance.now() - begun);
    const told = (): ReadonlyMap<string, string> => this.#told.get(check) ?? new Map();
    while ([...known].some((name) => !told().has(name)) && performance.now() < end)
      await pause(pollIntervalMs);
    const names = [...new Set([...known, ...told().keys()])].sort();
    const nodes = names.map((name) => resultOf(name, told().get(name)));
    const equal = nodes.every(({ result }) => result === 'equal');
    return { position: printPosition(position), equal, nodes };
  }

  close(): void {
    this.#unhear();
  }
}

function resultOf(node: string, tables: string | undefined): CheckedNode {
  if (tables === undefined) return { node, result: 'silent' };
  return tables === '' ? { node, result: 'equal' } : { node, result: 'differs', tables };
}
