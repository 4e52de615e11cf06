// A life of puts, replacements, deletions and searches against a plain map: no dead vector is
// found, none alive is lost.
import { describe, expect, test } from 'vitest';
import type { Layout } from '../../engine/vector/index.js';
import { createVectorIndex, type SharedIndex } from '../../engine/vector/shared-index.js';
import { nextTurn } from '../support/run/next-turn.js';
import { H_PHASE, PHASE_SWEEP } from '../../wasm/layout.js';
import { defaults, long, naiveSearch, recallOf } from './fixture.js';
import { blockFaults, reachable } from './invariants.js';
import { clustered, randomFrom } from './random.js';

const dimension = 32;
/**
 * The queries lie far from all vectors: an HNSW graph made afresh of what is left of 50,000 steps finds
 * .875 with 100 and .955 with 400.
 */
const ef = long ? 400 : 100;

async function live(
  index: SharedIndex,
  steps: number,
  seed: number,
): Promise<Map<number, Float64Array>> {
  const random = randomFrom(seed);
  const supply = clustered(steps, dimension, { seed });
  const model = new Map<number, Float64Array>();
  for (let i = 0; i < steps; i++) {
    const known = 1 + Math.floor(random() * (model.size + 1));
    if (i > 1300 && random() < 0.4) {
      index.delete(known);
      model.delete(known);
    } else {
      const id = random() < 0.2 ? known : i + 1;
      index.put(id, supply[i]!);
      model.set(id, supply[i]!);
    }
    if (i % 500 !== 0) continue;
    index.maintain(5);
    await nextTurn();
  }
  return model;
}

describe.each<Layout>(['fast', 'compact', 'flat'])('churn, layout %s', (layout) => {
  test.each([1, 2])('seed %i', async (seed) => {
    const index = createVectorIndex('Test', { ...defaults, layout });
    const model = await live(index, long ? 50_000 : 2600, seed);
    expect(index.count).toBe(model.size);
    const queries = clustered(20, dimension, { seed: seed + 50 });
    for (const query of queries) {
      const found = index.search(query, 10);
      expect(found.count).toBe(10);
      for (const id of found.ids) expect(model.has(id)).toBe(true);
      expect(new Set(found.ids).size).toBe(10);
    }
    const floor = layout === 'compact' ? 0.85 : 0.95;
    expect(recallOf(index, model, queries, { ef })).toBeGreaterThanOrEqual(floor);
    while (index.maintain(50)) {
      // To the end: everything deleted is reclaimed.
    }
    expect(index.tombstones).toBeLessThanOrEqual(index.segments[0]!.slots / 32);
    expect(recallOf(index, model, queries, { ef })).toBeGreaterThanOrEqual(floor);
  });
});

describe('segments', () => {
  test('a full segment opens the next, and all are searched', () => {
    const vectors = clustered(4000, 64, { seed: 3 });
    let announced = 0;
    const hooks = { segmentBytes: 2 ** 20 + 2 ** 19, onSegment: () => void announced++ };
    const index = createVectorIndex('Test', defaults, hooks);
    for (const [i, vector] of vectors.entries()) index.put(i + 1, vector);
    expect(index.segments.length).toBeGreaterThan(2);
    expect(announced).toBe(index.segments.length - 1);
    const model = new Map(vectors.map((vector, i) => [i + 1, vector]));
    expect(recallOf(index, model, vectors.slice(0, 20))).toBeGreaterThanOrEqual(0.95);
    // Replaced in another segment than where it was: the old one is gone.
    index.put(1, vectors[3999]!);
    expect(index.count).toBe(4000);
    const nearest = index.search(vectors[3999]!, 2);
    expect(new Set(nearest.ids)).toEqual(new Set([1, 4000]));
    index.delete(4000);
    expect(index.search(vectors[3999]!, 1).ids[0]).toBe(1);
  });
});

describe('filters', () => {
  const vectors = clustered(3000, 48, { seed: 21 });
  const index = createVectorIndex('Test', defaults);
  for (const [i, vector] of vectors.entries()) index.put(i + 1, vector);

  test.each([1, 0.5, 0.1, 0.01, 0.001])('share %d: k results, all allowed', (share) => {
    const random = randomFrom(5);
    const words = new Uint32Array(Math.ceil(3001 / 32));
    const allowed = new Map<number, Float64Array>();
    for (let id = 1; id <= 3000; id++) {
      if (random() >= share) continue;
      words[id >>> 5] = words[id >>> 5]! | (1 << (id & 31));
      allowed.set(id, vectors[id - 1]!);
    }
    const allow = { words, count: allowed.size };
    let hits = 0;
    let wanted = 0;
    for (const query of vectors.slice(0, 25)) {
      const k = Math.min(10, allowed.size);
      const found = index.search(query, 10, { allow });
      expect(found.count).toBe(k);
      const truth = new Set(naiveSearch('l2', allowed, query, k).map((hit) => hit.id));
      for (const id of found.ids) {
        expect(allowed.has(id)).toBe(true);
        if (truth.has(id)) hits++;
      }
      wanted += k;
    }
    expect(hits / wanted).toBeGreaterThanOrEqual(0.99);
  });
});

/**
 * The maintenance stops in every phase, between puts and deletes. A node that is being unlinked keeps its edges
 * until the sweep frees it, so some of them lead to slots that are free already. No entry and no edge of another
 * node leads to such a node then, hence no search follows its edges.
 */
// Not a divisor of any number of slots here: the maintenance stops amid each of its phases.
const slotsAStep = 97;
const unlinkingSteps = long ? 7_200 : 720;
const unlinkingRows = 1_500;

test('no search and no entry reaches a node that waits for the sweep', async () => {
  const vectors = clustered(4_000, 24, { seed: 61, clusters: 40, spread: 1 });
  const index = createVectorIndex('Test', { ...defaults, efConstruction: 64 });
  for (let i = 0; i < unlinkingRows; i++) index.put(i + 1, vectors[i]!);
  index.finishGraph();
  const live = new Set(Array.from({ length: unlinkingRows }, (_, i) => i + 1));
  const random = randomFrom(7);
  const segment = index.segments[0]!;
  const seen = { sweeps: 0, waiting: 0, stale: 0 };
  for (let step = 0; step < unlinkingSteps; step++) {
    for (let i = 0; i < 6; i++) {
      const [gone, fresh] = [1 + Math.floor(random() * 2_000), 1 + Math.floor(random() * 2_000)];
      index.delete(gone);
      live.delete(gone);
      index.put(fresh, vectors[Math.floor(random() * vectors.length)]!);
      live.add(fresh);
    }
    segment.kernel.maintain(segment.scratch.address, slotsAStep);
    const isSweeping = segment.field(H_PHASE) === PHASE_SWEEP;
    if (isSweeping) seen.sweeps++;
    if (isSweeping || step % 16 === 0) {
      const { faults, nodes, waiting, stale } = reachable(segment);
      expect(faults, `step ${step}`).toEqual([]);
      expect(nodes).toBeGreaterThan(0);
      seen.waiting += waiting;
      seen.stale += stale;
    }
    if (step % 120 === 0 || (isSweeping && seen.sweeps % 20 === 1))
      expect(blockFaults(segment), `step ${step}`).toEqual([]);
    if (step % 8 !== 0) continue;
    const found = index.search(vectors[step % vectors.length]!, 10);
    expect([...found.ids].filter((id) => !live.has(id))).toEqual([]);
    await nextTurn();
  }
  expect(index.count).toBe(live.size);
  // The schedule shows what it is for: it stops amid sweeps, with such edges.
  expect(seen.sweeps).toBeGreaterThan(20);
  expect(seen.waiting).toBeGreaterThan(100);
  expect(seen.stale).toBeGreaterThan(100);
});
