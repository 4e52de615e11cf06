// Searches against brute force: metrics, layouts, dimensions, awkward data.
import { describe, expect, test } from 'vitest';
import type { Layout, Metric } from '../../engine/vector/index.js';
import { asMap, indexOf, long, naiveSearch, recallOf } from './fixture.js';
import { clustered } from './random.js';
import { expectFigure } from '../support/run/figure.js';

const metrics: Metric[] = ['cosine', 'dot', 'l2'];

describe('small sets are exact', () => {
  for (const metric of metrics) {
    for (const dimension of [1, 2, 3, 31, 32, 33, 100, 300]) {
      test(`${metric}, dimension ${dimension}`, () => {
        const vectors = clustered(200, dimension, { seed: dimension });
        const index = indexOf(vectors, { metric });
        const queries = clustered(10, dimension, { seed: 99 });
        for (const query of queries) {
          const found = index.search(query, 5);
          const truth = naiveSearch(metric, asMap(vectors), query, 5);
          expect(found.count).toBe(5);
          // In one dimension all cosines are 1 or -1: equally near ones are as good.
          if (dimension > 3) expect([...found.ids]).toEqual(truth.map((hit) => hit.id));
        }
        expect(recallOf(index, asMap(vectors), queries, { k: 5 })).toBe(1);
      });
    }
  }

  test('dimensions beyond the graph', () => {
    for (const dimension of [4097, 65_535]) {
      const vectors = clustered(20, dimension, { seed: 5 });
      const index = indexOf(vectors, { metric: 'cosine' });
      expect(index.search(vectors[7]!, 1).ids[0]).toBe(8);
    }
  });
});

describe('the graph finds what brute force finds', () => {
  const layouts: [Layout, number][] = [
    ['fast', 0.95],
    ['compact', 0.9],
    ['flat', 0.999],
  ];
  for (const metric of metrics) {
    for (const [layout, floor] of layouts) {
      for (const dimension of metric === 'cosine' ? [48, 200] : [140]) {
        test(`${metric}, ${layout}, dimension ${dimension}`, () => {
          const vectors = clustered(1400, dimension, { seed: 11 });
          const index = indexOf(vectors, { metric, layout });
          const queries = clustered(1400 + 25, dimension, { seed: 11 }).slice(1400);
          expect(recallOf(index, asMap(vectors), queries)).toBeGreaterThanOrEqual(floor);
        });
      }
    }
  }

  for (const seed of long ? [1, 2, 3] : [1]) {
    test(`random data, seed ${seed}`, () => {
      const vectors = clustered(2000, 160, { seed, clusters: 2000, spread: 1 });
      const queries = clustered(20, 160, { seed: seed + 100, clusters: 30 });
      const index = indexOf(vectors, { metric: 'cosine' });
      expect(recallOf(index, asMap(vectors), queries)).toBeGreaterThanOrEqual(0.95);
    });
  }

  test('large dimension', () => {
    const vectors = clustered(1050, long ? 1536 : 640, { seed: 4 });
    const index = indexOf(vectors, { metric: 'cosine' });
    expect(recallOf(index, asMap(vectors), vectors.slice(0, 20))).toBeGreaterThanOrEqual(0.95);
  });
});

describe('by inner products, for all lengths', () => {
  // More of them: recall/inner-products.test.ts.
  test('equal', () => {
    const vectors = clustered(long ? 4000 : 1200, 32, { seed: 41 });
    const queries = clustered(20, 32, { seed: 42, clusters: 20 });
    for (const layout of ['fast', 'compact'] as const) {
      const index = indexOf(vectors, { metric: 'dot', layout });
      const recall = recallOf(index, asMap(vectors), queries, { ef: 128 });
      expect(recall, layout).toBeGreaterThanOrEqual(0.98);
    }
  });
});

describe('clusters far tighter than they are apart', () => {
  const count = long ? 6000 : 1200;
  test.each(long ? [0.05, 0.02, 0.01, 0.005, 0.001] : [0.02, 0.001])('spread %d', (spread) => {
    const all = clustered(count + 20, 64, { seed: 51, clusters: count / 120, spread });
    const vectors = all.slice(0, count);
    for (const metric of ['cosine', 'l2'] as const) {
      for (const layout of ['fast', 'compact'] as const) {
        const index = indexOf(vectors, { metric, layout });
        const options = { ef: 128, margin: true };
        const recall = recallOf(index, asMap(vectors), all.slice(count), options);
        expect(recall, `${metric}, ${layout}`).toBeGreaterThanOrEqual(0.99);
      }
    }
  });
});

describe('awkward data', () => {
  test('sorted by cluster, one cluster far away', () => {
    const near = clustered(1600, 64, { seed: 6, clusters: 8, spread: 0.2 });
    near.sort((a, b) => a[0]! - b[0]!);
    const far = clustered(300, 64, { seed: 7, clusters: 1, spread: 0.2 }).map((v) =>
      v.map((x) => x + 50),
    );
    const vectors = [...near, ...far];
    const index = indexOf(vectors);
    const queries = [...near.slice(100, 120), ...far.slice(100, 120)];
    expect(recallOf(index, asMap(vectors), queries, { ef: 200 })).toBeGreaterThanOrEqual(0.9);
  });

  test('zero vectors under every metric', () => {
    for (const metric of metrics) {
      const vectors = clustered(1600, 40, { seed: 8 });
      for (let i = 0; i < 1600; i += 3) vectors[i] = new Float64Array(40);
      const index = indexOf(vectors, { metric });
      const queries = vectors.slice(1, 30).filter((_, i) => i % 3 !== 2);
      expect(recallOf(index, asMap(vectors), queries)).toBeGreaterThanOrEqual(0.95);
      expect(index.search(new Float64Array(40), 10).count).toBe(10);
      expect(index.search(vectors[1]!, 1400).count).toBe(1400);
    }
  });

  test('many equal vectors cost no more than different ones', () => {
    const distinct = clustered(1500, 48, { seed: 9 });
    const same = distinct[700]!;
    const vectors = [...distinct, ...Array.from({ length: 5_000 }, () => same)];
    const started = performance.now();
    const index = indexOf(vectors);
    const perVector = (performance.now() - started) / vectors.length;
    expectFigure(perVector, 1, 'ms for an equal vector');
    expect(index.search(same, 50).count).toBe(50);
    const unlike = index.search(distinct[701]!, 2).distances[1]!;
    expect(Math.max(...index.search(same, 50).distances)).toBeLessThan(1e-4 * unlike);
    const others = distinct.slice(0, 15);
    expect(recallOf(index, asMap(vectors), others)).toBeGreaterThanOrEqual(0.95);
  });

  test('equally near vectors are ordered by age, not by slot', () => {
    const vectors = clustered(1200, 24, { seed: 17 });
    for (const count of [40, 1200]) {
      const index = indexOf(vectors.slice(0, count), { metric: 'l2' });
      for (let id = 3; id <= 30; id += 3) index.delete(id);
      index.maintain(1_000);
      const twin = vectors[count - 1]!.map((x) => x + 3);
      for (let id = 5001; id <= 5020; id++) index.put(id, twin);
      const oldest = Array.from({ length: 8 }, (_, i) => 5001 + i);
      expect([...index.search(twin, 8).ids]).toEqual(oldest);
    }
  });

  test('near-duplicates, far below the resolution of the codes', () => {
    const distinct = clustered(1100, 200, { seed: 14 });
    const near = clustered(800, 200, { seed: 15, clusters: 1, spread: 1 }).map((noise) =>
      distinct[3]!.map((x, d) => x + 1e-3 * noise[d]!),
    );
    const vectors = [...distinct, ...near];
    const index = indexOf(vectors);
    const queries = near.slice(0, 20).map((v) => v.map((x) => x + 1e-5));
    expect(recallOf(index, asMap(vectors), queries)).toBeGreaterThanOrEqual(0.9);
  });

  test('extreme lengths neither fail nor lose vectors', () => {
    for (const size of [1e-30, 1e30, 3e38]) {
      for (const metric of metrics) {
        const vectors = clustered(1100, 16, { seed: 12 }).map((v) =>
          v.map((x) => Math.max(-3.4e38, Math.min(3.4e38, x * size * 0.1))),
        );
        const index = indexOf(vectors, { metric });
        expect(recallOf(index, asMap(vectors), vectors.slice(0, 10))).toBeGreaterThanOrEqual(0.99);
        expect(index.search(vectors[5]!, 1100).count).toBe(1100);
      }
    }
  });
});
