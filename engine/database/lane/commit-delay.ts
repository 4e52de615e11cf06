// How long the writer of a cluster's leader waits for those whose writes it has just answered: who asks again at once
// is then part of the next entry of the log, instead of the one after. An entry costs a round through the log and
// one through the disk, whoever is in it. Invariant: a wait is never longer than a share of what the last group
// took, and where nobody comes it is seldom tried.
//
// One group is under way at a time, also in a cluster. A second one could be executed and appended while the first
// waits for the log, in the same transaction (K30). But 54 to 59 of 64 writers are in the first one as it is (two
// cores, 2026-11-26); with the few others the second would cost an entry of its own, and where the log refuses it,
// the first, which is in the log already, would go with it.
import type { Outcome, QueuedWrite } from './group-commit.js';
import { longMicros } from './long-writes.js';

/** A group closes at this many requests or bytes of bodies, so that one commit stays short. */
const groupRequests = 1000;
const groupBytes = 4 * 1024 * 1024;

/**
 * The next group leaves those who wait. Who is in it is answered when all of it is done: a long write is alone in
 * its group, and lets those go first who wait when its turn comes; others together do not take much longer than one.
 */
export function takeGroup(waiting: QueuedWrite[]): QueuedWrite[] {
  const first = waiting[0];
  if (first !== undefined && isLong(first)) {
    if (first.hasYielded || !letOthersPass(waiting)) return waiting.splice(0, 1);
    first.hasYielded = true;
  }
  let count = 0;
  let size = 0;
  let micros = 0;
  while (count < waiting.length && count < groupRequests && size < groupBytes) {
    const next = waiting[count]!;
    if (count > 0 && (isLong(next) || micros >= longMicros)) break;
    count++;
    size += next.body.length;
    micros += next.expected;
  }
  return count === waiting.length ? waiting.splice(0) : waiting.splice(0, count);
}

/** Puts those first that are not long, and whose callers have nothing long before them; false: there is none. */
function letOthersPass(waiting: QueuedWrite[]): boolean {
  const passing: QueuedWrite[] = [];
  const staying: QueuedWrite[] = [];
  const held = new Set<number>();
  for (const one of waiting) {
    const stays = isLong(one) || held.has(one.caller);
    if (stays) held.add(one.caller);
    (stays ? staying : passing).push(one);
  }
  if (passing.length === 0) return false;
  for (const [at, one] of [...passing, ...staying].entries()) waiting[at] = one;
  return true;
}

/** Those of a group that ended behind a long write; others like it are taken for long, too. */
export function leftBehind(group: QueuedWrite[], outcomes: readonly Outcome[]): QueuedWrite[] {
  const left = group.slice(outcomes.length);
  const last = group[outcomes.length - 1]!;
  if ((outcomes.at(-1)?.micros ?? 0) < longMicros) return left;
  for (const one of left) if (one.query === last.query) one.expected = longMicros;
  return left;
}

const isLong = ({ expected }: QueuedWrite): boolean => expected >= longMicros;

/** Of the time that the last group took. */
const share = 1 / 4;
const mostMs = 5;
/** Fewer who were answered are not worth a timer. */
const leastAnswered = 4;
/** After waits in vain so many groups go without one, twice as many each time. */
const skippedMax = 64;

export class CommitDelay {
  #timer: NodeJS.Timeout | undefined;
  /** How many were answered last, and how many waited by then. */
  #answered = 0;
  #left = 0;
  #endsAt = 0;
  #isTried = false;
  #penalty = 0;
  #skip = 0;

  /** A group of so many was answered, `ms` after it began; `left` wait for the next. */
  answered(count: number, ms: number, left: number): void {
    if (this.#isTried) this.#judge(count);
    this.#isTried = false;
    const isWorth = count >= leastAnswered && left + count <= groupRequests && this.#skip === 0;
    if (this.#skip > 0) this.#skip--;
    this.#answered = isWorth ? count : 0;
    this.#left = left;
    this.#endsAt = performance.now() + Math.min(mostMs, ms * share);
  }

  /** By the group of so many for which was waited: have half of those come again? */
  #judge(count: number): void {
    if ((count - this.#left) * 2 >= this.#answered) {
      this.#penalty = 0;
      return;
    }
    this.#penalty = Math.min(skippedMax, Math.max(1, this.#penalty * 2));
    this.#skip = this.#penalty;
  }

  /** Whether the next group waits for more than these; `begin` is called when it has waited long enough. */
  holds(waiting: number, begin: () => void): boolean {
    const ms = this.#endsAt - performance.now();
    if (waiting < this.#left + this.#answered && ms > 0) {
      this.#isTried = true;
      this.#timer ??= setTimeout(() => {
        // It may come a moment early.
        this.#timer = undefined;
        begin();
      }, ms);
      return true;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return false;
  }

  /** Whether a group waits that is whole by now. */
  isWhole(waiting: number): boolean {
    return this.#timer !== undefined && waiting >= this.#left + this.#answered;
  }
}
