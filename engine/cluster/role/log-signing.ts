// When a leader begins to sign, and by which key: the newest that it knows itself and that all nodes have said to know
// which it has heard of. Invariant: no node that was heard of within the time that the log is kept is stopped by it;
// what a log was signed by once, older keys sign no more.
import { type EntryKeys, printKey } from '../entry/entry-keys.js';
import type { LogRetention } from './log-retention.js';
import type { ElectionState, MemberEvents } from './leader-election.js';

/** Nodes tell so often in the time of one look, and a moment later: who is there was heard in twice that. */
const looksHeard = 2;
const slackMs = 1_000;

export class LogSigning {
  #ledSince = Number.POSITIVE_INFINITY;
  #said = '';

  constructor(
    private readonly keys: EntryKeys,
    private readonly keeper: LogRetention,
  ) {}

  /** This node leads from now on: it has heard nobody yet. */
  begin(now: number): void {
    this.#ledSince = now;
  }

  /** Signs by a newer key where that can be. */
  async look(
    member: Pick<ElectionState, 'head' | 'signBy'>,
    now: number,
    log: MemberEvents['log'],
  ): Promise<void> {
    const { key: since } = member.head;
    const { newest } = this.keys;
    if (!this.keys.replaces(newest, since)) return;
    if (now - this.#ledSince < looksHeard * this.keeper.everyMs + slackMs) return;
    const unknowing = this.keeper.withoutKey(newest, now);
    this.#say(unknowing, log);
    const key = this.keys.ids.findLast((id) => this.keeper.withoutKey(id, now).length === 0);
    if (key === undefined || !this.keys.replaces(key, since)) return;
    // Whoever leads by then looks again.
    const at = await member.signBy(key).catch(() => undefined);
    if (at === undefined) return;
    const message = 'from here on entries of the log are signed by this key';
    log('info', message, { key: printKey(key), position: `${at.epoch}.${at.seq}` });
  }

  #say(nodes: readonly string[], log: MemberEvents['log']): void {
    const names = nodes.join(', ');
    if (names === this.#said) return;
    this.#said = names;
    if (names === '') return;
    const message =
      'entries are not signed by the newest key of `cluster.secret_file` yet: these nodes do not know it';
    log('warn', message, { nodes: names, key: printKey(this.keys.newest) });
  }
}
