// Decides how much of the log to keep: entries younger than `keepMs`, entries that a recently active node
// needs, and entries that backups need, up to `keepBytes`.
// Invariant: no entry is deleted that the disk of this node does not have.
import type { ReplicatedLog } from '../log/replicated-log.js';
import type { ReplicationSlot } from '../node.js';

export interface KeepOptions {
  keepMs: number;
  keepBytes: number;
}

/** Entries that may be deleted. */
interface Due {
  upTo: number;
  /** True if the log exceeds `keepBytes`. `dropped` then names the nodes that still needed the entries. */
  isFull: boolean;
  dropped: string[];
}

/** Checks per `keepMs`. */
const checksPerRetention = 16;
/** Share of `keepBytes` that is left after the log exceeded it. */
const targetShare = 0.75;

export class LogRetention {
  /** Sequences that the disk had reached, with their times, oldest first. */
  readonly #noted: { at: number; seq: number }[] = [];

  /** Positions by node name. */
  readonly #claims = new Map<string, { seq: number; at: number; keys: readonly number[] }>();
  /** Positions at which backups end. */
  #marks: readonly number[] = [];
  /** Sequence up to which entries are older than `keepMs` and may be trimmed. */
  #horizon = 0;
  /** Range and size of the log at the last check. Zeros while another node leads. */
  seen = { first: 0, bytes: 0 };

  constructor(private readonly options: KeepOptions) {}

  /** Milliseconds between two checks. */
  get everyMs(): number {
    return Math.min(60_000, Math.max(250, this.options.keepMs / checksPerRetention));
  }

  /** Clears the state, because another node leads and decides about retention. */
  reset(): void {
    this.#noted.length = 0;
    this.#horizon = 0;
    this.#claims.clear();
    this.seen = { first: 0, bytes: 0 };
  }

  /**
   * Records that a node has everything up to `seq` and needs what follows. Undefined means that the node
   * needs nothing any longer. `keys` are the ids of the secrets that it knows.
   */
  claim(node: string, seq: number | undefined, now: number, keys: readonly number[] = []): void {
    if (seq === undefined) this.#claims.delete(node);
    else this.#claims.set(node, { seq, at: now, keys });
  }

  /** Returns the active nodes that do not know that key, or whose version does not report keys. */
  withoutKey(key: number, now: number): string[] {
    this.claims(now);
    return [...this.#claims].flatMap(([node, { keys }]) => (keys.includes(key) ? [] : [node]));
  }

  /** Sets the positions at which backups of the data were taken. */
  setMarks(marks: readonly number[]): void {
    this.#marks = marks;
  }

  /** Positions of the active nodes. */
  claims(now: number): ReplicationSlot[] {
    for (const [node, { at }] of this.#claims)
      if (at <= now - this.options.keepMs) this.#claims.delete(node);
    return [...this.#claims].map(([node, { seq }]) => ({ node, seq }));
  }

  /** Checks the log. Returns up to where it may be deleted now, or undefined when nothing may be deleted. */
  async check(
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
      const excess = (bytes - targetShare * keepBytes) / bytes;
      upTo = Math.max(upTo, first + Math.floor((last - first) * excess));
    }
    upTo = Math.min(upTo, durable);
    if (upTo <= first) return undefined;
    const dropped = claims.filter(({ seq }) => seq < upTo).map(({ node }) => node);
    if (this.#marks.some((seq) => seq < upTo)) dropped.push('a backup');
    return { upTo, isFull, dropped };
  }
}
