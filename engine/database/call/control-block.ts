// Shared memory of all threads of a database: the commit sequence, the changes of recent commits, and one
// state word for each call in flight.
//
//   word 0        commitSeq: odd during a commit, even after it; incremented once more (by 2) when the
//                 changes are published, before the replies
//   word 1        schema version: incremented by the writer before and after a transaction that changes
//                 the schema beyond additions; odd in between
//   word 2        generation of the program that attached threads may run themselves; -1: none
//   word 3 …      ids that each commit has changed: see view/invalidation-queue.ts
//   after them    one word per call slot: see `slotState`
//
//
// Invariant: there is a slot for every call that lanes accept. No call is lost between its queue and its
// lane.
import { assert } from '../../base/assert.js';
import { InvalidationQueue, touchedWords } from '../../storage/view/invalidation-queue.js';

const slotState = {
  /** The call may run. For a write: the writer has not begun it. */
  waits: 0,
  /** The call must stop, or must not begin. */
  stops: 1,
  /** Writes only: the writer has begun the call and reports its result. */
  begun: 2,
} as const;

const invalidationBase = 3;
const slotBase = invalidationBase + touchedWords;

/** Creates the shared memory. `slots` is the maximum number of calls in flight in all lanes together. */
export function createControlBuffer(slots: number): SharedArrayBuffer {
  return new SharedArrayBuffer((slotBase + slots) * 4);
}

/** A view of the shared memory. Every thread creates its own view over the same buffer. */
export class ControlBlock {
  readonly #words: Int32Array;
  /** Invalidation queue of this thread's storage. */
  readonly notes: InvalidationQueue;
  #seen = -1;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer);
    this.notes = new InvalidationQueue(new Uint32Array(buffer, 4 * invalidationBase, touchedWords));
  }

  /**
   * Returns true once after every commit, and always during one. The caller must then refresh its snapshot.
   */
  hasNewCommit(): boolean {
    const now = Atomics.load(this.#words, 0);
    if (now === this.#seen && (now & 1) === 0) return false;
    this.#seen = now;
    return true;
  }

  /** The writer begins to make a commit visible. */
  beginCommit(): void {
    Atomics.or(this.#words, 0, 1);
  }

  /** The commit is visible, or it failed. */
  endCommit(): void {
    if ((Atomics.load(this.#words, 0) & 1) === 1) Atomics.add(this.#words, 0, 1);
  }

  /** The writer has published the committed changes. */
  publishCommit(): void {
    Atomics.add(this.#words, 0, 2);
  }

  schema(): number {
    return Atomics.load(this.#words, 1);
  }

  /**
   * The writer calls it before a schema change, and after it: with 1 when the change succeeded, with -1 when
   * it did not.
   */
  bumpSchemaVersion(step: 1 | -1): void {
    Atomics.add(this.#words, 1, step);
  }

  program(): number {
    return Atomics.load(this.#words, 2);
  }

  /** Called by the opening thread. Names the program that attached threads may run; -1 allows none. */
  setProgram(generation: number): void {
    Atomics.store(this.#words, 2, generation);
  }

  isCancelled(slot: number): boolean {
    return Atomics.load(this.#words, slotBase + slot) === slotState.stops;
  }

  /** Called by the writer. Returns true if the writer may begin the call. A second call returns the same. */
  begin(slot: number): boolean {
    const at = slotBase + slot;
    const { waits, begun, stops } = slotState;
    return Atomics.compareExchange(this.#words, at, waits, begun) !== stops;
  }

  /** Returns true if the call had not begun. It will never begin, and nothing of it is done. */
  withdraw(slot: number): boolean {
    const { waits, stops } = slotState;
    return Atomics.compareExchange(this.#words, slotBase + slot, waits, stops) === waits;
  }

  cancel(slot: number): void {
    Atomics.store(this.#words, slotBase + slot, slotState.stops);
  }

  cancelAll(): void {
    for (let slot = 0; slot < this.slots; slot++) this.cancel(slot);
  }

  get slots(): number {
    return this.#words.length - slotBase;
  }

  /** Resets a slot for its next call. */
  clear(slot: number): void {
    Atomics.store(this.#words, slotBase + slot, slotState.waits);
  }
}

/** Allocates call slots. The main thread owns it. */
export class SlotPool {
  readonly #free: number[] = [];

  constructor(private readonly control: ControlBlock) {
    for (let slot = control.slots - 1; slot >= 0; slot--) this.#free.push(slot);
  }

  /** Returns a cleared slot. */
  take(): number {
    const slot = this.#free.pop();
    assert(slot !== undefined, 'there is a slot for every call that lanes accept');
    this.control.clear(slot);
    return slot;
  }

  give(slot: number): void {
    this.#free.push(slot);
  }
}
