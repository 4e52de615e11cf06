// Calls that wait for a thread, by caller, and whose turn it is (access.md 8): deficit round robin by measured time.
// Every caller who is there gets the same time: what a call is expected to take is charged when it leaves, and set
// right when it is back. Who has used less goes first. A caller who has just been answered, and so is likely to ask
// again, is still there for some milliseconds: a long call of somebody who has used more does not slip in between.
//
// Invariants: the calls of one caller leave in the order in which they came; nobody waits while a thread is free and
// nobody else is there. A caller who is alone is not counted, and pays a comparison.
import type { CostClass } from '../../plan/plan.js';

/** What waits. */
export interface Queued {
  /** Identity of the caller. Equal strings are one caller. */
  readonly caller: string;
  readonly body: { readonly length: number };
  readonly cost: CostClass;
  settled: boolean;
  /** It leaves behind all that came before it, whoever asked. */
  readonly isOrder?: boolean;
  /** How many came before it; set here. */
  place?: number;
  /** Its caller's, and what it was charged, while it is away; set here. */
  account?: unknown;
  charged?: number;
  /** Tells callers apart among all that is away; set here. */
  callerNumber?: number;
}

/** Micros that everybody is given in turn. */
const quantum = 1_000;
/** What somebody who asks for less than their share may save. */
const creditMax = 500_000;
const debtMax = 1_000_000;
/** Who was answered so lately is still there; who takes longer to ask again, some times as long. */
const lingerMs = 3;
const lingerMsMax = 50;
const pauses = 3;
/** How long an answer is waited for before somebody else is looked for. */
const awayMsMax = 1_000_000;
/** A call waits for others who may ask for this share of its own time at most. */
const patience = 4;
/** Accounts of callers who are gone are kept up to here. */
const accountsMax = 1_024;
/** A call that takes longer makes others wait. */
const longMicros = 500;
/** Without credit nobody has more than this away, or one call. */
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

  /** Takes back what came last. */
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
  /** Of the bodies that wait. */
  bytes = 0;
  /** Micros that are due to this caller; negative: used ahead of others. */
  credit = 0;
  flying = 0;
  flyingMicros = 0;
  isListed = false;
  /** When a call left, or came back, last. */
  movedAt = Number.NEGATIVE_INFINITY;
  /** Moving average of the milliseconds between a reply and the caller's next call. */
  #pauseMs = 0;
  /** What a call takes, of long ones and of others. */
  #long = 5_000;
  #short = 100;

  constructor(
    readonly caller: string,
    readonly number: number,
  ) {}

  /** It asks again, after all it had was answered. */
  asksAgain(now: number): void {
    const pause = now - this.movedAt;
    if (pause < lingerMsMax) this.#pauseMs += (pause - this.#pauseMs) / 8;
  }

  /** How long it is there after an answer. */
  get lingerMs(): number {
    return Math.min(lingerMsMax, lingerMs + pauses * this.#pauseMs);
  }

  get isIdle(): boolean {
    return this.flying + this.waiting.length === 0;
  }

  expects(cost: CostClass): number {
    return cost === 'C' ? this.#long : this.#short;
  }

  /** Quick to fall: what was slow for once is not slow. */
  learn(cost: CostClass, micros: number): void {
    const mean = this.expects(cost);
    const next = mean + (micros - mean) / (micros < mean ? 2 : 8);
    if (cost === 'C') this.#long = next;
    else this.#short = next;
  }
}

/** Those that calls are sent to. */
export interface Threads {
  count: number;
  /** With nothing to do. */
  idle: number;
}

/** What to do next: an item to send, or how long to wait for somebody. */
export type Turn<T> = { item: T } | { waitMs: number } | undefined;

export class FairQueue<T extends Queued> {
  readonly #accounts = new Map<string, Account<T>>();
  /** Those who are there. */
  readonly #present: Account<T>[] = [];
  #last: Account<T> | undefined;
  #lastNumber = 0;
  #came = 0;
  length = 0;
  bytes = 0;
  /** Whether the first of a caller's waits for something that is away; asked again when that is back. */
  holds: ((item: T) => boolean) | undefined;

  #accountOf(caller: string): Account<T> {
    if (this.#last?.caller === caller) return this.#last;
    let account = this.#accounts.get(caller);
    if (account === undefined) {
      if (this.#accounts.size >= accountsMax) this.#forgetGone();
      this.#accounts.set(caller, (account = new Account(caller, ++this.#lastNumber)));
    }
    this.#last = account;
    return account;
  }

  #forgetGone(): void {
    for (const [caller, { isListed }] of this.#accounts)
      if (!isListed) this.#accounts.delete(caller);
  }

  /** The caller is there. */
  #list(account: Account<T>, now: number): void {
    if (account.isIdle) account.asksAgain(now);
    if (account.isListed) return;
    account.isListed = true;
    // What was saved is gone with who has left; what was used ahead is forgotten in the time it took.
    const away = Math.max(0, now - account.movedAt) * 1000;
    account.credit = Math.min(0, account.credit + away);
    account.movedAt = now;
    this.#present.push(account);
  }

  /** Forgets those who have left. */
  #look(now: number): void {
    const present = this.#present;
    for (let i = present.length - 1; i >= 0; i--) {
      const account = present[i]!;
      if (!account.isIdle || now - account.movedAt < account.lingerMs) continue;
      account.isListed = false;
      present[i] = present.at(-1)!;
      present.pop();
    }
  }

  /** Whether nobody but this caller is there. `now`: performance.now(). */
  isAlone(caller: string, now: number): boolean {
    const present = this.#present;
    if (present.length > 1) this.#look(now);
    if (present.length === 0) return true;
    if (present.length === 1 && present[0]!.caller === caller) {
      // Nothing is owed by or to anybody.
      present[0]!.credit = 0;
      return true;
    }
    if (present.length > 1) return false;
    this.#look(now);
    return present.length === 0;
  }

  /** The caller who is there alone. */
  presence(now: number): { only: string | undefined } {
    this.#look(now);
    const [first, second] = this.#present;
    return { only: second === undefined ? first?.caller : undefined };
  }

  /** Of one caller. */
  waitingOf(caller: string): { calls: number; bytes: number } {
    const account = this.#accounts.get(caller);
    return { calls: account?.waiting.length ?? 0, bytes: account?.bytes ?? 0 };
  }

  /** Whether somebody holds so much. */
  isAnyOver(calls: number, bytes: number): boolean {
    return this.#present.some((one) => one.waiting.length >= calls || one.bytes >= bytes);
  }

  push(item: T, now: number): void {
    const account = this.#accountOf(item.caller);
    this.#list(account, now);
    item.place = this.#came++;
    account.waiting.push(item);
    account.bytes += item.body.length;
    this.length++;
    this.bytes += item.body.length;
  }

  /** How many have come. */
  get came(): number {
    return this.#came;
  }

  /** Whether something waits that came before so many had. */
  hasBefore(came: number): boolean {
    return this.#oldest() < came;
  }

  #oldest(): number {
    let oldest = Number.POSITIVE_INFINITY;
    if (this.length === 0) return oldest;
    for (const { waiting } of this.#present)
      oldest = Math.min(oldest, waiting.first?.place ?? oldest);
    return oldest;
  }

  /** Takes back the item that came last of the caller with the most bytes or items, where that is `least`. */
  takeBack(by: 'bytes' | 'calls', least: number): T | undefined {
    const sizeOf = (one: Account<T>): number => (by === 'bytes' ? one.bytes : one.waiting.length);
    let most: Account<T> | undefined;
    for (const account of this.#present)
      if (most === undefined || sizeOf(account) > sizeOf(most)) most = account;
    if (most === undefined || sizeOf(most) < least) return undefined;
    const item = most.waiting.pop();
    if (item !== undefined) this.#count(most, item);
    return item;
  }

  #count(account: Account<T>, item: T): void {
    account.bytes -= item.body.length;
    this.length--;
    this.bytes -= item.body.length;
  }

  /**
   * Whose turn it is; what it gives is to be sent or dropped. `before`: only what came before so many had, in whatever
   * turn.
   */
  next(now: number, threads: Threads, before = Number.POSITIVE_INFINITY): Turn<T> {
    if (this.length === 0) return undefined;
    this.#look(now);
    if (before < Number.POSITIVE_INFINITY) return this.#firstBefore(before);
    const [first, second] = this.#present;
    if (second === undefined) first!.credit = 0;
    const only = second === undefined ? first : undefined;
    if (only === undefined) return this.#choose(now, threads);
    return this.#isHeld(only.waiting.first!) ? undefined : { item: this.#take(only) };
  }

  #firstBefore(before: number): Turn<T> {
    let first: Account<T> | undefined;
    let place = before;
    for (const account of this.#present) {
      const at = account.waiting.first?.place ?? before;
      if (at < place) [first, place] = [account, at];
    }
    return first && !this.#isHeld(first.waiting.first!) ? { item: this.#take(first) } : undefined;
  }

  #isHeld(item: T): boolean {
    return this.holds?.(item) === true;
  }

  #take(account: Account<T>): T {
    const item = account.waiting.first!;
    account.waiting.shift();
    this.#count(account, item);
    return item;
  }

  #choose(now: number, { count, idle }: Threads): Turn<T> {
    const account = this.#mostDue(Math.max(1, count >> 1));
    if (account === undefined) return undefined;
    if (account.credit > 0) return { item: this.#take(account) };
    const rounds = Math.floor(-account.credit / quantum) + 1;
    const micros = account.expects(account.waiting.first!.cost);
    if (micros > longMicros && idle <= 1) {
      // Somebody who has used less is about to ask: one thread is kept for them.
      const most = micros / 1000 / patience;
      const waitMs = this.#soonAsked(now, rounds * quantum, most, count === 1);
      if (waitMs > 0) return { waitMs };
    }
    for (const one of this.#present)
      one.credit = Math.min(creditMax, one.credit + rounds * quantum);
    return { item: this.#take(account) };
  }

  /** For how long somebody may still ask who would have credit after this grant; at most so long after an answer. */
  #soonAsked(now: number, grant: number, most: number, isOneThread: boolean): number {
    let waitMs = 0;
    for (const { credit, flying, movedAt, lingerMs: there, waiting } of this.#present) {
      const due = credit + grant;
      if (due <= 0 || waiting.length > 0) continue;
      // What is away uses credit while it is; where there is one thread, it comes back first in any case.
      const away = isOneThread ? awayMsMax : due / 1000;
      const until = flying > 0 ? away : Math.min(there, most);
      waitMs = Math.max(waitMs, movedAt + until - now);
    }
    return waitMs;
  }

  /** Who may send and has used least. */
  #mostDue(share: number): Account<T> | undefined {
    let account: Account<T> | undefined;
    const oldest = this.#hasOrders ? this.#oldest() : 0;
    for (const one of this.#present) {
      const { first } = one.waiting;
      if (first === undefined || !mayLeave(one, first, share)) continue;
      if (first.isOrder && first.place !== oldest) continue;
      if (this.#isHeld(first)) continue;
      if (account === undefined || one.credit > account.credit) account = one;
    }
    return account;
  }

  #hasOrders = false;

  /** Items of this queue may be orders. */
  allowOrders(): void {
    this.#hasOrders = true;
  }

  /** It is on its way. */
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

  /** What is away of a caller who is alone: whether one more is too much, with so many micros and calls at least. */
  isFar(caller: string, micros: number, calls: number): boolean {
    const { flying, flyingMicros } = this.#accountOf(caller);
    return flying >= calls && flyingMicros >= micros;
  }

  /** It is back, after so much work; undefined: it was lost. */
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

  /** Time that a thread was idle for those who might have asked is theirs. */
  waited(ms: number): void {
    for (const one of this.#present) if (one.waiting.length === 0) one.credit -= ms * 500;
  }

  /** Removes and returns everything that waits, in the order in which it came. */
  drain(): T[] {
    const all = this.#present.flatMap((account) => {
      account.bytes = 0;
      return account.waiting.drain();
    });
    this.length = 0;
    this.bytes = 0;
    return all.sort((a, b) => a.place! - b.place!);
  }
}

/** Without credit, half of the threads are the most, or some short calls. */
function mayLeave<T extends Queued>(account: Account<T>, item: T, share: number): boolean {
  if (account.credit > 0 || account.flying < share) return true;
  return account.flyingMicros + account.expects(item.cost) <= windowMicros;
}
