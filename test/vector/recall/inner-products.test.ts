// Metric dot: the greatest inner products are found whatever the lengths of the vectors, in whatever
// order these come and go, for queries from among the vectors and from elsewhere. A query from
// elsewhere asks for the outermost of a cluster in its direction, which no inner product of two
// vectors of that cluster points out.
import { expect, test } from 'vitest';
import type { Layout } from '../../../engine/vector/index.js';
import { defaultEf } from '../../../engine/vector/search-params.js';
import { nextTurn } from '../../support/run/next-turn.js';
import { asMap, indexOf, long, recallOf } from '../fixture.js';
import { clustered } from '../random.js';

const count = long ? 4000 : 1200;

/** What vector i is multiplied by once it has length 1; as it comes where `natural`. */
interface Lengths {
  of: (i: number, normal: number) => number;
  natural?: boolean;
}

const kinds: [string, Lengths][] = [
  ['equal', { of: () => 1 }],
  ['nearly equal', { of: () => 1, natural: true }],
  ['lognormal, .1', { of: (_, normal) => Math.exp(0.1 * normal) }],
  ['lognormal, .3', { of: (_, normal) => Math.exp(0.3 * normal) }],
  ['lognormal, 1', { of: (_, normal) => Math.exp(normal) }],
  ['lognormal, 2', { of: (_, normal) => Math.exp(2 * normal) }],
  ['every second ten times as long', { of: (i) => (i % 2 ? 1 : 10) }],
  ['ten times as long later', { of: (i) => (i < 1040 ? 1 : 10) }],
  ['a thousand times as long later', { of: (i) => (i < 1040 ? 1 : 1000) }],
  ['growing', { of: (i) => 1 + (20 * i) / count }],
  ['falling', { of: (i) => 1 + (20 * (count - i)) / count }],
  ['a third zero', { of: (i, normal) => (i % 3 ? Math.exp(0.3 * normal) : 0) }],
  ['1e-30', { of: (_, normal) => 1e-30 * Math.exp(0.3 * normal), natural: true }],
  ['1e30', { of: (_, normal) => 1e30 * Math.exp(0.3 * normal), natural: true }],
];

interface Cell {
  spread: number;
  dimension: number;
  layout: Layout;
  /** Twice as many were put; half of them is deleted while others come. */
  halved: boolean;
}

const layouts: Layout[] = ['fast', 'compact'];

/** Spread 3 is no clusters at all. Layouts and histories take turns. */
function cellsOf(kind: number): Cell[] {
  const spreads = [0.1, 0.5, 3];
  const cells = spreads.flatMap((spread, i) =>
    [8, 32, 64].map((dimension, j) => {
      const turn = kind + i + j;
      return { spread, dimension, layout: layouts[turn % 2]!, halved: (turn >> 1) % 2 === 1 };
    }),
  );
  return long ? cells : [cells[(kind * 4 + 1) % cells.length]!];
}

/** As whoever says nothing searches, and by a walk of the width that is standard, whatever the vectors need. */
const ways = ['measured', defaultEf] as const;

function shortOf({ of, natural }: Lengths, { spread, dimension, layout, halved }: Cell): string[] {
  const total = halved ? 2 * count : count;
  const clusters = Math.round(count / 120);
  // Two draws of one seed have the same centres: the second lies among the first.
  const draw = { seed: 41, clusters, spread };
  const shapes = clustered(total + 20, dimension, draw);
  const normals = clustered(total, 1, { seed: 43, clusters: 1, spread: 1 });
  const first = normals.reduce((sum, [x]) => sum + x!, 0) / total;
  const rows = shapes.slice(0, total).map((shape, i) => {
    const size = natural ? 1 : Math.hypot(...shape);
    const factor = of(i % count, normals[i]![0]! - first) / size;
    return shape.map((x) => x * factor);
  });
  const index = indexOf(rows, { metric: 'dot', layout, efSearch: defaultEf });
  const kept = asMap(rows);
  for (let id = 2; halved && id <= total; id += 2) {
    index.delete(id);
    kept.delete(id);
    if (id % 500 === 0) index.maintain(1000);
  }
  while (index.maintain(1000)) {
    // To the end.
  }
  const elsewhere = clustered(20, dimension, { seed: 42, clusters: 20 });
  const short = [shapes.slice(total), elsewhere].flatMap((queries, i) => {
    const from = i === 0 ? 'among' : 'elsewhere';
    const name = `${dimension}d, spread ${spread}, ${layout}${halved ? ', halved' : ''}, ${from}`;
    return ways.flatMap((ef) => {
      const recall = recallOf(index, kept, queries, { ef });
      return recall < 0.98 ? [`${name}, ef ${ef}: ${recall.toFixed(3)}`] : [];
    });
  });
  index.close();
  return short;
}

test.each(kinds.map(([name, lengths], kind) => ({ name, lengths, kind })))(
  '$name',
  async ({ lengths, kind }) => {
    const short: string[] = [];
    for (const cell of cellsOf(kind)) {
      short.push(...shortOf(lengths, cell));
      await nextTurn();
    }
    expect(short).toEqual([]);
  },
  600_000,
);
