// How much of the log is kept for nodes that are away: what is younger than a time, unless that is more bytes
// than allowed. Invariant: nothing is given up that the disk of this node does not have.
import type { ReplicatedLog } from '../log/replicated-log.js';

export interface KeepOptions {
  keepMs: number;
  keepBytes: number;
}

/** Looks in the time that entries are kept. */
const looksPerKeep = 16;
/** Of the bytes allowed, what is left when they were exceeded. */
const shareLeft = 0.75;

export class LogKeeper {
  /** How far the disk was, and when: oldest first. */
  readonly #noted: { at: number; seq: number }[] = [];

  constructor(private readonly options: KeepOptions) {}

  /** Between two looks. */
  get everyMs(): number {
    return Math.min(60_000, Math.max(250, this.options.keepMs / looksPerKeep));
  }

  /** Another node leads: what it keeps is its own to say. */
  reset(): void {
    this.#noted.length = 0;
  }

  /** Up to where the log may be forgotten now, and why that early; undefined: nothing of it. */
  async look(
    log: Pick<ReplicatedLog, 'first' | 'last' | 'size'>,
    durable: number,
    now: number,
  ): Promise<{ upTo: number; isFull: boolean } | undefined> {
    const { keepMs, keepBytes } = this.options;
    if (this.#noted.at(-1)?.seq !== durable) this.#noted.push({ at: now, seq: durable });
    let upTo = 0;
    while (this.#noted.length > 0 && this.#noted[0]!.at <= now - keepMs)
      upTo = this.#noted.shift()!.seq;
    const [first, last, bytes] = await Promise.all([log.first(), log.last(), log.size()]);
    const isFull = bytes > keepBytes;
    if (isFull) {
      const share = (bytes - shareLeft * keepBytes) / bytes;
      upTo = Math.max(upTo, first + Math.floor((last - first) * share));
    }
    upTo = Math.min(upTo, durable);
    return upTo > first ? { upTo, isFull } : undefined;
  }
}
