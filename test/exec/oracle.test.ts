// The engine against the semantic oracle: random schemas, data and queries, compiled from source,
// answered by both; the state after every write is compared as well.
import { expect, test } from 'vitest';
import { playSession } from '../support/oracle/oracle-session.js';
import { World, type WorldCounts } from '../support/oracle/oracle-world.js';
import { nextTurn } from '../support/run/next-turn.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const first = Number(process.env.TRELLIS_TEST_SEED ?? (isLong ? 1000 : 0));
const worlds = isLong ? 600 : 6;

test('random queries answer what the rules say', { timeout: 3_600_000 }, async () => {
  const total: WorldCounts = { written: 0, compiled: 0, agreed: 0, failed: 0, open: 0 };
  for (let seed = first; seed < first + worlds; seed++) {
    await nextTurn();
    const world = new World(seed);
    try {
      world.play();
      for (let i = 0; i < 5; i++) expect(playSession(world, 12), `world ${seed}`).toBeUndefined();
    } finally {
      world.close();
    }
    for (const key of Object.keys(total) as (keyof WorldCounts)[]) total[key] += world.counts[key];
  }
  // Cases that say nothing must be rare, and failures must not be all there is.
  expect(total.compiled).toBeGreaterThan(total.written * 0.7);
  expect(total.open).toBeLessThan(total.agreed / 20);
  expect(total.agreed).toBeGreaterThan(worlds * 25);
});
