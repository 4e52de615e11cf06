// The part of the vector bench with two threads: searching, compared with usearch with threads = 2; building;
// searching during bulk inserts. Rates are per second of wall time, so a busy machine shows; costs are CPU
// time of the whole process.
import { Worker } from 'node:worker_threads';
import { createVectorIndex, type SharedIndex } from '../../engine/vector/shared-index.js';
import { printTable } from '../support/table.js';
import type { VectorSet } from '../support/vector-data.js';
import type { ThreadTask } from './vector-thread.js';
import type { BatchSearch } from '../peer/vector-peer.js';

const windowMs = 1500;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Cost {
  cpu: number;
  wall: number;
}

async function costOf(work: () => void | Promise<void>): Promise<Cost> {
  const before = process.cpuUsage();
  const started = performance.now();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / 1e6, wall: (performance.now() - started) / 1000 };
}

interface Thread {
  words: Int32Array;
  stop(): Promise<void>;
}

async function startThread(task: Omit<ThreadTask, 'words'>): Promise<Thread> {
  const words = new Int32Array(new SharedArrayBuffer(16));
  const workerData: ThreadTask = { ...task, words };
  const worker = new Worker(new URL('./vector-thread.js', import.meta.url), { workerData });
  await new Promise((resolve) => worker.once('message', resolve));
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  return {
    words,
    async stop() {
      Atomics.store(words, 0, 1);
      await ended;
    },
  };
}

interface Rate {
  perSecond: number;
  /** Per second of the searching threads' own CPU time; NaN where the system does not tell. */
  perCpu: number;
  wall: number;
}

/** Searches a second of `threads` threads of their own, this one idle or doing `beside`. */
async function searchRate(
  index: SharedIndex,
  queries: Float64Array[],
  width: number,
  threads: number,
  beside?: () => void,
): Promise<Rate> {
  const handle = index.handle();
  const task = { handle, task: 'search' as const, queries, width };
  const others: Thread[] = [];
  for (let i = 0; i < threads; i++) others.push(await startThread(task));
  await pause(200);
  const sum = (of: (words: Int32Array) => number): number =>
    others.reduce((total, { words }) => total + of(words), 0);
  const done = (): number => sum((words) => Atomics.load(words, 1));
  const spent = (): number => sum((words) => new Float64Array(words.buffer)[1]!);
  const [doneBefore, spentBefore] = [done(), spent()];
  const { wall } = await costOf(beside ?? (() => pause(windowMs)));
  const count = done() - doneBefore;
  const perCpu = count / (spent() - spentBefore);
  for (const other of others) await other.stop();
  return { perSecond: count / wall, perCpu, wall };
}

async function buildCost(set: VectorSet, index: SharedIndex, threads: number): Promise<Cost> {
  const fresh = createVectorIndex('Build', index.options);
  const rows = set.base.map((row) => Float64Array.from(row));
  const ids = Uint32Array.from(rows, (_, i) => i + 1);
  const others: Thread[] = [];
  const handle = fresh.handle();
  const task = { handle, task: 'help' as const, queries: [], width: 0 };
  for (let i = 1; i < threads; i++) others.push(await startThread(task));
  const cost = await costOf(() => fresh.insertBatch(ids, (i) => rows[i]!));
  for (const other of others) await other.stop();
  return cost;
}

/** A vector that is not in the set, because near-copies of stored vectors would be unusual. */
function between({ base }: VectorSet, i: number): Float32Array {
  const other = base[(i * 7 + 1) % base.length]!;
  return base[i % base.length]!.map((x, d) => 0.7 * x + 0.3 * other[d]!);
}

/** Prints the rows of one set. `width` is ours at the recall that `peer` has at its own. */
export async function measureThreads(
  set: VectorSet,
  index: SharedIndex,
  width: number,
  peer: BatchSearch | undefined,
): Promise<void> {
  const queries = set.queries.map((query) => Float64Array.from(query));
  const rows: (string | number)[][] = [];
  const rates: Rate[] = [];
  for (const threads of [1, 2]) rates.push(await searchRate(index, queries, width, threads));
  for (const [i, { perSecond, perCpu }] of rates.entries()) {
    rows.push([`search, ${i + 1} threads`, perSecond, perCpu]);
  }
  for (const threads of peer ? [1, 2] : []) {
    let count = 0;
    const { wall, cpu } = await costOf(() => {
      for (const until = performance.now() + windowMs; performance.now() < until; ) {
        count += peer!.searchBatch(10, threads);
      }
    });
    rows.push([`${peer!.name}, ${threads} threads`, count / wall, count / cpu]);
  }
  const one = await buildCost(set, index, 1);
  const two = await buildCost(set, index, 2);
  for (const [i, cost] of [one, two].entries()) {
    const count = set.base.length;
    rows.push([`build, ${i + 1} threads`, count / cost.wall, count / cost.cpu]);
  }
  const more = Math.min(set.base.length, 4_000);
  const ids = Uint32Array.from({ length: more }, (_, i) => set.base.length + 1 + i);
  const noisy = await searchRate(index, queries, width, 1, () =>
    index.insertBatch(ids, (i) => between(set, i)),
  );
  rows.push([
    `search beside ${Math.round(more / noisy.wall)} inserts/s`,
    noisy.perSecond,
    noisy.perCpu,
  ]);
  for (const id of ids) index.delete(id);
  console.log(`\n${printTable([set.name, 'per second', 'per CPU second'], rows)}`);
  const factor = (2 * one.cpu) / two.cpu;
  console.log(`building on two threads is worth ${factor.toFixed(2)} by CPU time`);
  const kept = noisy.perSecond / rates[0]!.perSecond;
  const keptCpu = noisy.perCpu / rates[0]!.perCpu;
  console.log(
    `searches beside bulk inserts keep ${kept.toFixed(2)} of their quiet rate, ` +
      `${keptCpu.toFixed(2)} by their CPU time`,
  );
}
