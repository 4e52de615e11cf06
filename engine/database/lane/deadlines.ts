// Times out writes while the writer is blocked by a slow sync or by a log that does not respond.
// Invariant: no caller gets a timeout that promises "nothing was done" after the writer has begun its write.
import { type Call, timeOut } from '../call/call.js';
import type { ControlBlock } from '../call/control-block.js';

const checkMs = 100;

export class Deadlines {
  /** Calls that were not settled at the last check, and newer ones. */
  readonly #calls = new Set<Call>();
  #looking: NodeJS.Timeout | undefined;

  constructor(private readonly control: Pick<ControlBlock, 'withdraw'>) {}

  watch(call: Call): void {
    this.#calls.add(call);
    this.#looking ??= setInterval(() => this.#check(), checkMs).unref();
  }

  #check(): void {
    const now = performance.now();
    for (const call of this.#calls) {
      const isLate = !call.settled && now > call.deadline;
      if (isLate && (call.slot < 0 || this.control.withdraw(call.slot))) timeOut(call);
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
