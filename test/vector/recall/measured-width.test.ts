// Searches that are told no width find nearly all under metric dot, whatever the vectors are like: with
// and without clusters, of equal and of unequal lengths, few and many dimensions, fresh, after half was
// deleted and after growth. What they do for that is measured, kept in the image of an index, and measured
// again once the vectors are others; a width that is told is kept to.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Layout, Metric } from '../../../engine/vector/index.js';
import type { SharedIndex } from '../../../engine/vector/shared-index.js';
import { numCandidates } from '../../../engine/vector/oversampling.js';
import { defaultEf } from '../../../engine/vector/search-params.js';
import { readSnapshot, writeSnapshot } from '../../../engine/vector/snapshot.js';
import { makeFolder, removeFolder } from '../../support/project.js';
import { nextTurn } from '../../support/run/next-turn.js';
import { asMap, indexInTurns, indexOf, long, naiveDistance, naiveSearch } from '../fixture.js';
import { clustered, gaussianFrom, randomFrom } from '../random.js';

const ten = 10;
const least = 0.98;

/** What a vector of length 1 is multiplied by: its number as a part of all, and a normal one. */
const lengths: Record<string, (part: number, normal: number) => number> = {
  equal: () => 1,
  'lognormal, .3': (_, normal) => Math.exp(0.3 * normal),
  'lognormal, 1': (_, normal) => Math.exp(normal),
  'two scales': (part) => (Math.floor(part * 1e6) % 2 ? 1 : 16),
  growing: (part) => 1 + 20 * part,
};

type History = 'fresh' | 'halved' | 'grown';

interface Cell {
  metric: Metric;
  kind: string;
  /** 3: no clusters at all. */
  spread: number;
  dimension: number;
  count: number;
  history: History;
  layout: Layout;
}

const nameOf = ({ metric, kind, spread, dimension, count, history, layout }: Cell): string =>
  `${metric} ${kind}, spread ${spread}, ${count} x ${dimension}, ${history}, ${layout}`;

async function maintain(index: SharedIndex): Promise<void> {
  do await nextTurn();
  while (index.maintain(1000));
}

interface Made {
  index: SharedIndex;
  kept: Map<number, Float64Array>;
  /** Drawn as the vectors were; and directions unlike any. */
  queries: Float64Array[];
}

function rowsOf({ kind, spread, dimension, count }: Cell, more: number): Float64Array[] {
  const clusters = Math.max(2, Math.round(count / 120));
  const shapes = clustered(count + more, dimension, { seed: 51, clusters, spread });
  const gaussian = gaussianFrom(53);
  return shapes.map((shape, i) => {
    const factor = lengths[kind]!(i / count, gaussian()) / Math.hypot(...shape);
    return shape.map((x) => Math.fround(x * factor));
  });
}

async function make(cell: Cell): Promise<Made> {
  const asked = 20;
  const all = rowsOf(cell, asked);
  const rows = all.slice(0, cell.count);
  const { metric, layout, history } = cell;
  const first = history === 'grown' ? rows.slice(0, cell.count / 4) : rows;
  const index = await indexInTurns(first, { metric, layout, efSearch: defaultEf });
  await maintain(index);
  const kept = asMap(rows);
  if (history === 'grown') {
    for (let i = first.length; i < rows.length; i++) index.put(i + 1, rows[i]!);
    index.finishGraph();
  }
  if (history === 'halved') {
    // The longer half, so that what is left was never among the best.
    const byLength = [...kept].sort(([, a], [, b]) => Math.hypot(...b) - Math.hypot(...a));
    for (const [id] of byLength.slice(0, cell.count / 2)) {
      index.delete(id);
      kept.delete(id);
    }
  }
  await maintain(index);
  const elsewhere = clustered(asked, cell.dimension, { seed: 52, clusters: asked });
  return { index, kept, queries: [...all.slice(cell.count), ...elsewhere] };
}

/** As a server asks: a few more than are wanted, which are judged again by the stored vectors. */
function recallAt({ index, kept, queries }: Made, ef?: number, k = ten): number {
  const { metric } = index.options;
  const wanted = numCandidates(index.options, index.dimension, k);
  const found = queries.map((query) => {
    const last = naiveSearch(metric, kept, query, k).at(-1)!.distance;
    const limit = last + 1e-6 * Math.abs(last);
    const { ids } = index.search(query, wanted, ef === undefined ? {} : { ef });
    const right = ids.filter((id) => naiveDistance(metric, query, kept.get(id)!) <= limit);
    return Math.min(k, right.length) / k;
  });
  return found.reduce((sum, share) => sum + share, 0) / found.length;
}

const hard: Cell = {
  metric: 'dot',
  kind: 'equal',
  spread: 3,
  dimension: 128,
  count: 1800,
  history: 'fresh',
  layout: 'fast',
};

/** Lengths, spread and dimension in full; size, history and layout take turns. */
function cellsOf(): Cell[] {
  if (!long) {
    return [
      { ...hard, kind: 'lognormal, .3', dimension: 64, count: 1600, history: 'grown' },
      { ...hard, kind: 'two scales', dimension: 96, count: 2400, history: 'halved' },
      { ...hard, kind: 'lognormal, 1', spread: 0.3, dimension: 8, count: 1500, layout: 'compact' },
    ];
  }
  const histories: History[] = ['fresh', 'halved', 'grown'];
  const cells = Object.keys(lengths).flatMap((kind) =>
    [0.3, 3].flatMap((spread) =>
      [8, 64, 128, 768].map((dimension): Cell => ({ ...hard, kind, spread, dimension })),
    ),
  );
  return cells.map((cell, i) => ({
    ...cell,
    // Of long vectors fewer: 20,000 are made in two minutes, without a turn.
    count: Math.min(
      cell.dimension < 768 ? 20_000 : 8000,
      [20_000, 1000, 8000, 3000, 12_000][(i * 3 + 2 * (i >> 3)) % 5]!,
    ),
    history: histories[(i + (i >> 2)) % 3]!,
    layout: i % 5 === 4 ? 'compact' : 'fast',
  }));
}

test.each(cellsOf().map((cell) => [nameOf(cell), cell] as const))(
  '%s',
  async (_, cell) => {
    const made = await make(cell);
    expect(recallAt(made)).toBeGreaterThanOrEqual(least);
    made.index.close();
    await nextTurn();
  },
  600_000,
);

/** As texts whose words are hashed: few numbers that are not zero, some of them in many vectors. */
function hashed(count: number, dimension: number): Float64Array[] {
  const random = randomFrom(57);
  return Array.from({ length: count }, () => {
    const vector = new Float64Array(dimension);
    for (let word = 0; word < 40; word++) {
      vector[Math.floor(random() ** 2.5 * dimension)]! += random() < 0.5 ? -1 : 1;
    }
    vector[0]! += 0.01;
    return vector;
  });
}

/** Widths that find ten of these find too few of more. */
test.each(long ? [256, 1024] : [1024])('many of %i hashed numbers', async (dimension) => {
  const asked = long ? 60 : 8;
  const all = hashed((long ? 2500 : 1500) + asked, dimension);
  const rows = all.slice(asked);
  const index = indexOf(rows, { metric: 'cosine', efSearch: defaultEf });
  await maintain(index);
  const made = { index, kept: asMap(rows), queries: all.slice(0, asked) };
  const recalls = (long ? [10, 30, 60, 100, 150] : [100, 150]).map((wanted) =>
    recallAt(made, undefined, wanted),
  );
  expect(Math.min(...recalls), recalls.join(', ')).toBeGreaterThanOrEqual(0.95);
  index.close();
  await nextTurn();
});

test('an explicit width takes precedence, and a snapshot keeps the calibrated one', async () => {
  const made = await make(hard);
  const { index } = made;
  const measured = index.calibratedWidth;
  expect(measured).toBeGreaterThan(defaultEf);
  expect(recallAt(made)).toBeGreaterThanOrEqual(least);
  // Far too narrow for these vectors: were it not walked as told, it would find more.
  expect(recallAt(made, 24)).toBeLessThan(0.9);
  const next = restarted(index);
  expect(next.calibratedWidth).toBe(measured);
  expect(recallAt({ ...made, index: next })).toBeGreaterThanOrEqual(least);
  next.close();
});

test('the width is calibrated again when a third of the vectors has changed', async () => {
  const rows = rowsOf({ ...hard, dimension: 16, count: 2000 }, 0);
  const index = indexOf(rows.slice(0, 1200), { metric: 'dot', efSearch: defaultEf });
  expect(index.calibratedWidth).toBe(0);
  await maintain(index);
  const [segment] = index.segments;
  expect(index.calibratedWidth).toBeGreaterThanOrEqual(defaultEf);
  segment!.width = 1;
  for (let i = 1200; i < 1400; i++) index.put(i + 1, rows[i]!);
  await maintain(index);
  expect(index.calibratedWidth).toBe(1);
  for (let i = 1400; i < 2000; i++) index.put(i + 1, rows[i]!);
  await maintain(index);
  expect(index.calibratedWidth).toBeGreaterThanOrEqual(defaultEf);
  index.close();
});

/** As a stop of the process leaves it: image and all. */
function restarted(index: SharedIndex): SharedIndex {
  const folder = makeFolder();
  const path = join(folder, 'Test.snap');
  const identity = { dbUuid: '0190a1b2-0000-7000-8000-000000000001', typeId: 1 };
  writeSnapshot(index, path, { ...identity, seq: 1 });
  const { dimension, options } = index;
  const read = readSnapshot(path, 'Test', options, { ...identity, dimension });
  removeFolder(folder);
  index.close();
  return read.index!;
}

test('a calibration that a stop interrupts anywhere runs again', async () => {
  const rows = rowsOf({ ...hard, dimension: 16, count: 2000 }, 0);
  const grown = async (): Promise<SharedIndex> => {
    const index = indexOf(rows.slice(0, 1200), { metric: 'dot', efSearch: defaultEf });
    await maintain(index);
    index.segments[0]!.width = 1;
    for (let i = 1200; i < 2000; i++) index.put(i + 1, rows[i]!);
    return index;
  };
  const whole = await grown();
  let all = 1;
  while (whole.maintain(0)) all++;
  whole.close();
  // Links are repaired first; the last steps are searches.
  for (const left of [1, 2, 4, 8, 16, all >> 1]) {
    const index = await grown();
    const steps = all - left;
    for (let i = 0; i < steps; i++) expect(index.maintain(0)).toBe(true);
    const next = restarted(index);
    await maintain(next);
    expect(next.calibratedWidth, `${steps} steps`).toBeGreaterThanOrEqual(defaultEf);
    next.close();
    await nextTurn();
  }
});

test('an index of equal or zero vectors is calibrated and searched', async () => {
  for (const row of [Float64Array.of(0, 0, 0, 0), Float64Array.of(1, 2, 0, 4)]) {
    const rows = Array.from({ length: 1300 }, () => row);
    for (const metric of ['dot', 'l2', 'cosine'] as const) {
      const index = indexOf(rows, { metric, efSearch: defaultEf });
      await maintain(index);
      for (const query of [row, Float64Array.of(0, 0, 0, 0), Float64Array.of(-1, 0, 0, 0)]) {
        expect(index.search(query, ten).count).toBe(ten);
      }
      index.close();
    }
  }
});
