// A snapshot of the data that the writer has taken between two commits, though it is another thread that reads it:
// that thread opens the file, says that it is ready, and waits; the writer has it take its snapshot, which is a
// matter of microseconds, and goes on. Invariant: a snapshot that is read is of the commit behind which the writer
// stood; where either of them does not come in time, nothing is read.
//
//   i32  0   see `state`
import { openEnv } from '../../storage/table/env.js';
import { type TableHashes, hashHeld } from './table-check.js';

const state = {
  /** The thread is not there yet. */
  opening: 0,
  ready: 1,
  /** The writer stands, and waits. */
  take: 2,
  taken: 3,
  /** Nobody wants it any more. */
  over: 4,
} as const;

/** A thread takes a snapshot in so long, unless the machine stands still. */
const takeMs = 5_000;
/** The writer comes in so long: it may have a large import before. */
const readyMs = 600_000;

export const snapshotWords = (): SharedArrayBuffer => new SharedArrayBuffer(4);

function become(words: Int32Array, next: number): void {
  Atomics.store(words, 0, next);
  Atomics.notify(words, 0);
}

/** What the tables hold, for the thread that reads; undefined: the writer never came. */
export function hashSnapshot(
  graphPath: string,
  shared: SharedArrayBuffer,
): TableHashes | undefined {
  const words = new Int32Array(shared);
  const env = openEnv(graphPath, { readOnly: true });
  try {
    if (Atomics.compareExchange(words, 0, state.opening, state.ready) !== state.opening)
      return undefined;
    Atomics.notify(words, 0);
    Atomics.wait(words, 0, state.ready, readyMs);
    if (Atomics.load(words, 0) !== state.take) return undefined;
    env.refresh();
    const release = env.keep();
    if (Atomics.compareExchange(words, 0, state.take, state.taken) !== state.take) return undefined;
    Atomics.notify(words, 0);
    const hashes = hashHeld(env);
    release();
    return hashes;
  } finally {
    void env.close();
  }
}

/** Resolves when the thread waits for the writer, or it is known that it does not come. */
export async function untilReady(shared: SharedArrayBuffer, end: Promise<unknown>): Promise<void> {
  const words = new Int32Array(shared);
  const wait = Atomics.waitAsync(words, 0, state.opening, readyMs);
  if (wait.async) await Promise.race([wait.value, end]);
}

/** On the writer's thread, between two commits. */
export function takeSnapshot(shared: SharedArrayBuffer): void {
  const words = new Int32Array(shared);
  if (Atomics.compareExchange(words, 0, state.ready, state.take) !== state.ready) return;
  Atomics.notify(words, 0);
  Atomics.wait(words, 0, state.take, takeMs);
  Atomics.compareExchange(words, 0, state.take, state.over);
}

/** Nobody comes: the thread ends. What it has taken already is read. */
export function giveUp(shared: SharedArrayBuffer): void {
  const words = new Int32Array(shared);
  if (Atomics.load(words, 0) !== state.taken) become(words, state.over);
}
