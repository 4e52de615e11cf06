// Shares the calling thread among the callers of short reads. While several callers are active, each gets
// one small part of an event-loop turn, and its further reads wait for a later turn. Meanwhile its
// connections are quiet, so a request of another caller waits for few reads, not for one of every
// connection.
//
// Invariant: the reads of a single caller never wait, and cost one comparison more.
import { type Whose, nameOf } from './call.js';
import { WaitingReads } from './waiting-reads.js';

/** Microseconds per turn up to which reads are not counted by caller. */
const freeMicros = 40;
/** Microseconds per turn of each caller, while others are active. One read may exceed them. */
const callerMicros = 20;
/** Time to receive a request and to send its response, which counts with each read. */
const exchangeMicros = 15;
/** For this many milliseconds after another caller was seen, several callers count as active. */
const presentMs = 5;
/** Maximum number of waiting reads. Beyond it, reads run immediately. */
const waitingMax = 10_000;

export class InlineTurns {
  /** Microseconds of this turn. */
  #micros = 0;
  /** Microseconds of this turn by caller, above `freeMicros`. */
  readonly #byCaller = new Map<string, number>();
  readonly #waiting = new WaitingReads();
  #lastCaller: string | undefined;
  #severalAt = Number.NEGATIVE_INFINITY;

  /** `later` arranges a call of `begin` at the next turn. */
  constructor(private readonly later: () => void) {}

  /** Returns true if a read of this caller must wait for a later turn. */
  mustWait(whose: Whose | undefined): boolean {
    if (this.#micros < freeMicros && this.#waiting.count === 0) return false;
    const caller = nameOf(whose);
    const now = performance.now();
    if (caller !== this.#lastCaller) {
      if (this.#lastCaller !== undefined) this.#severalAt = now;
      this.#lastCaller = caller;
    }
    if (this.#waiting.count >= waitingMax) return false;
    if (this.#waiting.has(caller)) return true;
    if (now - this.#severalAt > presentMs) return false;
    return (this.#byCaller.get(caller) ?? 0) >= callerMicros;
  }

  /** Runs the read of this caller in a later turn. */
  wait<T>(whose: Whose | undefined, read: () => T | Promise<T>): Promise<T> {
    const result = this.#waiting.add(whose, read);
    this.later();
    return result;
  }

  /** Records a read of this caller. */
  spend(whose: Whose | undefined, micros: number): void {
    const isCounted = this.#micros >= freeMicros || this.#waiting.count > 0;
    this.#micros += micros + exchangeMicros;
    if (!isCounted) return;
    const caller = nameOf(whose);
    const former = this.#byCaller.get(caller) ?? 0;
    this.#byCaller.set(caller, former + micros + exchangeMicros);
  }

  /** Begins a turn: runs waiting reads, some of each caller. */
  begin(): void {
    this.#micros = 0;
    this.#byCaller.clear();
    if (this.#waiting.count === 0) return;
    // When the other callers have left, the last one gets the whole turn again.
    const isShared = performance.now() - this.#severalAt <= presentMs;
    for (const caller of this.#waiting.callers) {
      const isOver = (): boolean => isShared && (this.#byCaller.get(caller) ?? 0) >= callerMicros;
      do this.#waiting.runFirst(caller);
      while (this.#waiting.has(caller) && !isOver());
    }
    if (this.#waiting.count > 0) this.later();
  }
}
