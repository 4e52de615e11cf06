// The vectors of `scale`. One thread per processor writes them, with the nearest neighbors of some queries.
// Then measures in this process what a search of their index costs at the narrowest width that reaches a
// recall. bench/peer/hnswlib-growth.cpp measures hnswlib in the same way.
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { searchWithMargin } from '../../engine/vector/oversampling.js';
import type { SharedIndex } from '../../engine/vector/shared-index.js';
import { inspectSnapshot } from '../../engine/vector/snapshot.js';
import { randomOf } from '../support/seeded-random.js';
import { median } from '../support/sample-times.js';
import type { VectorShape } from '../support/vector-data.js';
import { vectorOf } from './scale-data.js';
import type { Near, VectorPart } from './vector-part.js';

const k = 10;
const queryCount = 100;
/** Each 1.15 times the one before, as in hnswlib-growth.cpp. */
const widths = Array.from({ length: 42 }, (_, i) => Math.round(10 * 1.15 ** i));

export interface VectorFiles {
  /** In the order of the vectors' numbers. */
  paths: string[];
  queries: number[][];
  /** Per query the numbers of its ten nearest. */
  truth: Set<number>[];
}

function writePart(part: VectorPart): Promise<Near[][]> {
  const worker = new Worker(new URL('./vector-part.js', import.meta.url), { workerData: part });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

export async function writeVectors(
  folder: string,
  vectors: number,
  shape: VectorShape,
): Promise<VectorFiles> {
  const draw = vectorOf(shape);
  const random = randomOf(17);
  const queries = Array.from({ length: queryCount }, () => draw(random));
  const threads = availableParallelism();
  const parts = Array.from({ length: threads }, (_, i) => ({
    path: join(folder, `vectors-${String(i).padStart(3, '0')}.ndjson`),
    from: Math.floor((vectors * i) / threads),
    to: Math.floor((vectors * (i + 1)) / threads),
    shape,
    queries,
    k,
  }));
  const found = await Promise.all(parts.map(writePart));
  const truth = queries.map((_, query) => {
    const near = found.flatMap((part) => part[query]!).toSorted((a, b) => b[1] - a[1]);
    return new Set(near.slice(0, k).map(([no]) => no));
  });
  return { paths: parts.map(({ path }) => path), queries, truth };
}

/** Opens the index of a data directory without a server, from its newest snapshot. */
function readIndex(data: string): SharedIndex {
  const folder = join(data, 'vec');
  // Point.SEQUENCE.snap
  const sequence = (name: string): number => Number(name.split('.')[1]);
  const names = readdirSync(folder).filter((name) => name.endsWith('.snap'));
  const name = names.toSorted((a, b) => sequence(a) - sequence(b)).at(-1);
  if (name === undefined) throw new Error(`${folder} holds no snapshot`);
  const path = join(folder, name);
  // The file names its database and its type.
  const head = Buffer.alloc(48);
  const file = openSync(path, 'r');
  readSync(file, head, 0, head.length, 0);
  closeSync(file);
  const dbUuid = head.toString('latin1', 8, 44);
  const expected = { dbUuid, typeId: head.readUInt32LE(44), dimension: 0 };
  const read = inspectSnapshot(path, 'Point', expected);
  if (read.index === undefined) throw new Error(`${path}: ${read.reason}`);
  return read.index;
}

export interface SearchCost {
  micros: number;
  recall: number;
  width: number;
}

/**
 * Medians of searches one after another at the narrowest width of each recall; undefined where no width
 * reaches it.
 */
export function searchCosts(
  data: string,
  { queries, truth }: VectorFiles,
  targets: readonly number[],
): (SearchCost | undefined)[] {
  const index = readIndex(data);
  const asked = queries.map((query) => Float64Array.from(query));
  // Ids of an import go up with the rows: the lowest is that of number 0.
  const first = searchWithMargin(index, asked[0]!, index.count, {}).ids.reduce((a, b) =>
    Math.min(a, b),
  );
  const recallAt = (ef: number): number => {
    let hits = 0;
    for (const [i, query] of asked.entries()) {
      const { ids, count } = searchWithMargin(index, query, k, { ef });
      for (const id of ids.subarray(0, Math.min(k, count))) if (truth[i]!.has(id - first)) hits++;
    }
    return hits / (k * asked.length);
  };
  // V8 compiles what has run some thousand times once more: small sets take more rounds.
  const microsAt = (ef: number): number => {
    const times: number[] = [];
    const warm = performance.now() + 500;
    while (performance.now() < warm)
      for (const query of asked) searchWithMargin(index, query, k, { ef });
    for (let round = 0; round < 5; round++) {
      for (const query of asked) {
        const started = performance.now();
        searchWithMargin(index, query, k, { ef });
        times.push((performance.now() - started) * 1000);
      }
    }
    return median(times);
  };
  const costs: (SearchCost | undefined)[] = targets.map(() => undefined);
  for (const width of widths) {
    const open = targets.flatMap((_, i) => (costs[i] === undefined ? [i] : []));
    if (open.length === 0) break;
    const recall = recallAt(width);
    const reached = open.filter((i) => recall >= targets[i]!);
    if (reached.length === 0) continue;
    const cost = { micros: microsAt(width), recall, width };
    for (const i of reached) costs[i] = cost;
  }
  index.close();
  return costs;
}
