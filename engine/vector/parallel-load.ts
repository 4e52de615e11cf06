// Reads the pages of a snapshot file into the memories of its segments, on several threads. Each thread takes
// the next megabyte, reads it directly into shared memory and verifies each page while it is in the cache.
// The kernel takes most of the time to allocate the memory, which several threads can do in parallel.
//
// Invariant: a chunk is read only by the thread that took it. After a successful read no thread writes these
// pages; after a failed one, some thread may still do so.
import { closeSync, openSync, readSync } from 'node:fs';
import { PAGE_BYTES } from '../../wasm/layout.js';
import { instantiate, type Kernel } from './wasm.js';

/** Pages per chunk: small enough for the cache. */
const chunkPages = 256;

/** A run of consecutive pages: its positions in a memory and in the file. */
export interface PageRun {
  memory: WebAssembly.Memory;
  /** Offset of the first page in the file. */
  position: number;
  from: number;
  to: number;
  /** Index of the checksum of page 0 of this memory. */
  firstSum: number;
}

/** A shared read; can be sent to other threads. */
export interface PageShare {
  path: string;
  runs: readonly PageRun[];
  /** f64 per page of all memories. */
  sums: SharedArrayBuffer;
  /** i32: number of the next chunk, code of a failure, then for each chunk whether it was read. */
  progress: SharedArrayBuffer;
}

/** Starts helping threads that call `readShare`, for files of `fromPages` pages or more. */
export interface StartHelpers {
  fromPages: number;
  start: (share: PageShare) => void;
}

const reasons = ['', 'it is truncated', 'a page fails its checksum', 'it cannot be read'] as const;
const [truncated, wrongSum, unreadable] = [1, 2, 3];

const [nextChunk, failure, firstChunk] = [0, 1, 2];

/** Longest wait, in milliseconds, for a chunk that another thread has taken. */
const chunkWaitMs = 60_000;

const chunkCount = ({ from, to }: PageRun): number => Math.ceil((to - from) / chunkPages);

/** Reads all runs. Returns undefined, or the reason of a failure. */
export function readInParallel(
  path: string,
  runs: readonly PageRun[],
  sums: SharedArrayBuffer,
  shareOut?: StartHelpers,
): string | undefined {
  const chunks = runs.reduce((count, run) => count + chunkCount(run), 0);
  const progress = new SharedArrayBuffer(4 * (firstChunk + chunks));
  const share: PageShare = { path, runs, sums, progress };
  const pages = runs.reduce((count, { from, to }) => count + to - from, 0);
  if (shareOut !== undefined && pages >= shareOut.fromPages) shareOut.start(share);
  readShare(share);
  const words = new Int32Array(progress);
  for (let at = firstChunk; at < words.length; at++) {
    const isLate = Atomics.wait(words, at, 0, chunkWaitMs) === 'timed-out';
    if (isLate) return reasons[unreadable];
  }
  return reasons[words[failure]!] || undefined;
}

/** Takes chunks until none is left. After a failure, chunks are skipped without reading. */
export function readShare({ path, runs, sums, progress }: PageShare): void {
  const words = new Int32Array(progress);
  const reading = new ShareReader(path, new Float64Array(sums));
  for (;;) {
    const at = firstChunk + Atomics.add(words, nextChunk, 1);
    if (at >= words.length) break;
    if (Atomics.load(words, failure) === 0) {
      const why = reading.read(runs, at - firstChunk);
      if (why !== 0) Atomics.store(words, failure, why);
    }
    Atomics.store(words, at, 1);
    Atomics.notify(words, at);
  }
  reading.close();
}

/** File and instances of the module that one thread uses. */
class ShareReader {
  readonly #kernels = new Map<WebAssembly.Memory, Kernel>();
  #file: number | undefined;

  constructor(
    private readonly path: string,
    private readonly sums: Float64Array,
  ) {}

  read(runs: readonly PageRun[], chunk: number): number {
    try {
      this.#file ??= openSync(this.path, 'r');
      const { run, at } = findChunk(runs, chunk);
      let kernel = this.#kernels.get(run.memory);
      if (kernel === undefined) this.#kernels.set(run.memory, (kernel = instantiate(run.memory)));
      return readChunk(this.#file, run, at, { kernel, sums: this.sums });
    } catch {
      return unreadable;
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}

/** Returns the run of a chunk, and its first page. */
function findChunk(runs: readonly PageRun[], chunk: number): { run: PageRun; at: number } {
  let before = 0;
  for (const run of runs) {
    const count = chunkCount(run);
    if (chunk < before + count) return { run, at: run.from + (chunk - before) * chunkPages };
    before += count;
  }
  throw new RangeError(`piece ${chunk} of ${before}`);
}

function readChunk(
  file: number,
  { memory, position, from, to, firstSum }: PageRun,
  at: number,
  { kernel, sums }: { kernel: Kernel; sums: Float64Array },
): number {
  const end = Math.min(to, at + chunkPages);
  const bytes = new Uint8Array(memory.buffer, at * PAGE_BYTES, (end - at) * PAGE_BYTES);
  if (!readAll(file, bytes, position + (at - from) * PAGE_BYTES)) return truncated;
  for (let page = at; page < end; page++) {
    if (kernel.pageSum(page * PAGE_BYTES) !== sums[firstSum + page]) return wrongSum;
  }
  return 0;
}

/** Reads exactly `bytes.length` bytes; returns false at the end of the file. */
export function readAll(file: number, bytes: Uint8Array, position: number): boolean {
  let done = 0;
  while (done < bytes.length) {
    const count = readSync(file, bytes, done, bytes.length - done, position + done);
    if (count === 0) return false;
    done += count;
  }
  return true;
}
