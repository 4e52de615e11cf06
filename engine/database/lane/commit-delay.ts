// Decides how long the writer of a cluster leader waits for callers that it has just answered. If these
// callers call again immediately, their writes join the next log entry, and not the one after. An entry costs
// one round trip to the log and one to the disk, whatever its size.
// Invariant: a wait never exceeds a share of the time of the last group. After waits without new calls, waits
// become rare.
//
import type { Outcome, QueuedWrite } from './group-commit.js';
import { longMicros } from './long-writes.js';

/** Limits of a group, in requests and bytes of bodies, so that one commit stays short. */
const groupRequests = 1000;
const groupBytes = 4 * 1024 * 1024;

/**
 * Removes the next group from the waiting writes. All writes of a group are answered when the whole group is
 * done. Therefore a long write has its own group, and first lets waiting short writes pass once. Other groups
 * do not take much longer than one long write.
 */
export function takeGroup(waiting: QueuedWrite[]): QueuedWrite[] {
  const first = waiting[0];
  if (first !== undefined && isLong(first)) {
    if (first.hasYielded || !moveShortFirst(waiting)) return waiting.splice(0, 1);
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

/**
 * Moves the writes to the front that are not long and whose caller has no long write before them. Returns
 * false when there are none.
 */
function moveShortFirst(waiting: QueuedWrite[]): boolean {
  const passing: QueuedWrite[] = [];
  const staying: QueuedWrite[] = [];
  const longCallers = new Set<number>();
  for (const one of waiting) {
    const stays = isLong(one) || longCallers.has(one.caller);
    if (stays) longCallers.add(one.caller);
    (stays ? staying : passing).push(one);
  }
  if (passing.length === 0) return false;
  for (const [at, one] of [...passing, ...staying].entries()) waiting[at] = one;
  return true;
}

/**
 * Returns the writes of a group that did not run because a long write ended the group. Marks those of the
 * same query as long.
 */
export function notRun(group: QueuedWrite[], outcomes: readonly Outcome[]): QueuedWrite[] {
  const left = group.slice(outcomes.length);
  const last = group[outcomes.length - 1]!;
  if ((outcomes.at(-1)?.micros ?? 0) < longMicros) return left;
  for (const one of left) if (one.query === last.query) one.expected = longMicros;
  return left;
}

const isLong = ({ expected }: QueuedWrite): boolean => expected >= longMicros;

/** Maximum wait as a share of the time of the last group, and in milliseconds. */
const waitShare = 1 / 4;
const maxMs = 5;
/** With fewer answered callers, a timer does not pay off. */
const minAnswered = 4;
/** Maximum number of groups without a wait after a useless wait. It doubles each time. */
const skippedMax = 64;

export class CommitDelay {
  #timer: NodeJS.Timeout | undefined;
  /** Number of writes answered last, and of writes that were waiting then. */
  #answered = 0;
  #left = 0;
  #endsAt = 0;
  #isTried = false;
  #penalty = 0;
  #skip = 0;

  /**
   * Records that a group of `count` writes was answered `ms` after it began. `left` writes wait for the next
   * group.
   */
  answered(count: number, ms: number, left: number): void {
    if (this.#isTried) this.#adjustPenalty(count);
    this.#isTried = false;
    const mayWait = count >= minAnswered && left + count <= groupRequests && this.#skip === 0;
    if (this.#skip > 0) this.#skip--;
    this.#answered = mayWait ? count : 0;
    this.#left = left;
    this.#endsAt = performance.now() + Math.min(maxMs, ms * waitShare);
  }

  /**
   * Doubles the number of skipped waits if less than half of the answered callers called again after a wait.
   */
  #adjustPenalty(count: number): void {
    if ((count - this.#left) * 2 >= this.#answered) {
      this.#penalty = 0;
      return;
    }
    this.#penalty = Math.min(skippedMax, Math.max(1, this.#penalty * 2));
    this.#skip = this.#penalty;
  }

  /** Returns true if the next group waits for more writes. `begin` is called at the end of the wait. */
  waits(waiting: number, begin: () => void): boolean {
    const ms = this.#endsAt - performance.now();
    if (waiting < this.#left + this.#answered && ms > 0) {
      this.#isTried = true;
      this.#timer ??= setTimeout(() => {
        // The timer may fire slightly early.
        this.#timer = undefined;
        begin();
      }, ms);
      return true;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return false;
  }

  /** Returns true if a waiting group is complete. */
  isComplete(waiting: number): boolean {
    return this.#timer !== undefined && waiting >= this.#left + this.#answered;
  }
}
