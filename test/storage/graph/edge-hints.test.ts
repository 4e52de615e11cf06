// Loads write first edges by hints: whatever the hints say, the edges are those of single requests.
import { afterAll, describe, expect, it } from 'vitest';
import { randomOf } from '../../../bench/support/seeded-random.js';
import { readAdjacency, readDegree } from '../../../engine/storage/graph/adjacency.js';
import { NoEdgesHint } from '../../../engine/storage/graph/no-edges-hint.js';
import { openEnv } from '../../../engine/storage/table/env.js';
import { EdgeBuffer } from '../../../engine/storage/graph/edge-buffer.js';
import { freshFolder } from '../support/garden.js';

const env = openEnv(freshFolder());
afterAll(() => env.close());

describe('hints of elements without edges', () => {
  it('are set one time for each new element, direction and label', () => {
    const hints = new NoEdgesHint(100);
    const out = hints.bitsFor('out', 1, 200);
    expect([99, 100, 150, 100, 200, 200].map((id) => out.take(id))).toEqual([
      false,
      true,
      true,
      false,
      true,
      false,
    ]);
    expect(hints.bitsFor('in', 1, 200).take(150)).toBe(true);
    expect(hints.bitsFor('out', 2, 200).take(150)).toBe(true);
    const wider = hints.bitsFor('out', 1, 1_000_000);
    expect([150, 999_999, 1_000_000, 1_000_000].map((id) => wider.take(id))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it('are false for elements before the first one', () => {
    const bits = new NoEdgesHint(10_000).bitsFor('in', 1, 500);
    expect(bits.take(500)).toBe(false);
  });
});

describe('edges of loads', () => {
  it('are written even if hints are wrong', () => {
    const random = randomOf(1);
    const lists = new Map<number, number[]>();
    let hints = new NoEdgesHint(1);
    let edge = 1000;
    env.transact(() => {
      for (let load = 0; load < 12; load++) {
        // Every third load is told that nobody has edges; the rest knows of some elements only.
        if (load % 3 === 0) hints = new NoEdgesHint(load === 3 ? 1 : 30);
        const edges = new EdgeBuffer();
        for (let i = 0; i < 400; i++, edge++) {
          const id = Math.ceil(random() ** 3 * 60);
          const far = Math.ceil(random() * 999);
          edges.add(id, edge, far);
          lists.set(id, [...(lists.get(id) ?? []), edge, far]);
        }
        edges.write(env.out, 7, hints.bitsFor('out', 7, 60));
      }
      for (const [id, pairs] of lists) {
        expect([...readAdjacency(env.out, id, 7)]).toEqual(pairs);
        expect(readDegree(env.out, id, 7)).toBe(pairs.length / 2);
      }
      return false;
    });
    expect(Math.max(...[...lists.values()].map((pairs) => pairs.length))).toBeGreaterThan(1500);
  });
});
