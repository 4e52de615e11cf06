// How much of the log is kept: what is younger than a time, what a node needs that was heard of within that time,
// and what backups need, unless that is more bytes than allowed. Invariant: nothing is given up that the disk of
// this node does not have.
import type { ReplicatedLog } from '../log/replicated-log.js';
import type { ReplicationSlot } from '../node.js';

export interface KeepOptions {
  keepMs: number;
  keepBytes: number;
}

/** What may be forgotten. */
interface Due {
  upTo: number;
  /** It is more than is allowed: who needed it is `dropped`. */
  isFull: boolean;
  dropped: string[];
}

/** Looks in the time that entries are kept. */
const looksPerKeep = 16;
/** Of the bytes allowed, what is left when they were exceeded. */
const shareLeft = 0.75;

export class LogRetention {
  /** How far the disk was, and when: oldest first. */
  readonly #noted: { at: number; seq: number }[] = [];

  /** By node. */
  readonly #claims = new Map<string, { seq: number; at: number; keys: readonly number[] }>();
  /** Where backups end. */
  #marks: readonly number[] = [];
  /** What is younger stays. */
  #horizon = 0;
  /** Of the log, as it was last looked at; zeros while another node does. */
  seen = { first: 0, bytes: 0 };

  constructor(private readonly options: KeepOptions) {}

  /** Between two looks. */
  get everyMs(): number {
    return Math.min(60_000, Math.max(250, this.options.keepMs / looksPerKeep));
  }

  /** Another node leads: what it keeps is its own to say. */
  reset(): void {
    this.#noted.length = 0;
    this.#horizon = 0;
    this.#claims.clear();
    this.seen = { first: 0, bytes: 0 };
  }

  /**
   * A node has all up to `seq`, and needs what is behind; undefined: nothing any more. `keys`: of the secrets that it
   * knows.
   */
  claim(node: string, seq: number | undefined, now: number, keys: readonly number[] = []): void {
    if (seq === undefined) this.#claims.delete(node);
    else this.#claims.set(node, { seq, at: now, keys });
  }

  /** The nodes that were heard of and do not know that key, or are of a version that does not say. */
  withoutKey(key: number, now: number): string[] {
    this.claims(now);
    return [...this.#claims].flatMap(([node, { keys }]) => (keys.includes(key) ? [] : [node]));
  }

  /** Backups of the data were taken at these positions. */
  keepFrom(marks: readonly number[]): void {
    this.#marks = marks;
  }

  /** Of the nodes that were heard of. */
  claims(now: number): ReplicationSlot[] {
    for (const [node, { at }] of this.#claims)
      if (at <= now - this.options.keepMs) this.#claims.delete(node);
    return [...this.#claims].map(([node, { seq }]) => ({ node, seq }));
  }

  /** Up to where the log may be forgotten now; undefined: nothing of it. */
  async look(
    log: Pick<ReplicatedLog, 'first' | 'last' | 'size'>,
    durable: number,
    now: number,
  ): Promise<Due | undefined> {
    const { keepMs, keepBytes } = this.options;
    if (this.#noted.at(-1)?.seq !== durable) this.#noted.push({ at: now, seq: durable });
    while (this.#noted.length > 0 && this.#noted[0]!.at <= now - keepMs)
      this.#horizon = this.#noted.shift()!.seq;
    const claims = this.claims(now);
    let upTo = Math.min(this.#horizon, ...this.#marks, ...claims.map(({ seq }) => seq));
    const [first, last, bytes] = await Promise.all([log.first(), log.last(), log.size()]);
    this.seen = { first, bytes };
    const isFull = bytes > keepBytes;
    if (isFull) {
      const share = (bytes - shareLeft * keepBytes) / bytes;
      upTo = Math.max(upTo, first + Math.floor((last - first) * share));
    }
    upTo = Math.min(upTo, durable);
    if (upTo <= first) return undefined;
    const dropped = claims.filter(({ seq }) => seq < upTo).map(({ node }) => node);
    if (this.#marks.some((seq) => seq < upTo)) dropped.push('a backup');
    return { upTo, isFull, dropped };
  }
}
