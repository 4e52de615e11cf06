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
import { sendToLeader } from './ask-leader.js';

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

export interface ConsistencyCheckOptions {
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
const reportsMax = 8;

export class ConsistencyChecks {
  /** Differing tables by comparison and node, oldest comparison first. An empty text means none. */
  readonly #reports = new Map<string, Map<string, string>>();
  #stopListening = (): void => {};

  constructor(private readonly options: ConsistencyCheckOptions) {}

  /** Reports the results of this node to the leader from now on. */
  attach(node: ClusterNode): void {
    this.close();
    const { calls, log } = this.options;
    this.#stopListening = node.onCompared(({ check, other }) => {
      const report = { check, node: node.node, tables: other.join(', ') };
      const locally = async (): Promise<void> => this.note(check, node.node, report.tables);
      sendToLeader({ node, calls }, 'cluster-checked', report, locally).catch((error: unknown) => {
        const reason = error instanceof TrellisError ? errorMessage(error.data) : String(error);
        log('warn', 'comparison result not sent to the leader yet', { reason });
      });
    });
  }

  note(check: string, node: string, tables: string): void {
    const nodes = this.#reports.get(check) ?? new Map<string, string>();
    this.#reports.set(check, nodes.set(node, tables));
    const [oldest] = this.#reports.keys();
    if (this.#reports.size > reportsMax) this.#reports.delete(oldest!);
  }

  /**
   * Compares all nodes; runs on the leader. `left` names nodes that left the cluster. Fails NOT_LEADER.
   */
  async run(node: ClusterNode, left: readonly string[]): Promise<CheckResult> {
    const { members, waitMs = 10_000 } = this.options;
    const begun = performance.now();
    const [{ check, position }, { claims }] = await Promise.all([node.check(), node.look()]);
    const claimed = claims.map((claim) => claim.node);
    const known = new Set(
      [node.node, ...members, ...claimed].filter((name) => !left.includes(name)),
    );
    // Another machine may be slower than this one.
    const end = performance.now() + waitMs + 2 * (performance.now() - begun);
    const reported = (): ReadonlyMap<string, string> => this.#reports.get(check) ?? new Map();
    while ([...known].some((name) => !reported().has(name)) && performance.now() < end)
      await pause(pollIntervalMs);
    const names = [...new Set([...known, ...reported().keys()])].sort();
    const nodes = names.map((name) => resultOf(name, reported().get(name)));
    const equal = nodes.every(({ result }) => result === 'equal');
    return { position: printPosition(position), equal, nodes };
  }

  close(): void {
    this.#stopListening();
  }
}

function resultOf(node: string, tables: string | undefined): CheckedNode {
  if (tables === undefined) return { node, result: 'silent' };
  return tables === '' ? { node, result: 'equal' } : { node, result: 'differs', tables };
}
