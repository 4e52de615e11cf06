// What lies nearest to a query is left out: a filter refuses it, or it is deleted and not reclaimed yet.
// The nearest of the others are found whichever way they are searched for: by the graph, which must
// walk through what is left out and say so where that is more than it can hold, by sketches, whose
// bounds are alike for all that lies far off, or by the list.
import { expect, test } from 'vitest';
import { queryFactor, exponentOf } from '../../../engine/vector/vector-scale.js';
import { filteredSearchParams } from '../../../engine/vector/filtered-params.js';
import { effectiveEf, defaultEf } from '../../../engine/vector/search-params.js';
import type { AllowList, Layout, Metric } from '../../../engine/vector/index.js';
import type { SharedIndex } from '../../../engine/vector/shared-index.js';
import { POOL_MAX } from '../../../wasm/layout.js';
import { asMap, indexOf, long, naiveSearch, recallOf } from '../fixture.js';
import { nextTurn } from '../../support/run/next-turn.js';
import { clustered } from '../random.js';

const count = long ? 12_000 : 4_000;
const k = 10;
const asked = long ? 20 : 5;
const metrics: Metric[] = ['cosine', 'l2', 'dot'];
const layouts: Layout[] = ['fast', 'compact', 'flat'];
/** Shares of all vectors, the nearest first, that are left out. */
const hidden = [0.002, 0.03, 0.2, 0.6];

/** `same`: each vector stands there so many times. */
interface Data {
  clusters: number;
  spread: number;
  same: number;
}

const kinds: Data[] = [
  { clusters: 6, spread: 0.1, same: 1 },
  { clusters: 40, spread: 0.3, same: 1 },
  { clusters: 1, spread: 1, same: 1 },
  { clusters: 12, spread: 0.2, same: 5 },
];

interface Cell extends Data {
  metric: Metric;
  layout: Layout;
  dimension: number;
}

/** All in the long run; else every kind and every metric with some layout. */
const cells: Cell[] = kinds.flatMap((data, i) =>
  metrics.flatMap((metric, j) =>
    layouts.flatMap((layout, l) => {
      const cell = { ...data, metric, layout, dimension: [24, 64, 130][(i + j + l) % 3]! };
      return long || l === (i + j) % 3 ? [cell] : [];
    }),
  ),
);

function rowsOf({ clusters, spread, same, dimension }: Cell): Float64Array[] {
  const different = clustered(Math.ceil(count / same), dimension, { seed: 5, clusters, spread });
  return Array.from({ length: count }, (_, i) => different[i % different.length]!);
}

/** Filters by name: which ids pass, of all in the order of their distance. */
const passing: Record<string, (order: readonly number[]) => readonly number[]> = {
  ...Object.fromEntries(
    hidden.map((share) => [
      `all but ${share}`,
      (order: readonly number[]) => order.slice(Math.floor(share * order.length)),
    ]),
  ),
  'a tenth': (order) => order.filter((id) => id % 10 === 3),
  'a quarter': (order) => order.filter((id) => id % 4 === 1),
  'the nearest tenth': (order) => order.slice(0, order.length / 10),
  'a tenth of the far ones': (order) =>
    order.slice(order.length / 30).filter((id) => id % 10 === 3),
};

function allowOf(ids: readonly number[]): AllowList {
  const words = new Uint32Array((count >>> 5) + 1);
  for (const id of ids) words[id >>> 5]! |= 1 << (id & 31);
  return { words, count: ids.length };
}

type Way = (index: SharedIndex, query: Float64Array, allow: AllowList) => number[] | undefined;

/** Answers that a walk looks for, as a search does: half as many again as without a filter. */
const widthOf = (index: SharedIndex): number =>
  Math.ceil(1.5 * effectiveEf(defaultEf, index.segments[0]!, k + 2));

/** One way alone, of an index of one segment; undefined when it says that it cannot, or there is no graph. */
function byKernel(name: 'searchFlat' | 'searchList' | 'searchAllowed'): Way {
  return (index, query, allow) => {
    const segment = index.segments[0]!;
    if (!segment.hasGraph) return undefined;
    const { kernel, scratch: lane, scale } = segment;
    segment.load(query, queryFactor(index.options.metric, scale, exponentOf(query)));
    segment.filter(allow);
    kernel.beginQuery(lane.address);
    const found =
      name === 'searchAllowed'
        ? kernel.searchAllowed(lane.address, k + 2, widthOf(index), 0, POOL_MAX)
        : kernel[name](lane.address, k + 2);
    return found < 0 ? undefined : [...lane.ids.slice(0, found)];
  };
}

/** The graph alone, as a search takes it if that is cheaper than a scan. */
const byShare: Way = (index, query, allow) => {
  const segment = index.segments[0]!;
  if (!segment.hasGraph) return undefined;
  const { kernel, scratch: lane, scale } = segment;
  const ef = effectiveEf(defaultEf, segment, k + 2);
  const share = allow.count / segment.live;
  const { width, minNodes, likely } = filteredSearchParams(ef, k + 2, share, segment);
  segment.load(query, queryFactor(index.options.metric, scale, exponentOf(query)));
  segment.filter(allow);
  kernel.beginQuery(lane.address);
  const poolMax = Math.min(2 * likely, POOL_MAX);
  const found = kernel.searchAllowed(lane.address, k + 2, width, minNodes, poolMax);
  return found < k ? undefined : [...lane.ids.slice(0, found)];
};

const ways: Record<string, Way> = {
  share: byShare,
  graph: byKernel('searchAllowed'),
  sketches: byKernel('searchFlat'),
  list: byKernel('searchList'),
  search: (index, query, allow) => [...index.search(query, k + 2, { allow }).ids],
};

/** Recall of every way at every share; a way that could not is right. */
async function filtered(
  index: SharedIndex,
  rows: readonly Float64Array[],
  queries: readonly Float64Array[],
): Promise<Record<string, number>> {
  const of: Record<string, number> = {};
  for (const filter of Object.keys(passing)) {
    for (const name of Object.keys(ways)) of[`${name}, ${filter}`] = 0;
  }
  for (const query of queries) {
    await nextTurn();
    const all = naiveSearch(index.options.metric, asMap(rows), query, count);
    const order = all.map(({ id }) => id);
    const distance = new Map(all.map((row) => [row.id, row.distance]));
    for (const [filter, passingOf] of Object.entries(passing)) {
      const ids = passingOf(order);
      const allow = allowOf(ids);
      const last = distance.get(ids[k - 1]!)!;
      const limit = last + 1e-6 * Math.abs(last);
      for (const [name, way] of Object.entries(ways)) {
        const found = way(index, query, allow);
        const right = found?.filter((id) => {
          expect((allow.words[id >>> 5]! >>> (id & 31)) & 1, `${name} gave ${id}`).toBe(1);
          return distance.get(id)! <= limit;
        });
        of[`${name}, ${filter}`]! += Math.min(1, (right?.length ?? k) / k) / queries.length;
      }
    }
  }
  return of;
}

test.each(cells)('$metric $layout $dimension, $clusters x $spread, $same of each', async (cell) => {
  const rows = rowsOf(cell);
  const index = indexOf(rows, { metric: cell.metric, layout: cell.layout, efSearch: 128 });
  while (index.maintain(1000)) await nextTurn();
  const queries = rows.slice(0, asked).map((row) => row.map((x) => x * 1.01 + 0.001));
  const recalls = await filtered(index, rows, queries);
  const poor = Object.entries(recalls).filter(([, recall]) => recall < 0.95);
  expect(poor, JSON.stringify(recalls)).toEqual([]);
  // The same, deleted around the first query.
  const left = asMap(rows);
  const order = naiveSearch(cell.metric, left, queries[0]!, count).map(({ id }) => id);
  for (const share of [0.02, 0.2]) {
    for (const id of order.slice(0, Math.floor(share * count))) {
      if (left.delete(id)) index.delete(id);
    }
    const recall = recallOf(index, left, queries.slice(0, 1), { ef: 128 });
    expect(recall, `${share} deleted`).toBeGreaterThanOrEqual(0.9);
  }
  index.close();
});
