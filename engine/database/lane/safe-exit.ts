// Lets a process end only where its threads may be stopped. `process.exit`, an error nobody catches and an
// event loop with nothing left stop every thread wherever it is. In a write transaction that is for
// ever: while such a thread is taken apart, lmdb-js waits for the lock that it holds itself
// (EnvWrap::cleanupStrayTxns). While it loads LMDB's addon, or is in a call of it that makes an object, it aborts the
// process (napi_throw).
//
//   word 0   1: the process ends, and no thread begins what would hold it
//   word 1   threads that load their modules
//   word 2   threads in a write transaction
//
// Invariant: a thread counts itself before it looks at word 0, and whoever ends the process sets word 0
// before it looks at the counts, so that one of the two sees the other. What else a thread does it has been told to
// stop, and is waited for until its event loop waits itself: nobody gives it more.
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const [ending, loading, writing] = [0, 1, 2];

/** What is loaded is there in .2 s, on a machine that does much else. */
const loadingMs = 3_000;
/** Between two looks at what threads do. */
const lookMs = 1;
const idleMs = 1_000;
/** Calls are told to stop: longer takes only what changes the schema of many rows. */
const writingMs = 10_000;

interface ThreadData {
  trellisExitHold: SharedArrayBuffer;
}

/** Of a thread that was started with `threadData`; elsewhere there is nothing to hold. */
const given = (workerData as Partial<ThreadData> | null)?.trellisExitHold;
const own = given instanceof SharedArrayBuffer ? new Int32Array(given) : undefined;

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

/** Around a write transaction of this thread. */
export const transactionHold = {
  begin: () => enter(writing),
  end: () => leave(writing),
};

// This module comes first of a thread's; the last one says that it has all of them.
enter(loading);
export const hasLoaded = (): void => leave(loading);

let words: Int32Array<SharedArrayBuffer> | undefined;
/** The threads of one open database. */
interface Threads {
  /** Tells their calls to stop. */
  stop(): void;
  /** For how long the event loop of each has waited, in milliseconds since it began. */
  idle(): number[];
}

const open = new Set<Threads>();

/** What threads are started with. The process ends when they may be stopped. */
export function threadData(): ThreadData {
  if (words === undefined) {
    words = new Int32Array(new SharedArrayBuffer(12));
    process.on('exit', () => waitForThreads(words!));
  }
  return { trellisExitHold: words.buffer };
}

/** Stops threads before the process ends, until what it returns is called. */
export function onExit(threads: Threads): () => void {
  open.add(threads);
  return () => void open.delete(threads);
}

function waitForThreads(words: Int32Array): void {
  Atomics.store(words, ending, 1);
  for (const threads of open) threads.stop();
  waitForNone(words, loading, loadingMs);
  if (waitForNone(words, writing, writingMs)) return waitForIdle(words);
  // It would never end. Of what has been acknowledged nothing is lost.
  try {
    writeSync(2, `trellis: killed, because a write did not end within ${writingMs / 1_000} s\n`);
  } catch {
    // Nobody reads it.
  }
  process.kill(process.pid, 'SIGKILL');
}

/** What is told to stop does within milliseconds. */
function waitForIdle(words: Int32Array): void {
  const end = performance.now() + idleMs;
  const idle = (): number[] => [...open].flatMap((threads) => threads.idle());
  for (let before = idle(); performance.now() < end; ) {
    Atomics.wait(words, ending, 1, lookMs);
    const now = idle();
    if (now.every((ms, i) => ms - (before[i] ?? 0) > lookMs / 2)) return;
    before = now;
  }
}

function waitForNone(words: Int32Array, count: number, ms: number): boolean {
  const end = performance.now() + ms;
  for (;;) {
    const held = Atomics.load(words, count);
    if (held <= 0) return true;
    const left = end - performance.now();
    if (left <= 0) return false;
    Atomics.wait(words, count, held, left);
  }
}
