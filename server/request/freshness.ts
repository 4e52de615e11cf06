// When a database of this node is as fresh as a read asks: `local`, `session`, `strong` or `max-lag=MILLISECONDS`.
// Invariant: `session` is never older than the position it came with, `strong` never older than any write that was
// answered before it came.
import {
  type ClusterPosition,
  TrellisError,
  excerpt,
  fail,
  printPosition,
} from '../../engine/index.js';
import type { ClusterCounts } from '../observe/cluster-counts.js';
import { LeaderPosition, type LeaderQuestions } from './leader-position.js';

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

export class Freshness {
  readonly #leaders: LeaderPosition;

  constructor(private readonly options: FreshnessOptions) {
    this.#leaders = new LeaderPosition(options);
  }

  /** Undefined: it is. Fails REPLICA_BEHIND, NO_LEADER, NOT_LEADER, PARAM_VALUE. */
  whenFresh({ mode, after, key }: Asked): Promise<unknown> | undefined {
    const { node, waitMs } = this.options;
    const lag = /^max-lag=(\d{1,9})$/.exec(mode);
    if (lag !== null) return this.#checkLag(mode, Number(lag[1]));
    switch (mode) {
      case 'local':
        return undefined;
      case 'session': {
        const wanted = after();
        if (wanted === undefined || node.sees(wanted)) return undefined;
        return this.#counted('session', node.waitFor(wanted, waitMs));
      }
      case 'strong':
        return this.#counted('strong', this.#strong(key));
      default: {
        const allowed = 'local, session, strong or max-lag=MILLISECONDS';
        return fail('PARAM_VALUE', { param: 'Trellis-Consistency', allowed, got: excerpt(mode) });
      }
    }
  }

  #strong(key: Asked['key']): Promise<unknown> {
    const { node, waitMs } = this.options;
    if (node.role === 'leader') return node.strong(waitMs);
    return this.#leaders.ask(key()).then((at) => node.waitFor(at, waitMs));
  }

  #checkLag(wanted: string, most: number): undefined {
    const { lagMs, silenceMs, position, role, hasCaughtUp } = this.options.node;
    if (role !== 'joining' && hasCaughtUp && Math.max(lagMs, silenceMs) <= most) return undefined;
    this.options.counts?.waited('max-lag', 'behind');
    return fail('REPLICA_BEHIND', { position: printPosition(position), wanted });
  }

  /** The same, counted when it is known what came of it. */
  async #counted(mode: 'session' | 'strong', wait: Promise<unknown>): Promise<void> {
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
