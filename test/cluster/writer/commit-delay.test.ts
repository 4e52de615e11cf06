// The writer of a leader waits, within bounds, for the callers that it has just answered. The test is a model
// of clients that call again after some time, with a simulated clock.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CommitDelay } from '../../../engine/database/lane/commit-delay.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

interface Model {
  clients: number;
  /** Until a client that was answered asks again. */
  thinkMs: (client: number) => number;
  /** What a group costs, however many are in it. */
  groupMs: number;
}

/** Groups of the first `seconds`: their sizes, and the milliseconds that somebody waited for others. */
function run(
  { clients, thinkMs, groupMs }: Model,
  gathering: CommitDelay | undefined,
  seconds = 4,
) {
  const comes = Array.from({ length: clients }, (_, client) => thinkMs(client));
  const sizes: number[] = [];
  let held = 0;
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const now = (): number[] => comes.flatMap((at, i) => (at <= performance.now() ? [i] : []));
    for (;;) {
      const waiting = now().length;
      // The model looks again all the time: nobody has to tell it.
      if (waiting > 0 && !gathering?.waits(waiting, () => undefined)) break;
      vi.advanceTimersByTime(0.1);
      if (waiting > 0) held += 0.1;
    }
    const group = now();
    sizes.push(group.length);
    vi.advanceTimersByTime(groupMs);
    for (const client of group) comes[client] = performance.now() + thinkMs(client);
    gathering?.answered(group.length, groupMs, now().length);
  }
  const perSecond = sizes.reduce((sum, size) => sum + size, 0) / seconds;
  return { size: perSecond / (sizes.length / seconds), perSecond, held: held / seconds / 1000 };
}

const soon = (client: number): number => 0.3 + (client % 7) * 0.2;

test.each([8, 64, 256])(
  '%i clients that call again immediately share entries, and get more replies',
  (clients) => {
    const model = { clients, thinkMs: soon, groupMs: 8 };
    const [without, waiting] = [run(model, undefined), run(model, new CommitDelay())];
    expect(waiting.size).toBeGreaterThan(0.95 * clients);
    expect(waiting.perSecond).toBeGreaterThan(without.perSecond);
  },
);

test('the writer does not wait for one client, or for few', () => {
  for (const clients of [1, 2, 3])
    expect(run({ clients, thinkMs: soon, groupMs: 8 }, new CommitDelay()).held).toBe(0);
});

test('if no client calls again soon, waiting is seldom tried', () => {
  const late = { clients: 64, thinkMs: (client: number) => 40 + client * 3, groupMs: 8 };
  const [without, waiting] = [run(late, undefined), run(late, new CommitDelay())];
  expect(waiting.held).toBeLessThan(0.03);
  expect(waiting.perSecond).toBeGreaterThan(0.97 * without.perSecond);
});

test('no wait is longer than a quarter of the group before, or 5 ms', () => {
  for (const [groupMs, most] of [
    [8, 2],
    [2, 0.5],
    [400, 5],
  ] as const) {
    const gathering = new CommitDelay();
    gathering.answered(10, groupMs, 1);
    const begun = performance.now();
    let at = Number.NaN;
    const begin = (): void => {
      at = performance.now() - begun;
    };
    expect([gathering.waits(1, begin), gathering.isComplete(10), gathering.isComplete(11)]).toEqual(
      [true, false, true],
    );
    vi.advanceTimersByTime(20);
    expect(at).toBeLessThanOrEqual(most + 1);
    expect(gathering.waits(1, begin)).toBe(false);
  }
});

test('the writer does not wait for callers beyond the size of a group', () => {
  const gathering = new CommitDelay();
  gathering.answered(600, 8, 500);
  expect(gathering.waits(500, () => undefined)).toBe(false);
});
