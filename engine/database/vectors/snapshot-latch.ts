// Gives the snapshot thread short exclusive access to an index: a latch in shared memory. The writer holds it
// during every change of an index while a snapshot is being made; the snapshot thread holds it during its
// last pass.
// Invariant: at most one of the two holds the latch. The writer never waits for a dead thread: a snapshot
// thread that has not ticked for seconds loses the latch, and its snapshot is discarded.
//
//   word 0    0 = free, 1 = the writer changes an index, 2 = the snapshot thread compares
//   word 1    1 = the snapshot thread requests the latch: the writer lets it go first
//   word 2    ticks of the snapshot thread
//   word 3    1 = the snapshot is cancelled
//   byte 16   f64: sequence of the last change that the indexes hold
import { TrellisError } from '../../base/errors.js';
import type { WriterPause } from '../../vector/snapshot.js';

const holder = 0;
const wanted = 1;
const ticks = 2;
const stop = 3;
const seqF64 = 2;

const free = 0;
const writing = 1;
const comparing = 2;

/** Milliseconds without a tick, while the writer waits, after which the snapshot thread counts as dead. */
const deadMs = 5_000;

export function createLatchBuffer(seq: number): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(24);
  new Float64Array(buffer)[seqF64] = seq;
  return buffer;
}

/** The writer's side. */
export class WriterLatch {
  readonly #words: Int32Array;
  readonly #seq: Float64Array;

  constructor(
    buffer: SharedArrayBuffer,
    private readonly timeoutMs = deadMs,
  ) {
    this.#words = new Int32Array(buffer);
    this.#seq = new Float64Array(buffer);
  }

  begin(): void {
    const words = this.#words;
    let alive = Atomics.load(words, ticks);
    let since = performance.now();
    while (!this.tryBegin()) {
      Atomics.wait(words, holder, comparing, 1);
      const seen = Atomics.load(words, ticks);
      if (seen !== alive) since = performance.now();
      alive = seen;
      if (performance.now() - since < this.timeoutMs) continue;
      this.giveUp();
      Atomics.store(words, wanted, 0);
      Atomics.compareExchange(words, holder, comparing, free);
    }
  }

  /** Returns false while the snapshot thread holds or requests the latch. */
  tryBegin(): boolean {
    const words = this.#words;
    if (Atomics.load(words, wanted) === 1) return false;
    return Atomics.compareExchange(words, holder, free, writing) === free;
  }

  end(seq: number): void {
    this.#seq[seqF64] = seq;
    Atomics.store(this.#words, holder, free);
    Atomics.notify(this.#words, holder);
  }

  giveUp(): void {
    Atomics.store(this.#words, stop, 1);
  }
}

/** The snapshot thread's side. */
export function snapshotLatchOf(buffer: SharedArrayBuffer): WriterPause {
  const words = new Int32Array(buffer);
  const tick = (): void => {
    Atomics.add(words, ticks, 1);
    if (Atomics.load(words, stop) === 1)
      throw new TrellisError({ code: 'SHUTTING_DOWN', args: {} });
  };
  return {
    tick,
    begin() {
      Atomics.store(words, wanted, 1);
      while (Atomics.compareExchange(words, holder, free, comparing) !== free) {
        tick();
        Atomics.wait(words, holder, writing, 1);
      }
      return new Float64Array(buffer)[seqF64]!;
    },
    end() {
      Atomics.store(words, wanted, 0);
      const before = Atomics.compareExchange(words, holder, comparing, free);
      Atomics.notify(words, holder);
      // The writer has stopped waiting and continued, so the comparison is invalid.
      if (before !== comparing) throw new TrellisError({ code: 'SHUTTING_DOWN', args: {} });
    },
  };
}
