// The width of a search and its cost: for one number of results, a narrower search never costs more.
import { describe, expect, test } from 'vitest';
import { graphMicros } from '../../../engine/vector/search-cost.js';
import { graphSearchParams } from '../../../engine/vector/search-params.js';
import { searchGraph } from '../../../engine/vector/search.js';
import { indexOf } from '../fixture.js';
import { clustered } from '../random.js';

const widths = [1, 4, 8, 12, 16, 24, 32, 48, 64, 65, 100, 192, 193, 270, 400, 800];
const counts = [1, 5, 10, 16, 17, 20, 32, 33, 50, 100, 200, 1000];

describe('a narrower width is never dearer', () => {
  for (const padded of [128, 192, 224, 256, 768, 1536]) {
    test(`by the cost model, ${padded} dimensions`, () => {
      for (const k of counts) {
        let before = 0;
        for (const ef of widths) {
          const params = graphSearchParams(ef, k, true, padded);
          const cost = graphMicros(padded, params);
          expect(cost, `k ${k}, ef ${ef}`).toBeGreaterThanOrEqual(before);
          expect(params.pool, `k ${k}, ef ${ef}`).toBeGreaterThan(k);
          before = cost;
        }
      }
    });
  }
});

// A pool without k different nodes makes the caller search again with four times the pool.
for (const [name, spread] of [
  ['in narrow clusters', 0.05],
  ['without clusters', 1],
] as const) {
  for (const dimension of [100, 250, 784]) {
    test(`one search finds k results at every width: ${dimension} dimensions, ${name}`, () => {
      const shape = { seed: 8, clusters: 40, spread };
      const vectors = clustered(2500, dimension, shape);
      const index = indexOf(vectors, { metric: 'cosine' });
      const segment = index.segments[0]!;
      const queries = clustered(2510, dimension, shape).slice(2500);
      for (const query of queries) {
        for (const k of counts.filter((each) => each <= 200)) {
          for (const ef of [1, 10, 40, 100]) {
            segment.load(query, 1);
            segment.filter(undefined);
            segment.kernel.beginQuery(segment.scratch.address);
            const params = graphSearchParams(ef, k, segment.canFollow, segment.padded);
            const found = searchGraph(segment, Math.max(ef, k), k, params);
            expect(found, `k ${k}, ef ${ef}`).toBeGreaterThanOrEqual(k);
          }
        }
      }
    });
  }
}
