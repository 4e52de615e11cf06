// Decides which databases are open if more are requested than may be open. Waiting databases form a queue.
// The longest idle database closes first. If all are busy, the one that has been open longest closes after
// its minimum time: it takes no more calls, finishes the running ones, and closes.
// Invariant: at most `max` databases hold a slot. A waiting database keeps its position in the queue while
// requests for it arrive, even if an earlier request has given up.
import { fail } from '../../../engine/internal.js';

/** A database with a slot. */
export interface Holder {
  /** Milliseconds since its last use; 0 while it works. */
  readonly idleMs: number;
  /** Milliseconds since it was opened. */
  readonly openMs: number;
  /** Whether a bulk load is running. The database then stays open. */
  readonly isLoading: boolean;
  ensureOpen(): Promise<void> | undefined;
  /**
   * Takes no more calls, and resolves when the database is closed. Resolves to false if it stays open because
   * a load has begun.
   */
  drain(): Promise<boolean>;
}

/** A database counts as busy for this many milliseconds after its last request. */
const atWorkMs = 50;

/** Milliseconds for which a busy database keeps its slot. */
const minOpenMs = 2_000;

/** Milliseconds that a request waits for the slot of its database. */
const requestTimeoutMs = 1_000;

/** Milliseconds without a request after which a waiting database leaves the queue. */
const waiterTtlMs = 10_000;

const pollIntervalMs = 25;

interface Waiter {
  name: string;
  lastRequestAt: number;
  /** Resolves the waiting request. Other requests for the same database wait with it. */
  grant: (() => void) | undefined;
}

/** Source of time, in milliseconds. */
export interface Clock {
  now(): number;
  /** Runs `work` later. Returns a function that cancels it. */
  after(ms: number, work: () => void): () => void;
}

/** The clock of the machine. Its timers do not keep the process alive. */
const machineClock: Clock = {
  now: () => performance.now(),
  after: (ms, work) => {
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  },
};

export class AdmissionQueue {
  readonly #holders = new Set<string>();
  readonly #leaving = new Set<string>();
  #waiting: Waiter[] = [];
  #stopPolling: (() => void) | undefined;
  #isOver = false;

  constructor(
    private readonly max: number,
    private readonly holderOf: (name: string) => Holder,
    private readonly clock = machineClock,
  ) {}

  /**
   * Resolves when the database may be opened. Fails OVERLOADED; the database keeps its position in the queue.
   */
  async take(name: string): Promise<void> {
    if (this.#isHolding(name)) return;
    let waiter = this.#waiting.find((one) => one.name === name);
    if (waiter === undefined) {
      this.#waiting.push((waiter = { name, lastRequestAt: 0, grant: undefined }));
    }
    const own = waiter;
    own.lastRequestAt = this.clock.now();
    await new Promise<void>((resolve) => {
      own.grant = resolve;
      this.clock.after(requestTimeoutMs, resolve);
      this.#serve();
    });
    own.grant = undefined;
    if (this.#isOver) fail('SHUTTING_DOWN');
    if (!this.#isHolding(name)) fail('OVERLOADED', { queue: 'The pool of open databases' });
  }

  /** Frees the slot of a database that is closed, or could not be opened. */
  releaseSlot(name: string): void {
    this.#holders.delete(name);
    this.#leaving.delete(name);
    this.#serve();
  }

  /** Makes a database give up its slot. */
  async evict(name: string): Promise<void> {
    if (!this.#isHolding(name)) return;
    this.#leaving.add(name);
    if (await this.holderOf(name).drain()) return;
    this.#leaving.delete(name);
    this.#serve();
  }

  #isHolding(name: string): boolean {
    return this.#holders.has(name) && !this.#leaving.has(name);
  }

  close(): void {
    this.#isOver = true;
    this.#stopPolling?.();
    for (const { grant } of this.#waiting.splice(0)) grant?.();
  }

  #serve(): void {
    this.#stopPolling?.();
    const now = this.clock.now();
    this.#waiting = this.#waiting.filter(
      ({ grant, lastRequestAt }) => grant || now - lastRequestAt < waiterTtlMs,
    );
    while (this.#holders.size < this.max && this.#give());
    while (this.#leaving.size < this.#waiting.length && this.#evictOne());
    if (this.#waiting.length > 0)
      this.#stopPolling = this.clock.after(pollIntervalMs, () => this.#serve());
  }

  #give(): boolean {
    const at = this.#waiting.findIndex(({ name }) => !this.#leaving.has(name));
    const [first] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (first === undefined) return false;
    this.#holders.add(first.name);
    if (first.grant) first.grant();
    else void this.#open(first.name);
    return true;
  }

  /** Opens a database with no waiting request, because another request will arrive. */
  async #open(name: string): Promise<void> {
    try {
      await this.holderOf(name).ensureOpen();
    } catch {
      // The next request reports the error.
      this.releaseSlot(name);
    }
  }

  /**
   * Makes one database give up its slot: the longest idle one, else the longest open one after its minimum
   * time. Returns false if there is none.
   */
  #evictOne(): boolean {
    const staying = [...this.#holders].filter((name) => !this.#leaving.has(name));
    const longest = (minMs: number, of: (holder: Holder) => number): string | undefined =>
      staying
        .map((name) => ({ name, ms: of(this.holderOf(name)) }))
        .sort((a, b) => b.ms - a.ms)
        .find(({ ms }) => ms >= minMs)?.name;
    const name =
      longest(atWorkMs, ({ idleMs }) => idleMs) ??
      longest(minOpenMs, ({ isLoading, openMs }) => (isLoading ? 0 : openMs));
    if (name === undefined) return false;
    void this.evict(name);
    return true;
  }
}
