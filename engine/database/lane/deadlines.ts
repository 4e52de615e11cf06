// Writes whose time is over while the writer stands, in a slow sync or before a log that does not answer: whoever waits
// hears of it in time. Invariant: nobody hears that nothing was done of a write that the writer has begun with.
import { type Call, timeOut } from '../call/call.js';
import type { ControlBlock } from '../call/control-block.js';

const lookMs = 100;

export class Deadlines {
  /** That were not settled when it was looked last, and those since. */
  readonly #calls = new Set<Call>();
  #looking: NodeJS.Timeout | undefined;

  constructor(private readonly gate: Pick<ControlBlock, 'withdraw'>) {}

  watch(call: Call): void {
    this.#calls.add(call);
    this.#looking ??= setInterval(() => this.#look(), lookMs).unref();
  }

  #look(): void {
    const now = performance.now();
    for (const call of this.#calls) {
      const isLate = !call.settled && now > call.deadline;
      if (isLate && (call.slot < 0 || this.gate.withdraw(call.slot))) timeOut(call);
      if (call.settled) this.#calls.delete(call);
    }
    if (this.#calls.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  stop(): void {
    clearInterval(this.#looking);
    this.#calls.clear();
  }
}
