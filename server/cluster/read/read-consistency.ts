// Waits until a database of this node is as fresh as a read demands: `local`, `session`, `strong` or
// `max-lag=MILLISECONDS`. Invariant: a `session` read is never older than the position of its request. A
// `strong` read is never older than any write that was answered before the read arrived. Except for `local`,
// no read is older than a response that this node has forwarded.
import {
  type ClusterPosition,
  TrellisError,
  excerpt,
  fail,
  printPosition,
} from '../../../engine/internal.js';
import type { ClusterCounts, WaitMode } from '../cluster-counts.js';
import { LeaderPosition, type LeaderQuestions } from './read-index.js';

/** `waitMs` also bounds the wait for a position. */
export interface FreshnessOptions extends LeaderQuestions {
  /** Receives the result of each wait. */
  counts?: ClusterCounts;
}

export interface FreshnessRequest {
  mode: string;
  /** Returns the position of the request under `session`, if it has one. */
  after: () => ClusterPosition | undefined;
  /** Returns the caller's key, for nodes that have no secret among themselves. */
  key: () => Record<string, string>;
}

/**
 * Ignores REPLICA_BEHIND after a forwarded write: the node keeps the owed position, and later reads wait for
 * it (ClusterNode.noteAnswered).
 */
export const ignoreTimeout = (error: unknown): void => {
  if (!(error instanceof TrellisError) || error.code !== 'REPLICA_BEHIND') throw error;
};

export class Freshness {
  readonly #leaders: LeaderPosition;

  constructor(private readonly options: FreshnessOptions) {
    this.#leaders = new LeaderPosition(options);
  }

  /**
   * Returns undefined if the node is fresh enough. Fails REPLICA_BEHIND, NO_LEADER, NOT_LEADER, PARAM_VALUE.
   */
  whenFresh({ mode, after, key }: FreshnessRequest): Promise<unknown> | undefined {
    const { node } = this.options;
    const lag = /^max-lag=(\d{1,9})$/.exec(mode);
    if (lag !== null) {
      const wait = this.#whenSeen('max-lag', [node.owed]);
      const check = (): undefined => this.#checkLag(mode, Number(lag[1]));
      return wait === undefined ? check() : wait.then(check);
    }
    switch (mode) {
      case 'local':
        return undefined;
      case 'session':
        return this.#whenSeen('session', [after(), node.owed]);
      case 'strong':
        return this.#counted('strong', this.#readBarrier(key));
      default: {
        const allowed = 'local, session, strong or max-lag=MILLISECONDS';
        return fail('PARAM_VALUE', { param: 'Trellis-Consistency', allowed, got: excerpt(mode) });
      }
    }
  }

  /** Waits until the node has applied all positions, or returns undefined if it has. Fails REPLICA_BEHIND. */
  #whenSeen(
    mode: WaitMode,
    wanted: readonly (ClusterPosition | undefined)[],
  ): Promise<unknown> | undefined {
    const { node, waitMs } = this.options;
    // Each position is checked alone, because positions of two logs cannot be compared.
    const unseen = wanted.filter((at) => at !== undefined).filter((at) => !node.hasApplied(at));
    if (unseen.length === 0) return undefined;
    return this.#counted(mode, Promise.all(unseen.map((at) => node.waitFor(at, waitMs))));
  }

  #readBarrier(key: FreshnessRequest['key']): Promise<unknown> {
    const { node, waitMs } = this.options;
    if (node.role === 'leader') return node.readBarrier(waitMs);
    return this.#leaders.request(key()).then((at) => node.waitFor(at, waitMs));
  }

  #checkLag(wanted: string, maxLag: number): undefined {
    const { lagMs, silenceMs, position, role, hasCaughtUp } = this.options.node;
    if (role !== 'joining' && hasCaughtUp && Math.max(lagMs, silenceMs) <= maxLag) return undefined;
    this.options.counts?.waited('max-lag', 'behind');
    return fail('REPLICA_BEHIND', { position: printPosition(position), wanted });
  }

  /** Awaits the wait and counts its result. */
  async #counted(mode: WaitMode, wait: Promise<unknown>): Promise<void> {
    const { counts } = this.options;
    try {
      await wait;
      counts?.waited(mode, 'done');
    } catch (error) {
      const isLagging = error instanceof TrellisError && error.code === 'REPLICA_BEHIND';
      counts?.waited(mode, isLagging ? 'behind' : 'failed');
      throw error;
    }
  }
}
