// Recognizes writes that hold the writer for long, by the measured time of their query, and allows only one
// of them at the writer at a time. A transaction cannot be interrupted, so writes that arrive meanwhile wait
// for its end. Other callers therefore wait for at most one large DROP, however many are queued.
//
// Invariant: a long write has its own group, and waiting writes of other callers run between two long ones. A
// query that drops and is not measured yet counts as long.
import type { Call } from '../call/call.js';

/** A write that takes longer (microseconds) runs alone. */
export const longMicros = 100_000;

/** Maximum number of queries whose time is remembered. */
const queriesMax = 4_096;
/**
 * Divisor by which a shorter call lowers the expectation. Arguments differ, so the next call may be as long
 * as the last one.
 */
const fall = 8;

export class LongWrites {
  readonly #expected = new Map<number, number>();
  #running: Call | undefined;

  /** Returns the expected time in microseconds; 0 when it is unknown and probably short. */
  expect({ query, drops }: Pick<Call, 'query' | 'drops'>): number {
    const known = query < 0 ? undefined : this.#expected.get(query);
    return known ?? (drops ? longMicros : 0);
  }

  /**
   * Returns true if the call must wait for the long write that is running: another long write, or a write of
   * the same caller, whose calls keep their order.
   */
  holds(call: Pick<Call, 'query' | 'drops' | 'caller' | 'settled'>): boolean {
    const running = this.#running;
    if (running === undefined || call.settled) return false;
    return running.caller === call.caller || this.expect(call) >= longMicros;
  }

  /** Records that the call goes to the writer. */
  sent(call: Call): void {
    call.expected = this.expect(call);
    if (call.expected >= longMicros) this.#running = call;
  }

  /** Records that the call returned. `micros` is its time, if it was done. */
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
