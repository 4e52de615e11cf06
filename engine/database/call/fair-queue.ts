// Queues calls per caller and decides whose call runs next: deficit round robin by measured time. Every
// active caller gets the same time. The expected time of a call is charged when it leaves the queue, and
// corrected when it returns. The caller that used less goes first. A caller stays active for some
// milliseconds after a reply, because it is likely to call again. During this time, no long call of a caller
// that used more goes ahead.
//
// Invariant: the calls of one caller leave in the order of arrival. No call waits while a thread is free and
// no other caller is active. For a single caller there is no accounting, only one comparison.
import type { CostClass } from '../../plan/plan.js';

/** An item of the queue. */
export interface Queued {
  /** Identity of the caller. Equal strings are one caller. */
  readonly caller: string;
  readonly body: { readonly length: number };
  readonly cost: CostClass;
  settled: boolean;
  /** True if the item leaves after everything that came before it, from any caller. */
  readonly isCommand?: boolean;
  /** Number of items that came before it. Set by the queue. */
  arrival?: number;
  /** Account of its caller, and the charge while the item is out. Set by the queue. */
  account?: unknown;
  charged?: number;
  /** Distinguishes the callers of all items that are out. Set by the queue. */
  callerNumber?: number;
}

/** Microseconds that every caller gets per round. */
const quantum = 1_000;
/** Maximum credit, in microseconds, of a caller that uses less than its share. */
const creditMax = 500_000;
const debtMax = 1_000_000;
/**
 * Milliseconds for which a caller stays active after a reply. A caller that usually pauses longer gets a
 * multiple of its mean pause.
 */
const lingerMs = 3;
const lingerMsMax = 50;
const pauses = 3;
/** Upper bound of the wait for an item that is out, in milliseconds. */
const awayMsMax = 1_000_000;
/** A call waits for other callers at most this fraction (1/4) of its expected time. */
const waitDivisor = 4;
/** Maximum number of accounts, including those of inactive callers. */
const accountsMax = 1_024;
/** A call that takes longer makes others wait. */
const longMicros = 500;
/** Maximum microseconds in flight of a caller without credit, unless it is one call. */
const windowMicros = 5_000;

/** First in, first out, without the cost of Array.shift on long queues. */
class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): void {
    this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length || this.#head > 4096) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Removes and returns the newest item. */
  pop(): T | undefined {
    return this.length === 0 ? undefined : this.#items.pop();
  }

  drain(): T[] {
    const rest = this.#items.slice(this.#head) as T[];
    this.#items = [];
    this.#head = 0;
    return rest;
  }
}

class Account<T> {
  readonly waiting = new Fifo<T>();
  /** Bytes of the waiting bodies. */
  bytes = 0;
  /** Microseconds that are due to this caller. Negative when it has used more than its share. */
  credit = 0;
  flying = 0;
  flyingMicros = 0;
  isListed = false;
  /** Time when a call last left or returned. */
  movedAt = Number.NEGATIVE_INFINITY;
  /** Moving average of the milliseconds between a reply and the caller's next call. */
  #pauseMs = 0;
  /** Expected time of a call, for long calls and for others. */
  #long = 5_000;
  #short = 100;

  constructor(
    readonly caller: string,
    readonly number: number,
  ) {}

  /** Records a new call after all earlier ones have returned. */
  calledAgain(now: number): void {
    const pause = now - this.movedAt;
    if (pause < lingerMsMax) this.#pauseMs += (pause - this.#pauseMs) / 8;
  }

  /** Milliseconds for which the caller stays active after a reply. */
  get lingerMs(): number {
    return Math.min(lingerMsMax, lingerMs + pauses * this.#pauseMs);
  }

  get isIdle(): boolean {
    return this.flying + this.waiting.length === 0;
  }

  expects(cost: CostClass): number {
    return cost === 'C' ? this.#long : this.#short;
  }

  /** Updates the expected time. It falls quickly: one slow call does not make a query slow. */
  learn(cost: CostClass, micros: number): void {
    const mean = this.expects(cost);
    const next = mean + (micros - mean) / (micros < mean ? 2 : 8);
    if (cost === 'C') this.#long = next;
    else this.#short = next;
  }
}

/** The threads that run the calls. */
export interface Threads {
  count: number;
  /** Number of threads with nothing to do. */
  idle: number;
}

/** Next action: send an item, or wait for a caller that may call again. */
export type NextItem<T> = { item: T } | { waitMs: number } | undefined;

export class FairQueue<T extends Queued> {
  readonly #accounts = new Map<string, Account<T>>();
  /** Active callers. */
  readonly #present: Account<T>[] = [];
  #last: Account<T> | undefined;
  #lastNumber = 0;
  #came = 0;
  length = 0;
  bytes = 0;
  /**
   * Returns true if the first item of a caller must wait for an item that is out. The queue asks again when
   * an item returns.
   */
  holds: ((item: T) => boolean) | undefined;

  #accountOf(caller: string): Account<T> {
    if (this.#last?.caller === caller) return this.#last;
    let account = this.#accounts.get(caller);
    if (account === undefined) {
      if (this.#accounts.size >= accountsMax) this.#dropInactive();
      this.#accounts.set(caller, (account = new Account(caller, ++this.#lastNumber)));
    }
    this.#last = account;
    return account;
  }

  #dropInactive(): void {
    for (const [caller, { isListed }] of this.#accounts)
      if (!isListed) this.#accounts.delete(caller);
  }

  /** Adds the caller to the active ones. */
  #list(account: Account<T>, now: number): void {
    if (account.isIdle) account.calledAgain(now);
    if (account.isListed) return;
    account.isListed = true;
    // A caller that left loses its credit. Its debt shrinks by the time it was away.
    const away = Math.max(0, now - account.movedAt) * 1000;
    account.credit = Math.min(0, account.credit + away);
    account.movedAt = now;
    this.#present.push(account);
  }

  /** Removes callers that are no longer active. */
  #dropIdle(now: number): void {
    const present = this.#present;
    for (let i = present.length - 1; i >= 0; i--) {
      const account = present[i]!;
      if (!account.isIdle || now - account.movedAt < account.lingerMs) continue;
      account.isListed = false;
      present[i] = present.at(-1)!;
      present.pop();
    }
  }

  /** Returns true if no other caller is active. `now` is performance.now(). */
  isOnlyCaller(caller: string, now: number): boolean {
    const present = this.#present;
    if (present.length > 1) this.#dropIdle(now);
    if (present.length === 0) return true;
    if (present.length === 1 && present[0]!.caller === caller) {
      // With a single caller, there is neither credit nor debt.
      present[0]!.credit = 0;
      return true;
    }
    if (present.length > 1) return false;
    this.#dropIdle(now);
    return present.length === 0;
  }

  /** Returns the only active caller, or undefined when there are none or several. */
  presence(now: number): { only: string | undefined } {
    this.#dropIdle(now);
    const [first, second] = this.#present;
    return { only: second === undefined ? first?.caller : undefined };
  }

  /** Waiting items of one caller. */
  waitingOf(caller: string): { calls: number; bytes: number } {
    const account = this.#accounts.get(caller);
    return { calls: account?.waiting.length ?? 0, bytes: account?.bytes ?? 0 };
  }

  /** Returns true if any caller has at least this many waiting items or bytes. */
  isAnyOver(calls: number, bytes: number): boolean {
    return this.#present.some((one) => one.waiting.length >= calls || one.bytes >= bytes);
  }

  push(item: T, now: number): void {
    const account = this.#accountOf(item.caller);
    this.#list(account, now);
    item.arrival = this.#came++;
    account.waiting.push(item);
    account.bytes += item.body.length;
    this.length++;
    this.bytes += item.body.length;
  }

  /** Number of items pushed so far. */
  get came(): number {
    return this.#came;
  }

  /** Returns true if an item waits that was pushed before the counter reached `came`. */
  hasBefore(came: number): boolean {
    return this.#oldest() < came;
  }

  #oldest(): number {
    let oldest = Number.POSITIVE_INFINITY;
    if (this.length === 0) return oldest;
    for (const { waiting } of this.#present)
      oldest = Math.min(oldest, waiting.first?.arrival ?? oldest);
    return oldest;
  }

  /**
   * Removes and returns the newest item of the caller with the most bytes or items, if that caller has at
   * least `min`.
   */
  takeBack(by: 'bytes' | 'calls', min: number): T | undefined {
    const sizeOf = (one: Account<T>): number => (by === 'bytes' ? one.bytes : one.waiting.length);
    let largest: Account<T> | undefined;
    for (const account of this.#present)
      if (largest === undefined || sizeOf(account) > sizeOf(largest)) largest = account;
    if (largest === undefined || sizeOf(largest) < min) return undefined;
    const item = largest.waiting.pop();
    if (item !== undefined) this.#count(largest, item);
    return item;
  }

  #count(account: Account<T>, item: T): void {
    account.bytes -= item.body.length;
    this.length--;
    this.bytes -= item.body.length;
  }

  /**
   * Returns the next action. The caller of `next` must send or drop a returned item. With `before`, only
   * items pushed before the counter reached that number are returned, in order of arrival.
   */
  next(now: number, threads: Threads, before = Number.POSITIVE_INFINITY): NextItem<T> {
    if (this.length === 0) return undefined;
    this.#dropIdle(now);
    if (before < Number.POSITIVE_INFINITY) return this.#firstBefore(before);
    const [first, second] = this.#present;
    if (second === undefined) first!.credit = 0;
    const only = second === undefined ? first : undefined;
    if (only === undefined) return this.#choose(now, threads);
    return this.#isThrottled(only.waiting.first!) ? undefined : { item: this.#take(only) };
  }

  #firstBefore(before: number): NextItem<T> {
    let first: Account<T> | undefined;
    let arrival = before;
    for (const account of this.#present) {
      const at = account.waiting.first?.arrival ?? before;
      if (at < arrival) [first, arrival] = [account, at];
    }
    return first && !this.#isThrottled(first.waiting.first!)
      ? { item: this.#take(first) }
      : undefined;
  }

  #isThrottled(item: T): boolean {
    return this.holds?.(item) === true;
  }

  #take(account: Account<T>): T {
    const item = account.waiting.first!;
    account.waiting.shift();
    this.#count(account, item);
    return item;
  }

  #choose(now: number, { count, idle }: Threads): NextItem<T> {
    const account = this.#longestWaiting(Math.max(1, count >> 1));
    if (account === undefined) return undefined;
    if (account.credit > 0) return { item: this.#take(account) };
    const rounds = Math.floor(-account.credit / quantum) + 1;
    const micros = account.expects(account.waiting.first!.cost);
    if (micros > longMicros && idle <= 1) {
      // A caller that has used less is likely to call soon. Keep one thread for it.
      const max = micros / 1000 / waitDivisor;
      const waitMs = this.#expectedWait(now, rounds * quantum, max, count === 1);
      if (waitMs > 0) return { waitMs };
    }
    for (const one of this.#present)
      one.credit = Math.min(creditMax, one.credit + rounds * quantum);
    return { item: this.#take(account) };
  }

  /**
   * Returns for how many milliseconds another caller may still call that would have credit after this grant;
   * at most `max` milliseconds after its reply.
   */
  #expectedWait(now: number, grant: number, max: number, isOneThread: boolean): number {
    let waitMs = 0;
    for (const { credit, flying, movedAt, lingerMs: ownMs, waiting } of this.#present) {
      const due = credit + grant;
      if (due <= 0 || waiting.length > 0) continue;
      // A running call uses up credit. With one thread, it ends before the next one starts.
      const away = isOneThread ? awayMsMax : due / 1000;
      const until = flying > 0 ? away : Math.min(ownMs, max);
      waitMs = Math.max(waitMs, movedAt + until - now);
    }
    return waitMs;
  }

  /** Returns the caller that may send and has used least. */
  #longestWaiting(share: number): Account<T> | undefined {
    let account: Account<T> | undefined;
    const oldest = this.#hasCommands ? this.#oldest() : 0;
    for (const one of this.#present) {
      const { first } = one.waiting;
      if (first === undefined || !mayLeave(one, first, share)) continue;
      if (first.isCommand && first.arrival !== oldest) continue;
      if (this.#isThrottled(first)) continue;
      if (account === undefined || one.credit > account.credit) account = one;
    }
    return account;
  }

  #hasCommands = false;

  /** Allows items with `isCommand`. */
  allowCommands(): void {
    this.#hasCommands = true;
  }

  /** Records that the item was sent. */
  sent(item: T, now: number): void {
    const account = this.#accountOf(item.caller);
    this.#list(account, now);
    const micros = account.expects(item.cost);
    item.account = account;
    item.callerNumber = account.number;
    item.charged = micros;
    account.flying++;
    account.flyingMicros += micros;
    account.credit -= micros;
    account.movedAt = now;
  }

  /**
   * For a caller that is alone: returns true if it has at least this many microseconds and calls in flight.
   */
  isFar(caller: string, micros: number, calls: number): boolean {
    const { flying, flyingMicros } = this.#accountOf(caller);
    return flying >= calls && flyingMicros >= micros;
  }

  /** Records that the item returned, with its microseconds of work. Undefined means that it was lost. */
  back(item: T, now: number, micros?: number): void {
    const { charged = 0 } = item;
    const account = item.account as Account<T> | undefined;
    if (account === undefined) return;
    item.account = undefined;
    account.flying--;
    account.flyingMicros -= charged;
    account.movedAt = now;
    if (micros === undefined) return;
    account.learn(item.cost, micros);
    account.credit = Math.max(-debtMax, account.credit + charged - micros);
  }

  /** Charges half of the idle time of a thread to the callers for which it waited. */
  waited(ms: number): void {
    for (const one of this.#present) if (one.waiting.length === 0) one.credit -= ms * 500;
  }

  /** Removes and returns all waiting items in the order of arrival. */
  drain(): T[] {
    const all = this.#present.flatMap((account) => {
      account.bytes = 0;
      return account.waiting.drain();
    });
    this.length = 0;
    this.bytes = 0;
    return all.sort((a, b) => a.arrival! - b.arrival!);
  }
}

/**
 * Returns true if the item may be sent. A caller without credit may use half of the threads, or have a few
 * short calls in flight.
 */
function mayLeave<T extends Queued>(account: Account<T>, item: T, share: number): boolean {
  if (account.credit > 0 || account.flying < share) return true;
  return account.flyingMicros + account.expects(item.cost) <= windowMicros;
}
