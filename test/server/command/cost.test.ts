// Which reads run on the main thread: what averages do to that choice.
import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { InlinePolicy } from '../../../engine/database/lane/inline-policy.js';

let book: InlinePolicy;
let idle: boolean;
let hasLane: boolean;
beforeEach(() => {
  idle = false;
  hasLane = true;
  book = new InlinePolicy({ isIdle: () => idle, hasLane: () => hasLane }, 4);
});

function learn(times: number, micros: number): void {
  for (let i = 0; i < times; i++) book.learn(0, micros);
}

const runsHere = (): boolean => book.mayInline(0, 'A', 100);

describe('the choice between main thread and lane', () => {
  it('depends on the class of the plan and the size of the body', () => {
    expect(book.mayInline(0, 'A', 4096)).toBe(true);
    expect(book.mayInline(0, 'A', 4097)).toBe(false);
    expect(book.mayInline(0, 'B', 1)).toBe(false);
  });

  it('keeps a cheap query through its first calls and through interruptions', () => {
    book.learn(0, 20_000);
    expect(runsHere()).toBe(true);
    for (let i = 0; i < 100; i++) {
      learn(50, 10);
      book.learn(0, 15_000);
      expect(runsHere()).toBe(true);
    }
  });

  it('sends a dear query to a lane soon, and lets it back when it is cheap again', () => {
    learn(100, 10);
    learn(30, 400);
    expect(runsHere()).toBe(false);
    learn(60, 10);
    expect(runsHere()).toBe(true);
  });

  it('accepts a bounded read when nothing else runs, unless it is known to be long', async () => {
    const takes = (bytes = 8_000) => book.mayInline(0, 'B', bytes);
    idle = true;
    expect(takes()).toBe(true);
    learn(50, 200);
    expect(takes()).toBe(true);
    expect(book.mayInline(0, 'C', 8_000)).toBe(false);
    expect(takes(40_000)).toBe(false);
    idle = false;
    expect(takes()).toBe(false);
    idle = true;
    expect(takes()).toBe(false);
    await setTimeout(15);
    expect(takes()).toBe(true);
    book.spend(0, 200);
    expect(takes()).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(takes()).toBe(true);
    learn(50, 600);
    expect(takes()).toBe(false);
  });

  it('tries a read of unknown cost of any class before it starts the first lane for it', async () => {
    hasLane = false;
    expect(book.mayInline(0, 'B', 8_000)).toBe(false);
    await setTimeout(15);
    idle = true;
    expect(['B' as const, 'C' as const].map((cost) => book.mayInline(0, cost, 8_000))).toEqual([
      true,
      true,
    ]);
    hasLane = true;
    expect(book.mayInline(0, 'C', 8_000)).toBe(false);
    hasLane = false;
    book.spend(0, 3_000);
    await new Promise((resolve) => setImmediate(resolve));
    learn(100, 3_000);
    expect(book.mayInline(0, 'B', 8_000)).toBe(false);
  });

  it('keeps a bounded read of a single client inline through first calls and next to other work', async () => {
    idle = true;
    const takes = async (): Promise<boolean> => {
      await new Promise((resolve) => setImmediate(resolve));
      return book.mayInline(0, 'B', 8_000);
    };
    let taken = 0;
    const call = async (micros: number, isDropped = false): Promise<void> => {
      if (await takes()) {
        taken++;
        book.spend(0, micros, isDropped);
      } else book.learn(0, micros);
    };
    for (let i = 0; i < 60; i++) await call(1_500);
    expect(taken).toBe(60);
    // Two of three calls are interrupted.
    for (let i = 0; i < 600; i++) await call(i % 3 === 0 ? 200 : 3_000);
    expect(taken).toBe(660);
    // What is long in earnest leaves, and comes back when it is short.
    for (let i = 0; i < 200; i++) await call(3_000);
    expect(await takes()).toBe(false);
    for (let i = 0; i < 10; i++) await call(200);
    expect(await takes()).toBe(true);
    book.reset();
    taken = 0;
    for (let i = 0; i < 200; i++) await call(30_000, true);
    expect(taken).toBeLessThan(40);
  });

  it('keeps more short reads where lanes are few: they would share the processors', () => {
    const taken = (lanes: number): number => {
      book = new InlinePolicy({ isIdle: () => false, hasLane: () => true }, lanes);
      learn(50, 60);
      let count = 0;
      for (; runsHere(); count++) book.spend(0, 60);
      return count;
    };
    expect(taken(4)).toBe(3);
    expect(taken(2)).toBe(17);
  });

  it('hands long answers from thread to thread only where there are lanes to gain by it', () => {
    const isHere = (lanes: number, micros: number): boolean => {
      book = new InlinePolicy({ isIdle: () => false, hasLane: () => true }, lanes);
      learn(200, micros);
      return runsHere();
    };
    expect([60, 200, 350, 500].map((micros) => isHere(2, micros))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect([60, 200, 350, 500].map((micros) => isHere(4, micros))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('lets a read of moderate length wait for a later turn only where lanes are few', () => {
    const mayWait = (lanes: number, micros: number, cost: 'A' | 'B' = 'A', bytes = 100) => {
      book = new InlinePolicy({ isIdle: () => false, hasLane: () => true }, lanes);
      expect(book.mayDefer(0, cost, bytes)).toBe(false);
      learn(200, micros);
      return book.mayDefer(0, cost, bytes);
    };
    expect([20, 100, 350, 500].map((micros) => mayWait(2, micros))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect([0, 4].map((lanes) => mayWait(lanes, 100))).toEqual([false, false]);
    expect(mayWait(2, 100, 'B')).toBe(false);
    expect(mayWait(2, 100, 'A', 5_000)).toBe(false);
    expect(book.mayDefer(-1, 'A', 100)).toBe(false);
  });

  it('spends no more than its budget in a turn', async () => {
    for (let i = 0; runsHere(); i++) {
      expect(i).toBeLessThan(200);
      book.spend(0, 10);
    }
    expect(book.mayInline(1, 'A', 1)).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(runsHere()).toBe(true);
  });
});
