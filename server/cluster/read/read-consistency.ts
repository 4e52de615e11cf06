// When a database of this node is as fresh as a read asks: `local`, `session`, `strong` or `max-lag=MILLISECONDS`.
// Invariant: `session` is never older than the position it came with, `strong` never older than any write that was
// answered before it came; and none but `local` is older than what this node has given as another one's answer.
import {
  type ClusterPosition,
  TrellisError,
  excerpt,
  fail,
  printPosition,
} from '../../../engine/internal.js';
import type { ClusterCounts, WaitMode } from '../cluster-counts.js';
import { LeaderPosition, type LeaderQuestions } from './read-index.js';

/** `waitMs`: for a position too. */
export interface FreshnessOptions extends LeaderQuestions {
  /** Hears what came of each wait. */
  counts?: ClusterCounts;
}

export interface Asked {
  mode: string;
  /** Under `session`: the position, if it came with one. */
  after: () => ClusterPosition | undefined;
  /** The key of who asks, for nodes that have no secret among themselves. */
  key: () => Record<string, string>;
}

/** Who has answered a write in the leader's place is not as far: what it owes is kept (ClusterNode.noteAnswered). */
export const keptWaiting = (error: unknown): void => {
  if (!(error instanceof TrellisError) || error.code !== 'REPLICA_BEHIND') throw error;
};

export class Freshness {
  readonly #leaders: LeaderPosition;

  constructor(private readonly options: FreshnessOptions) {
    this.#leaders = new LeaderPosition(options);
  }

  /** Undefined: it is. Fails REPLICA_BEHIND, NO_LEADER, NOT_LEADER, PARAM_VALUE. */
  whenFresh({ mode, after, key }: Asked): Promise<unknown> | undefined {
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
        return this.#counted('strong', this.#strong(key));
      default: {
        const allowed = 'local, session, strong or max-lag=MILLISECONDS';
        return fail('PARAM_VALUE', { param: 'Trellis-Consistency', allowed, got: excerpt(mode) });
      }
    }
  }

  /** Undefined: the node sees all of them already. Fails REPLICA_BEHIND. */
  #whenSeen(
    mode: WaitMode,
    wanted: readonly (ClusterPosition | undefined)[],
  ): Promise<unknown> | undefined {
    const { node, waitMs } = this.options;
    // Each for itself: of two logs, one that is further may not tell of what the other one had.
    const unseen = wanted.filter((at) => at !== undefined).filter((at) => !node.hasApplied(at));
    if (unseen.length === 0) return undefined;
    return this.#counted(mode, Promise.all(unseen.map((at) => node.waitFor(at, waitMs))));
  }

  #strong(key: Asked['key']): Promise<unknown> {
    const { node, waitMs } = this.options;
    if (node.role === 'leader') return node.readBarrier(waitMs);
    return this.#leaders.ask(key()).then((at) => node.waitFor(at, waitMs));
  }

  #checkLag(wanted: string, most: number): undefined {
    const { lagMs, silenceMs, position, role, hasCaughtUp } = this.options.node;
    if (role !== 'joining' && hasCaughtUp && Math.max(lagMs, silenceMs) <= most) return undefined;
    this.options.counts?.waited('max-lag', 'behind');
    return fail('REPLICA_BEHIND', { position: printPosition(position), wanted });
  }

  /** The same, counted when it is known what came of it. */
  async #counted(mode: WaitMode, wait: Promise<unknown>): Promise<void> {
    const { counts } = this.options;
    try {
      await wait;
      counts?.waited(mode, 'done');
    } catch (error) {
      const isBehind = error instanceof TrellisError && error.code === 'REPLICA_BEHIND';
      counts?.waited(mode, isBehind ? 'behind' : 'failed');
      throw error;
    }
  }
}
