// Decides when a leader begins to sign, and with which key: the newest key that this node knows and that all
// active nodes report to know.
// Invariant: signing does not stop any node that was active within the time for which the log is kept. After
// a newer key has signed, older keys sign no entries.
import { type EntryKeys, printKey } from '../entry/entry-keys.js';
import type { LogRetention } from './log-retention.js';
import type { ElectionEvents } from './election-types.js';
import type { ElectionState } from './leader-election.js';

/**
 * Number of retention checks to wait. Nodes report slightly less than once per check, so every active node
 * has reported within two checks.
 */
const checksToWait = 2;
const slackMs = 1_000;

export class LogSigning {
  #leaderSince = Number.POSITIVE_INFINITY;
  #reported = '';

  constructor(
    private readonly keys: EntryKeys,
    private readonly retention: LogRetention,
  ) {}

  /** Starts when this node begins to lead. It has received no reports yet. */
  begin(now: number): void {
    this.#leaderSince = now;
  }

  /** Begins to sign with a newer key when possible. */
  async check(
    election: Pick<ElectionState, 'head' | 'signBy'>,
    now: number,
    log: ElectionEvents['log'],
  ): Promise<void> {
    const { key: since } = election.head;
    const { newest } = this.keys;
    if (!this.keys.replaces(newest, since)) return;
    if (now - this.#leaderSince < checksToWait * this.retention.everyMs + slackMs) return;
    const unknowing = this.retention.withoutKey(newest, now);
    this.#report(unknowing, log);
    const key = this.keys.ids.findLast((id) => this.retention.withoutKey(id, now).length === 0);
    if (key === undefined || !this.keys.replaces(key, since)) return;
    // If the lead is lost here, the next leader checks again.
    const at = await election.signBy(key).catch(() => undefined);
    if (at === undefined) return;
    const message = 'from here on entries of the log are signed by this key';
    log('info', message, { key: printKey(key), position: `${at.epoch}.${at.seq}` });
  }

  #report(nodes: readonly string[], log: ElectionEvents['log']): void {
    const names = nodes.join(', ');
    if (names === this.#reported) return;
    this.#reported = names;
    if (names === '') return;
    const message =
      'entries are not signed by the newest key of `cluster.secret_file` yet: these nodes do not know it';
    log('warn', message, { nodes: names, key: printKey(this.keys.newest) });
  }
}
