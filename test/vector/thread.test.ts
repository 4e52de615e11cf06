// Threads: a writer with searching threads beside it, and several threads building one graph.
// Needs the compiled program (`npm test` makes it): worker threads cannot run the sources.
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import type { SharedIndex } from '../../engine/vector/shared-index.js';
import { asMap, defaults, long, recallOf } from './fixture.js';
import { blockFaults } from './invariants.js';
import { clustered, randomFrom } from './random.js';

const module = new URL('../../dist/engine/vector/shared-index.js', import.meta.url);
const built = existsSync(module);
if (!built) console.log('thread tests skipped: dist is not built');

interface Report {
  searches: number;
  faults: string[];
}

interface Thread {
  worker: Worker;
  report: Promise<Report>;
}

async function start(
  index: SharedIndex,
  task: 'search' | 'help',
  stop: Int32Array,
  queries: Float64Array[],
): Promise<Thread> {
  const workerData = { module: module.href, handle: index.handle(), task, stop, queries };
  const worker = new Worker(new URL('./searcher.mjs', import.meta.url), { workerData });
  await new Promise((resolve) => worker.once('message', resolve));
  const report = new Promise<Report>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return { worker, report };
}

const load = async (): Promise<typeof import('../../engine/vector/shared-index.js')> =>
  (await import(module.href)) as typeof import('../../engine/vector/shared-index.js');

describe.skipIf(!built)('threads', () => {
  test('searches continue while a writer puts, replaces, deletes and maintains', async () => {
    const { createVectorIndex } = await load();
    const vectors = clustered(3000, 64, { seed: 41 });
    const stop = new Int32Array(new SharedArrayBuffer(4));
    let threads: Thread[] = [];
    const index = createVectorIndex('Test', defaults, {
      segmentBytes: 2 ** 21,
      onSegment: (handle) => {
        for (const { worker } of threads) worker.postMessage(handle);
      },
    });
    for (let i = 0; i < 200; i++) index.put(i + 1, vectors[i]!);
    threads = [await start(index, 'search', stop, vectors.slice(0, 20))];
    const random = randomFrom(3);
    const until = performance.now() + (long ? 20_000 : 1200);
    const model = new Map(asMap(vectors.slice(0, 200)));
    while (performance.now() < until && Atomics.load(stop, 0) === 0) {
      for (let i = 0; i < 50; i++) {
        const id = 1 + Math.floor(random() * 4000);
        const vector = vectors[Math.floor(random() * vectors.length)]!;
        if (random() < 0.3 && model.size > 150) {
          index.delete(id);
          model.delete(id);
        } else {
          index.put(id, vector);
          model.set(id, vector);
        }
      }
      index.maintain(1);
      await new Promise((resolve) => setImmediate(resolve));
    }
    Atomics.store(stop, 0, 1);
    const report = await threads[0]!.report;
    expect(report.faults).toEqual([]);
    expect(report.searches).toBeGreaterThan(10);
    expect(index.count).toBe(model.size);
    expect(recallOf(index, model, vectors.slice(0, 20))).toBeGreaterThanOrEqual(0.95);
  });

  test('two threads build while a third searches: every block is sound', async () => {
    const { createVectorIndex } = await load();
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const vectors = clustered(4000, 40, { seed: 51, clusters: 40, spread: 1 });
    const index = createVectorIndex('Test', { ...defaults, efConstruction: 64 });
    for (let i = 0; i < 1100; i++) index.put(i + 1, vectors[i]!);
    index.finishGraph();
    const threads = [
      await start(index, 'help', stop, []),
      await start(index, 'search', stop, vectors.slice(0, 20)),
    ];
    const random = randomFrom(5);
    const until = performance.now() + (long ? 20_000 : 800);
    const model = new Map(asMap(vectors.slice(0, 1100)));
    for (let round = 0; performance.now() < until && Atomics.load(stop, 0) === 0; round++) {
      // Fewer rows than ids of a round: some are equal, and some ids are given again.
      const from = 1 + Math.floor(random() * 3000);
      const ids = Uint32Array.from({ length: 200 }, (_, i) => from + i);
      const rows = ids.map(() => Math.floor(random() * vectors.length));
      index.insertBatch(ids, (i) => vectors[rows[i]!]!);
      for (const [i, id] of ids.entries()) model.set(id, vectors[rows[i]!]!);
      for (let i = 0; i < 120; i++) {
        const id = 1 + Math.floor(random() * 3200);
        index.delete(id);
        model.delete(id);
      }
      index.maintain(5);
      if (round % 20 === 0) expect(blockFaults(index.segments[0]!)).toEqual([]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    Atomics.store(stop, 0, 1);
    for (const { report } of threads) expect((await report).faults).toEqual([]);
    expect(blockFaults(index.segments[0]!)).toEqual([]);
    expect(index.count).toBe(model.size);
    expect(recallOf(index, model, vectors.slice(0, 20))).toBeGreaterThanOrEqual(0.95);
  });

  test('two threads build one graph', async () => {
    const { createVectorIndex } = await load();
    const vectors = clustered(3000, 200, { seed: 42 });
    const index = createVectorIndex('Test', { ...defaults, metric: 'cosine' });
    for (let i = 0; i < 1000; i++) index.put(i + 1, vectors[i]!);
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const helper = await start(index, 'help', stop, []);
    const ids = Uint32Array.from({ length: 2000 }, (_, i) => 1001 + i);
    index.insertBatch(ids, (i) => vectors[1000 + i]!);
    Atomics.store(stop, 0, 1);
    expect((await helper.report).faults).toEqual([]);
    expect(index.count).toBe(3000);
    expect(recallOf(index, asMap(vectors), vectors.slice(2950))).toBeGreaterThanOrEqual(0.97);
  });
});
