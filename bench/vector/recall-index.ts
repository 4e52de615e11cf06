// Our index of a cell of the recall grid: built the way the cell's history says, then searched as the
// server does, whose answers are re-scored by the stored vectors.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IndexOptions, SearchOptions } from '../../engine/vector/index.js';
import { createVectorIndex, type SharedIndex } from '../../engine/vector/shared-index.js';
import { searchWithMargin } from '../../engine/vector/oversampling.js';
import { readSnapshot, writeSnapshot } from '../../engine/vector/snapshot.js';
import type { Cell } from './recall-axes.js';
import type { Filter, RecallData, Truth } from './recall-data.js';
import { randomOf } from '../support/seeded-random.js';

/** The index as a server with the default configuration has it. */
export const standard = { m: 16, efConstruction: 128, efSearch: 128 };

const optionsOf = (cell: Cell): IndexOptions => ({
  ...standard,
  metric: cell.metric,
  layout: cell.layout === 'stored' ? 'compact' : cell.layout,
  resident: cell.layout !== 'stored',
  exact: false,
  memoryBytes: 2 ** 40,
});

function finish(index: SharedIndex): void {
  index.finishGraph();
  while (index.maintain(1000)) {
    // To the end.
  }
}

/** Row i has id i + 1; rows that are deleted again have ids beyond. */
export function buildIndex(cell: Cell, data: RecallData): SharedIndex {
  const index = createVectorIndex('Grid', optionsOf(cell));
  const { rows, others } = data;
  const count = rows.length;
  switch (cell.history) {
    case 'bulk':
      index.insertBatch(
        Uint32Array.from(rows, (_, i) => i + 1),
        (i) => rows[i],
      );
      break;
    case 'single':
      for (const [i, row] of rows.entries()) index.put(i + 1, row);
      break;
    case 'halved':
      putAndDelete(index, data);
      break;
    case 'restarted':
      for (const [i, row] of rows.entries()) if (i % 10 !== 9) index.put(i + 1, row);
      return afterRestart(index, rows);
  }
  finish(index);
  if (cell.history === 'halved')
    for (let i = 0; i < others.length; i++) index.delete(count + i + 1);
  return index;
}

/** Twice as many as will stay; some go while others come, the rest at the end. */
function putAndDelete(index: SharedIndex, { rows, others }: RecallData): void {
  const random = randomOf(7);
  for (const [i, row] of rows.entries()) {
    index.put(rows.length + i + 1, others[i]!);
    index.put(i + 1, row);
    if (random() < 0.5) index.delete(rows.length + 1 + Math.floor(random() * i));
    if (i % 100 === 0) index.maintain(1);
  }
}

/** Read from its snapshot; a tenth of the vectors comes afterwards. */
function afterRestart(index: SharedIndex, rows: readonly Float64Array[]): SharedIndex {
  const folder = mkdtempSync(join(tmpdir(), 'recall-'));
  const path = join(folder, 'Grid.snap');
  const identity = { dbUuid: '0190a1b2-0000-7000-8000-000000000001', typeId: 1 };
  writeSnapshot(index, path, { ...identity, seq: 1 });
  const { dimension, options } = index;
  const read = readSnapshot(path, 'Grid', options, { ...identity, dimension });
  rmSync(folder, { recursive: true });
  index.close();
  if (read.index === undefined) throw new Error(read.reason);
  for (let i = 9; i < rows.length; i += 10) read.index.put(i + 1, rows[i]!);
  finish(read.index);
  return read.index;
}

export interface Measured {
  recall: number;
  perSecond: number;
}

export function measureOurs(
  index: SharedIndex,
  truth: Truth,
  k: number,
  { filter, ef }: { filter: Filter; ef?: number },
): Measured {
  const { queries } = truth.data;
  // As a server makes it: before the search, which is timed alone.
  const asked: SearchOptions[] = queries.map((_, q) => ({ ef, allow: filter(q) }));
  const find = (q: number): Uint32Array => searchWithMargin(index, queries[q]!, k, asked[q]!).ids;
  // The first few are not timed: they compile the search and touch the index.
  for (let q = 0; q < Math.min(5, queries.length); q++) find(q);
  const started = process.cpuUsage();
  const found = queries.map((_, q) => find(q));
  const { user, system } = process.cpuUsage(started);
  const recalls = found.map((ids, q) => truth.recall(q, truth.best(q, ids, k), k, asked[q]!.allow));
  return {
    recall: recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length,
    perSecond: (queries.length * 1e6) / (user + system),
  };
}
