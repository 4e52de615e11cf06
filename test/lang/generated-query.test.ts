// Generated queries with their meaning (test/support/query-generator): both plans return what the meaning
// says, failures included.
import { expect, test } from 'vitest';
import { nextTurn } from '../support/run/next-turn.js';
import { SentencePlay } from '../support/query-generator/execute.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const first = Number(process.env.TRELLIS_TEST_SEED ?? (isLong ? 100 : 1));
const [worlds, each] = isLong ? [60, 250] : [3, 50];

test('queries answer what they say', { timeout: 3_600_000 }, async () => {
  const total = { written: 0, refused: 0, agreed: 0, failed: 0 };
  for (let seed = first; seed < first + worlds; seed++) {
    const play = new SentencePlay(seed);
    try {
      for (let from = 0; from < each; from += 25) {
        await nextTurn();
        play.play(seed * 10_000 + from, 25, 2);
      }
    } finally {
      play.close();
    }
    expect(play.faults).toEqual([]);
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += play.counts[key];
  }
  // Few are refused (what a text is among dates only the checker knows), and failures are not all there is.
  expect(total.refused).toBeLessThan(total.written / 20);
  expect(total.agreed).toBeGreaterThan(total.written * 2);
});
