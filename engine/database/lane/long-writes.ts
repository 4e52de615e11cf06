// Which writes hold the writer for long, by what calls of the same query took, and that there is one of them at the
// writer at a time. A transaction cannot be cut: whoever comes while it runs waits for its end. So one large DROP
// is what others wait for at most, however many of them are there, and whoever sent them.
//
// Invariants: a long write makes a group of its own; between two of them goes what waits of other callers. What is
// not measured yet is taken for long where it drops.
import type { Call } from '../call/call.js';

/** A write that takes longer goes alone. */
export const longMicros = 100_000;

/** Queries of which the time is remembered. */
const queriesMax = 4_096;
/** What an expectation loses to a shorter call: arguments differ, and the next one may be as long as the last. */
const fall = 8;

export class LongWrites {
  readonly #expected = new Map<number, number>();
  #running: Call | undefined;

  /** How long it is going to take, in micros; 0: nobody knows, and it is not likely to be long. */
  expect({ query, drops }: Pick<Call, 'query' | 'drops'>): number {
    const known = query < 0 ? undefined : this.#expected.get(query);
    return known ?? (drops ? longMicros : 0);
  }

  /**
   * Whether it waits for the long write that runs: another long one does, and one of the same caller, whose calls
   * keep their order.
   */
  holds(call: Pick<Call, 'query' | 'drops' | 'caller' | 'settled'>): boolean {
    const running = this.#running;
    if (running === undefined || call.settled) return false;
    return running.caller === call.caller || this.expect(call) >= longMicros;
  }

  /** It goes to the writer. */
  sent(call: Call): void {
    call.expected = this.expect(call);
    if (call.expected >= longMicros) this.#running = call;
  }

  /** It is back; `micros`: what it took, where it was done. */
  back(call: Call, micros?: number): void {
    if (this.#running === call) this.#running = undefined;
    if (micros === undefined || call.query < 0) return;
    const { query } = call;
    const former = this.#expected.get(query);
    if (former === undefined && this.#expected.size >= queriesMax) this.#expected.clear();
    const next =
      former === undefined || micros > former ? micros : former + (micros - former) / fall;
    this.#expected.set(query, next);
  }
}
