// Generated queries that write, with their meaning (test/support/query-generator): the response of both plans
// and the stored data are what the meaning says, failures included.
import { expect, test } from 'vitest';
import { nextTurn } from '../support/run/next-turn.js';
import { ChangePlay } from '../support/query-generator/execute-writes.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const first = Number(process.env.TRELLIS_TEST_SEED ?? (isLong ? 100 : 1));
const [worlds, rounds] = isLong ? [30, 12] : [1, 5];

test('queries that change do what they say', { timeout: 3_600_000 }, async () => {
  const total = { written: 0, refused: 0, agreed: 0, failed: 0, open: 0 };
  for (let seed = first; seed < first + worlds; seed++) {
    const play = new ChangePlay(seed);
    try {
      for (let round = 0; round < rounds && play.isSure; round++) {
        await nextTurn();
        play.play(seed * 10_000 + round * 20, 10, 2);
      }
    } finally {
      play.close();
    }
    expect(play.faults).toEqual([]);
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += play.counts[key];
  }
  // Few are refused or left open by the rules, and failures are not all there is.
  expect(total.refused + total.open).toBeLessThan(total.written / 20);
  expect(total.agreed).toBeGreaterThan(total.written * 2);
});
