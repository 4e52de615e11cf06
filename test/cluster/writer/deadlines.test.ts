// Writes that wait while the writer stands: they hear of the end of their time; those that it has begun with do not.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { TrellisError } from '../../../engine/base/errors.js';
import type { Call } from '../../../engine/database/call/call.js';
import {
  ControlBlock,
  SlotPool,
  createControlBuffer,
} from '../../../engine/database/call/control-block.js';
import { Deadlines } from '../../../engine/database/lane/deadlines.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const gate = new ControlBlock(createControlBuffer(8));
/** As the writer's thread sees it. */
const writer = new ControlBlock(gate.buffer);
const slots = new SlotPool(gate);

function callOf(budgetMs: number, slot: number): Call & { said: string } {
  const call = {
    deadline: performance.now() + budgetMs,
    ...{ budgetMs, slot, settled: false, said: '' },
    reject: (error: TrellisError) => {
      call.said = `${error.code} ${error.data.args.ms}`;
    },
  };
  return call as unknown as Call & { said: string };
}

test('of a write that waits in the queue or at the writer, unless it has begun', () => {
  const deadlines = new Deadlines(gate);
  const [queued, held, begun, later] = [
    callOf(200, -1),
    callOf(200, slots.take()),
    callOf(200, slots.take()),
    callOf(5_000, slots.take()),
  ];
  for (const call of [queued, held, begun, later]) deadlines.watch(call);
  expect(writer.begin(begun.slot)).toBe(true);
  vi.advanceTimersByTime(150);
  expect([queued, held, begun, later].map(({ said }) => said)).toEqual(['', '', '', '']);
  vi.advanceTimersByTime(200);
  const timedOut = 'QUERY_TIMEOUT 200';
  expect([queued, held, begun, later].map(({ said }) => said)).toEqual([
    timedOut,
    timedOut,
    '',
    '',
  ]);
  // Nobody begins with what was said not to be done; what has begun may be tried again, and stopped.
  expect(writer.begin(held.slot)).toBe(false);
  expect([writer.begin(begun.slot), writer.isCancelled(begun.slot)]).toEqual([true, false]);
  gate.cancel(begun.slot);
  expect([writer.begin(begun.slot), writer.isCancelled(begun.slot)]).toEqual([false, true]);
  // A slot that is used again is like new.
  slots.give(held.slot);
  const again = slots.take();
  expect([again, writer.begin(again)]).toEqual([held.slot, true]);
  expect(vi.getTimerCount()).toBe(1);
  begun.settled = true;
  later.settled = true;
  vi.advanceTimersByTime(100);
  expect(vi.getTimerCount()).toBe(0);
});
