// Takes a snapshot of the data between two commits of the writer, for another thread that reads it. That
// thread opens the file, reports that it is ready, and waits. The writer lets it take its snapshot, which
// takes microseconds, and continues.
// Invariant: the snapshot contains exactly the commits before the one moment at which the writer waited. If
// either thread does not arrive in time, nothing is read.
//
//   i32  0   see `state`
import { openEnv } from '../../storage/table/env.js';
import { type TableHashes, hashPinned } from './table-check.js';

const state = {
  /** The reading thread is still opening the file. */
  opening: 0,
  ready: 1,
  /** The writer waits for the snapshot. */
  take: 2,
  taken: 3,
  /** The snapshot is no longer wanted. */
  over: 4,
} as const;

/** Milliseconds that a thread may take for its snapshot. It takes far longer only on a stalled machine. */
const takeMs = 5_000;
/** Milliseconds to wait for the writer, which may have to finish a large import first. */
const readyMs = 600_000;

export const snapshotWords = (): SharedArrayBuffer => new SharedArrayBuffer(4);

function become(words: Int32Array, next: number): void {
  Atomics.store(words, 0, next);
  Atomics.notify(words, 0);
}

/** Hashes the tables, on the reading thread. Returns undefined when the writer never came. */
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
    const hashes = hashPinned(env);
    release();
    return hashes;
  } finally {
    void env.close();
  }
}

/** Resolves when the reading thread waits for the writer, or when it has ended early. */
export async function untilReady(shared: SharedArrayBuffer, end: Promise<unknown>): Promise<void> {
  const words = new Int32Array(shared);
  const wait = Atomics.waitAsync(words, 0, state.opening, readyMs);
  if (wait.async) await Promise.race([wait.value, end]);
}

/** Called on the writer's thread, between two commits. */
export function takeSnapshot(shared: SharedArrayBuffer): void {
  const words = new Int32Array(shared);
  if (Atomics.compareExchange(words, 0, state.ready, state.take) !== state.ready) return;
  Atomics.notify(words, 0);
  Atomics.wait(words, 0, state.take, takeMs);
  Atomics.compareExchange(words, 0, state.take, state.over);
}

/** Gives up: the reading thread ends. A snapshot that was already taken is still read. */
export function giveUp(shared: SharedArrayBuffer): void {
  const words = new Int32Array(shared);
  if (Atomics.load(words, 0) !== state.taken) become(words, state.over);
}
