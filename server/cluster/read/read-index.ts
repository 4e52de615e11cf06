// Asks the leader for its position, for strong reads on a follower. Waiting reads share one request.
// Invariant: the request is sent after every read that shares it has arrived. Its answer therefore covers
// each write that one of them can know of.
import {
  type ClusterNode,
  type ClusterPosition,
  TrellisError,
  fail,
} from '../../../engine/internal.js';
import type { NodeClient } from '../node-client.js';
import { parseRemotePositions } from './consistency-token.js';
import { parseRemoteJson } from '../../http/remote-error.js';

const path = '/_admin/cluster-beat';

export interface LeaderQuestions {
  node: ClusterNode;
  /** Longest wait in milliseconds for a leader, and for its answer. */
  waitMs: number;
  calls: Pick<NodeClient, 'request'>;
}

export class LeaderPosition {
  #asking: Promise<ClusterPosition> | undefined;
  #next: Promise<ClusterPosition> | undefined;

  constructor(private readonly options: LeaderQuestions) {}

  /**
   * Returns the leader's position. `key` is the key of one waiting caller, for nodes without a common secret.
   * Fails NO_LEADER, NOT_LEADER.
   */
  request(key: Record<string, string>): Promise<ClusterPosition> {
    this.#next ??= this.#requestNext(key);
    return this.#next;
  }

  async #requestNext(key: Record<string, string>): Promise<ClusterPosition> {
    // A running request was sent before these reads arrived, so they wait for the next one.
    await this.#asking?.catch(() => undefined);
    this.#asking = this.#next;
    this.#next = undefined;
    return this.#fetch(key);
  }

  async #fetch(key: Record<string, string>): Promise<ClusterPosition> {
    const { node, waitMs, calls } = this.options;
    const leader = node.leader ?? (await node.waitForLeader(waitMs));
    if (leader === undefined)
      throw new TrellisError(node.refusal ?? { code: 'NO_LEADER', args: {} });
    const answer = await calls
      .request(leader.address, path, {}, waitMs, { more: key })
      .catch(() => undefined);
    if (answer === undefined) return fail('NOT_LEADER', { ...leader });
    const position = parseRemoteJson(answer.status === 200, answer.body) as {
      position?: unknown;
    } | null;
    return parseRemotePositions(String(position?.position ?? ''))?.main ?? fail('NO_LEADER');
  }
}
