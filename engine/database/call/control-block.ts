// The words that all threads share: the commit sequence, what commits have changed, and one cancel word
// per call in flight.
//
//   word 0        commitSeq: made odd by the writer before a commit, even again behind it, and counted up once
//                 more when what it holds is published, before the replies
//   word 1        number of the schema: counted up by the writer before a transaction that changes more of
//                 it than it adds, and again after it; odd in between
//   word 2        generation of the program that attached threads answer with in place; -1: with none
//   word 3 …      which elements each commit has changed: see view/invalidation-queue.ts
//   behind them   words of the call slots: see `slotState`
//
// A reader that sees a new commitSeq refreshes its snapshot before its next read: without this, 35
// to 100 % of reads in worker threads miss writes that were acknowledged already. While it is odd, a
// snapshot may or may not hold the commit, so that every read takes a fresh one: otherwise a thread
// that happens to look shows a write which the next thread, at rest on its older snapshot, unsees.
//
// Invariant: there is a slot for every call that lanes accept, so that none is turned away between
// its queue and its lane, where nobody would answer it.
import { assert } from '../../base/assert.js';
import { InvalidationQueue, touchedWords } from '../../storage/view/invalidation-queue.js';

const slotState = {
  /** It is to be run; of a write: nobody has begun with it. */
  waits: 0,
  /** It is to stop, or not to begin. */
  stops: 1,
  /** Of a write: the writer has begun with it, and says what comes of it. */
  begun: 2,
} as const;

const touchedBase = 3;
const slotBase = touchedBase + touchedWords;

/** Words for so many calls in flight: as many as all lanes together take at a time. */
export function createGateBuffer(slots: number): SharedArrayBuffer {
  return new SharedArrayBuffer((slotBase + slots) * 4);
}

/** A view of the shared words; every thread makes its own over the same buffer. */
export class ControlBlock {
  readonly #words: Int32Array;
  /** Of this thread, for its storage. */
  readonly notes: InvalidationQueue;
  #seen = -1;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer);
    this.notes = new InvalidationQueue(new Uint32Array(buffer, 4 * touchedBase, touchedWords));
  }

  /** True once after every commit, and always during one: the caller must refresh its snapshot. */
  hasNewCommit(): boolean {
    const now = Atomics.load(this.#words, 0);
    if (now === this.#seen && (now & 1) === 0) return false;
    this.#seen = now;
    return true;
  }

  /** The writer is about to make a commit visible. */
  beginCommit(): void {
    Atomics.or(this.#words, 0, 1);
  }

  /** The commit is visible, or it failed. */
  endCommit(): void {
    if ((Atomics.load(this.#words, 0) & 1) === 1) Atomics.add(this.#words, 0, 1);
  }

  /** The writer's announcement that what it committed is published. */
  publishCommit(): void {
    Atomics.add(this.#words, 0, 2);
  }

  schema(): number {
    return Atomics.load(this.#words, 1);
  }

  /** The writer is about to change the schema, has changed it (1), or has not (-1). */
  bumpSchemaVersion(step: 1 | -1): void {
    Atomics.add(this.#words, 1, step);
  }

  program(): number {
    return Atomics.load(this.#words, 2);
  }

  /** Of the thread that opened the database: from now on all threads answer with it, or none in place. */
  setProgram(generation: number): void {
    Atomics.store(this.#words, 2, generation);
  }

  isCancelled(slot: number): boolean {
    return Atomics.load(this.#words, slotBase + slot) === slotState.stops;
  }

  /** On the writer's thread: whether it may begin with that call; a second time as well. */
  begin(slot: number): boolean {
    const at = slotBase + slot;
    const { waits, begun, stops } = slotState;
    return Atomics.compareExchange(this.#words, at, waits, begun) !== stops;
  }

  /** Whether nobody has begun with that call: then nobody will, and nothing of it is done. */
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

  /** Makes a slot ready for its next call. */
  clear(slot: number): void {
    Atomics.store(this.#words, slotBase + slot, slotState.waits);
  }
}

/** Hands out call slots; the main thread owns it. */
export class SlotPool {
  readonly #free: number[] = [];

  constructor(private readonly gate: ControlBlock) {
    for (let slot = gate.slots - 1; slot >= 0; slot--) this.#free.push(slot);
  }

  /** A cleared slot. */
  take(): number {
    const slot = this.#free.pop();
    assert(slot !== undefined, 'there is a slot for every call that lanes accept');
    this.gate.clear(slot);
    return slot;
  }

  give(slot: number): void {
    this.#free.push(slot);
  }
}
