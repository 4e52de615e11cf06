// Maintenance that stops in every phase, between puts and deletes. A node that is being unlinked keeps its
// edges until the sweep frees it, so some of them lead to slots that are free already. No entry and no edge
// of another node leads to such a node then, hence no search follows its edges.
import { expect, test } from 'vitest';
import { PHASE_SWEEP, H_PHASE } from '../../wasm/layout.js';
import { createVectorIndex } from '../../engine/vector/shared-index.js';
import { nextTurn } from '../support/run/next-turn.js';
import { defaults, long } from './fixture.js';
import { blockFaults, reachable } from './invariants.js';
import { clustered, randomFrom } from './random.js';

/** Not a divisor of any number of slots here: the maintenance stops amid each of its phases. */
const slotsAStep = 97;
const steps = long ? 7_200 : 720;
const rows = 1_500;

test('no search and no entry reaches a node that waits for the sweep', async () => {
  const vectors = clustered(4_000, 24, { seed: 61, clusters: 40, spread: 1 });
  const index = createVectorIndex('Test', { ...defaults, efConstruction: 64 });
  for (let i = 0; i < rows; i++) index.put(i + 1, vectors[i]!);
  index.finishGraph();
  const live = new Set(Array.from({ length: rows }, (_, i) => i + 1));
  const random = randomFrom(7);
  const segment = index.segments[0]!;
  const seen = { sweeps: 0, waiting: 0, stale: 0 };
  for (let step = 0; step < steps; step++) {
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
