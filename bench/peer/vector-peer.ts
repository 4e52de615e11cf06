// The indexes a vector benchmark compares, behind one small interface: ours and the peers, which
// are installed into bench/peers on first use (git-ignored; they are measured, never shipped).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { AllowList, Layout } from '../../engine/vector/index.js';
import { createVectorIndex, type SharedIndex } from '../../engine/vector/shared-index.js';
import type { VectorSet } from '../support/vector-data.js';

export interface Contender {
  readonly name: string;
  /** Search widths to try, narrow to wide. */
  readonly widths: readonly number[];
  /** False if a width is not the size of a candidate list. */
  readonly isGraph?: boolean;
  add(row: number, vector: Float32Array): void;
  /** Called once all rows are in. */
  finish(): void;
  setWidth(width: number): void;
  search(query: number, k: number): ArrayLike<number>;
  bytes(): number;
  /** In place of `add` and `search` by one that is no part of this process: seconds of CPU time. */
  addRange?(from: number, to: number): number;
  searchAll?(k: number): { seconds: number; found: ArrayLike<number>[] };
  /** Searches all queries as `searchAll` does, and returns only the seconds of CPU time. */
  timeAll?(k: number): number;
  close?(): Promise<void>;
}

/** Searches all queries in parallel on several threads. Returns the number of threads. */
export interface BatchSearch {
  readonly name: string;
  searchBatch(k: number, threads: number): number;
}

/** A contender that can restrict its answers to some rows. */
export interface FilteringContender extends Contender {
  setFilter(rows: ReadonlySet<number>, allow: AllowList): void;
}

const peerPackages = ['hnswlib-node@3.0.0', 'usearch@2.25.3'];
const folder = resolve('bench', 'peers');

/** Installs and builds the peers; false, with a printed reason, when that does not work here. */
export function installPeers(): boolean {
  const has = (name: string): boolean => existsSync(join(folder, 'node_modules', name));
  if (!has('hnswlib-node') || !has('usearch')) {
    const install = ['install', '--prefix', folder, '--no-audit', '--no-fund', ...peerPackages];
    if (spawnSync('npm', install, { stdio: 'inherit' }).status !== 0) return false;
  }
  for (const name of ['hnswlib-node', 'usearch']) {
    if (loads(name)) continue;
    const options = { cwd: join(folder, 'node_modules', name), stdio: 'inherit' as const };
    spawnSync('npx', ['node-gyp', 'rebuild'], options);
    if (!loads(name)) {
      console.log(`${name} cannot be built here; peers are left out`);
      return false;
    }
  }
  return true;
}

const requirePeer = createRequire(join(folder, 'package.json'));

function loads(name: string): boolean {
  try {
    requirePeer(name);
    return true;
  } catch {
    return false;
  }
}

const floats = (vector: Float32Array): Float64Array => Float64Array.from(vector);

/** Our index; `index` is for what only we can do. */
export function ours(
  set: VectorSet,
  layout: Layout = 'auto',
): FilteringContender & { index: SharedIndex } {
  const index = createVectorIndex('Bench', {
    metric: set.metric,
    m: 16,
    efConstruction: 200,
    efSearch: 100,
    layout,
    exact: false,
    memoryBytes: 2 ** 40,
  });
  const queries = set.queries.map(floats);
  let ef = 10;
  let allow: AllowList | undefined;
  return {
    index,
    name: layout === 'auto' ? 'trellisdb' : `trellisdb ${layout}`,
    widths: [8, 12, 16, 24, 36, 54, 80, 120, 180, 270, 400, 800],
    add: (row, vector) => index.put(row + 1, floats(vector)),
    finish: () => {
      while (index.maintain(1000)) {
        // To the end.
      }
    },
    setWidth: (width) => {
      ef = width;
    },
    setFilter: (_, list) => {
      allow = list;
    },
    search: (query, k) => {
      const options = allow ? { ef, allow } : { ef };
      return index.search(queries[query]!, k, options).ids.map((id) => id - 1);
    },
    bytes: () => index.bytes,
  };
}

interface Hnswlib {
  initIndex(options: { maxElements: number; m: number; efConstruction: number }): void;
  addPoint(point: number[], label: number): void;
  setEf(ef: number): void;
  searchKnn(query: number[], k: number, filter?: (row: number) => boolean): { neighbors: number[] };
}

export function hnswlib(set: VectorSet): FilteringContender {
  const { HierarchicalNSW } = requirePeer('hnswlib-node') as {
    HierarchicalNSW: new (space: string, dimension: number) => Hnswlib;
  };
  const index = new HierarchicalNSW(set.metric === 'l2' ? 'l2' : 'cosine', set.dimension);
  index.initIndex({ maxElements: set.base.length, m: 16, efConstruction: 200 });
  const queries = set.queries.map((query) => Array.from(query));
  let filter: ((row: number) => boolean) | undefined;
  return {
    name: 'hnswlib-node',
    widths: [10, 16, 24, 36, 54, 80, 120, 180, 270, 400, 800, 1600],
    add: (row, vector) => index.addPoint(Array.from(vector), row),
    finish: () => {},
    setWidth: (width) => index.setEf(width),
    setFilter: (rows) => {
      filter = (row) => rows.has(row);
    },
    search: (query, k) => index.searchKnn(queries[query]!, k, filter).neighbors,
    bytes: () => set.base.length * (set.dimension * 4 + 16 * 2 * 4 + 20),
  };
}

interface Usearch {
  add(keys: bigint, vectors: Float32Array): void;
  search(
    query: Float32Array | Float32Array[],
    k: number,
    threads: number,
  ): { keys: BigUint64Array };
  save(path: string): void;
  load(path: string): void;
}

/**
 * usearch takes its search width when an index is created, so load the saved index again for each width.
 */
export function usearch(set: VectorSet, quantization: 'f16' | 'f32'): Contender & BatchSearch {
  const { Index } = requirePeer('usearch') as { Index: new (options: object) => Usearch };
  const make = (width: number): Usearch =>
    new Index({
      metric: set.metric === 'l2' ? 'l2sq' : 'cos',
      dimensions: set.dimension,
      quantization,
      connectivity: 16,
      expansion_add: 200,
      expansion_search: width,
      multi: false,
    });
  let index = make(64);
  const path = join(mkdtempSync(join(tmpdir(), 'usearch-')), 'index');
  const bytesPer = quantization === 'f16' ? 2 : 4;
  return {
    name: `usearch ${quantization}`,
    widths: [10, 16, 24, 36, 54, 80, 120, 180, 270, 400, 800, 1600],
    add: (row, vector) => index.add(BigInt(row), vector),
    finish: () => index.save(path),
    setWidth: (width) => {
      index = make(width);
      index.load(path);
    },
    search: (query, k) => Array.from(index.search(set.queries[query]!, k, 1).keys, Number),
    searchBatch: (k, threads) => {
      index.search(set.queries, k, threads);
      return set.queries.length;
    },
    bytes: () => set.base.length * (set.dimension * bytesPer + 16 * 3 * 5),
  };
}
