// Lets the process end only while its threads can be stopped safely. `process.exit`, an uncaught error and an
// empty event loop stop every thread wherever it is. In a write transaction, the process would hang: while
// such a thread is torn down, lmdb-js waits for the lock that the thread itself holds
// (EnvWrap::cleanupStrayTxns). While a thread loads LMDB's addon, or is in a call that creates an object, the
// process would abort (napi_throw).
//
//   word 0   1: the process is ending, and no thread begins a load or a write
//   word 1   number of threads that load their modules
//   word 2   number of threads in a write transaction
//
// Invariant: a thread increments its count before it reads word 0. The ending process sets word 0 before it
// reads the counts. So one of the two sees the other. The process cancels everything else that threads run, and
// waits until their event loops are idle.
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const [ending, loading, writing] = [0, 1, 2];

/** Maximum wait for loading threads, in milliseconds. Loading takes 0.2 s on a busy machine. */
const loadingMs = 3_000;
/** Milliseconds between two checks. */
const pollMs = 1;
const idleMs = 1_000;
/**
 * Maximum wait for write transactions, in milliseconds. Calls are cancelled; only schema changes over many
 * rows take longer.
 */
const writingMs = 10_000;

interface ThreadData {
  trellisExitCounts: SharedArrayBuffer;
}

/** Set on threads that were started with `threadData`. Other threads need no protection. */
const input = (workerData as Partial<ThreadData> | null)?.trellisExitCounts;
const own = input instanceof SharedArrayBuffer ? new Int32Array(input) : undefined;

function enter(count: number): void {
  if (own === undefined) return;
  Atomics.add(own, count, 1);
  if (Atomics.load(own, ending) === 0) return;
  leave(count);
  for (;;) Atomics.wait(own, ending, 1, 1_000);
}

function leave(count: number): void {
  if (own === undefined) return;
  Atomics.sub(own, count, 1);
  Atomics.notify(own, count);
}

/** Protects a write transaction of this thread. */
export const transactionHold = {
  begin: () => enter(writing),
  end: () => leave(writing),
};

/** Protects the loading of this thread's modules. The entry of the thread calls it before it imports them. */
export const beginLoading = (): void => enter(loading);

export const endLoading = (): void => leave(loading);

let words: Int32Array<SharedArrayBuffer> | undefined;
/** The threads of one open database. */
interface Threads {
  /** Cancels their calls. */
  stop(): void;
  /** Milliseconds for which each event loop has been idle since it started. */
  idle(): number[];
}

const open = new Set<Threads>();

/**
 * Returns the data with which threads are started. The process then ends only when these threads can be
 * stopped.
 */
export function threadData(): ThreadData {
  if (words === undefined) {
    words = new Int32Array(new SharedArrayBuffer(12));
    process.on('exit', () => waitForThreads(words!));
  }
  return { trellisExitCounts: words.buffer };
}

/** Registers threads to stop before the process ends. Returns a function that removes them. */
export function onExit(threads: Threads): () => void {
  open.add(threads);
  return () => void open.delete(threads);
}

function waitForThreads(words: Int32Array): void {
  Atomics.store(words, ending, 1);
  for (const threads of open) threads.stop();
  waitForNone(words, loading, loadingMs);
  if (waitForNone(words, writing, writingMs)) return waitForIdle(words);
  // The process would hang. Acknowledged writes are durable, so kill it.
  try {
    writeSync(2, `trellis: killed, because a write did not end within ${writingMs / 1_000} s\n`);
  } catch {
    // The standard error stream has no reader.
  }
  process.kill(process.pid, 'SIGKILL');
}

/** Cancelled calls stop within milliseconds. */
function waitForIdle(words: Int32Array): void {
  const end = performance.now() + idleMs;
  const idle = (): number[] => [...open].flatMap((threads) => threads.idle());
  for (let before = idle(); performance.now() < end; ) {
    Atomics.wait(words, ending, 1, pollMs);
    const now = idle();
    if (now.every((ms, i) => ms - (before[i] ?? 0) > pollMs / 2)) return;
    before = now;
  }
}

function waitForNone(words: Int32Array, count: number, ms: number): boolean {
  const end = performance.now() + ms;
  for (;;) {
    const running = Atomics.load(words, count);
    if (running <= 0) return true;
    const left = end - performance.now();
    if (left <= 0) return false;
    Atomics.wait(words, count, running, left);
  }
}
