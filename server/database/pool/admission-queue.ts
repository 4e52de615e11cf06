// Whose database is open, when more are asked for than may be. Each that waits has a place in a queue; whoever
// has been idle makes room first, and one that is at work when its turn is over: it takes no more calls, ends
// those under way and closes. Invariant: as many hold places as may; one that waits goes on towards its turn
// while somebody asks for it, whether that request is still there or not.
import { fail } from '../../../engine/internal.js';

/** A database with a place. */
export interface Holder {
  /** For how long nobody has used it; 0 while it works. */
  readonly idleMs: number;
  /** For how long it has been open. */
  readonly openMs: number;
  /** A bulk load is under way, for which others wait. */
  readonly isLoading: boolean;
  ensureOpen(): Promise<void> | undefined;
  /** Takes no more calls, and resolves when it is closed; false: it stays, for a load that has begun. */
  drain(): Promise<boolean>;
}

/** Who was asked for something so shortly ago is taken to be at work. */
const atWorkMs = 50;

/** One that is at work keeps its place for so long from others. */
const turnMs = 2_000;

/** A request waits for so long for its database to have its turn. */
const patienceMs = 1_000;

/** Who has not been asked for during so long waits no more. */
const forgetMs = 10_000;

const pollIntervalMs = 25;

interface Waiter {
  name: string;
  askedAt: number;
  /** The request that waits; others of the same database wait with it. */
  grant: (() => void) | undefined;
}

/** Time as turns go by it, in milliseconds. */
export interface Clock {
  now(): number;
  /** Does something later; what it gives calls that off. */
  after(ms: number, work: () => void): () => void;
}

/** The machine's. It keeps no process from its end. */
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
  #stopLooking: (() => void) | undefined;
  #isOver = false;

  constructor(
    private readonly most: number,
    private readonly holderOf: (name: string) => Holder,
    private readonly clock = machineClock,
  ) {}

  /** Resolves when a database may be opened. Fails OVERLOADED; its place in the queue is kept. */
  async take(name: string): Promise<void> {
    if (this.#isHolding(name)) return;
    let waiter = this.#waiting.find((one) => one.name === name);
    if (waiter === undefined) {
      this.#waiting.push((waiter = { name, askedAt: 0, grant: undefined }));
    }
    const own = waiter;
    own.askedAt = this.clock.now();
    await new Promise<void>((resolve) => {
      own.grant = resolve;
      this.clock.after(patienceMs, resolve);
      this.#serve();
    });
    own.grant = undefined;
    if (this.#isOver) fail('SHUTTING_DOWN');
    if (!this.#isHolding(name)) fail('OVERLOADED', { queue: 'The pool of open databases' });
  }

  /** A database is closed, or could not be opened. */
  releaseSlot(name: string): void {
    this.#holders.delete(name);
    this.#leaving.delete(name);
    this.#serve();
  }

  /** Has a database make room. */
  async send(name: string): Promise<void> {
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
    this.#stopLooking?.();
    for (const { grant } of this.#waiting.splice(0)) grant?.();
  }

  #serve(): void {
    this.#stopLooking?.();
    const now = this.clock.now();
    this.#waiting = this.#waiting.filter(({ grant, askedAt }) => grant || now - askedAt < forgetMs);
    while (this.#holders.size < this.most && this.#give());
    while (this.#leaving.size < this.#waiting.length && this.#sendOne());
    if (this.#waiting.length > 0)
      this.#stopLooking = this.clock.after(pollIntervalMs, () => this.#serve());
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

  /** Nobody waits just now, but somebody will come again. */
  async #open(name: string): Promise<void> {
    try {
      await this.holderOf(name).ensureOpen();
    } catch {
      // Whoever comes hears of it.
      this.releaseSlot(name);
    }
  }

  /** Has one make room: who has been idle longest, else who has had its turn. False for none. */
  #sendOne(): boolean {
    const staying = [...this.#holders].filter((name) => !this.#leaving.has(name));
    const longest = (least: number, of: (holder: Holder) => number): string | undefined =>
      staying
        .map((name) => ({ name, ms: of(this.holderOf(name)) }))
        .sort((a, b) => b.ms - a.ms)
        .find(({ ms }) => ms >= least)?.name;
    const name =
      longest(atWorkMs, ({ idleMs }) => idleMs) ??
      longest(turnMs, ({ isLoading, openMs }) => (isLoading ? 0 : openMs));
    if (name === undefined) return false;
    void this.send(name);
    return true;
  }
}
