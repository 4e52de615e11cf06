// What callers of short reads get of one thread, counted in turns of the event loop, not in time: each client sends
// its next read after the response to the last one.
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { InlineTurns } from '../../../engine/database/call/inline-turns.js';

/** An event loop: in each turn, the requests that arrived since the last one, then what was arranged. */
class Loop {
  #isArmed = false;
  #arriving: string[] = [];
  readonly turns = new InlineTurns(() => {
    this.#isArmed = true;
  });
  /** Callers of the responses, in order. */
  readonly answered: string[] = [];

  constructor(private readonly micros: number) {}

  connect(caller: string, connections: number): void {
    for (let i = 0; i < connections; i++) this.#arriving.push(caller);
  }

  disconnect(caller: string): void {
    this.#arriving = this.#arriving.filter((one) => one !== caller);
  }

  run(turns: number): void {
    for (let i = 0; i < turns; i++) {
      const requests = this.#arriving;
      this.#arriving = [];
      for (const caller of requests) {
        const read = (): void => this.#answer(caller);
        if (this.turns.mustWait(caller)) void this.turns.wait(caller, read);
        else read();
      }
      this.turns.begin();
      this.#isArmed = false;
    }
  }

  #answer(caller: string): void {
    this.turns.spend(caller, this.micros);
    this.answered.push(caller);
    this.#arriving.push(caller);
  }

  /** Responses to each caller since the last call. */
  take(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const caller of this.answered.splice(0)) counts[caller] = (counts[caller] ?? 0) + 1;
    return counts;
  }

  get isArmed(): boolean {
    return this.#isArmed;
  }
}

describe('short reads on one thread', () => {
  it.each([5, 20, 100])('of %i us go in turn by caller, whatever their connections', (micros) => {
    const loop = new Loop(micros);
    loop.connect('hog', 64);
    loop.connect('other', 1);
    loop.run(5);
    loop.take();
    loop.run(1_000);
    const { hog, other } = loop.take();
    // Without turns, the caller of one read gets one response while the busy caller gets 64.
    expect(other! / (hog! + other!)).toBeGreaterThan(0.33);
    expect(other).toBeGreaterThan(990);
  });

  it('are shared by all callers that are active', () => {
    const loop = new Loop(20);
    loop.connect('hog', 64);
    loop.connect('second hog', 32);
    for (let i = 0; i < 8; i++) loop.connect(`other ${i}`, 1);
    loop.run(5);
    loop.take();
    loop.run(100);
    const counts = loop.take();
    for (let i = 0; i < 8; i++) expect(counts[`other ${i}`]).toBeGreaterThan(98);
    expect(counts.hog! + counts['second hog']!).toBeLessThan(500);
  });

  it('of a caller alone never wait, and no longer when the others have left', async () => {
    const loop = new Loop(20);
    loop.connect('hog', 64);
    loop.run(10);
    expect(loop.take()).toEqual({ hog: 640 });
    loop.connect('other', 1);
    loop.run(10);
    expect(loop.take().hog).toBeLessThan(200);
    loop.disconnect('other');
    await setTimeout(20);
    loop.run(1);
    loop.take();
    loop.run(10);
    expect(loop.take()).toEqual({ hog: 640 });
  });

  it('of one caller keep their order, and one that fails stops no other', async () => {
    const turns = new InlineTurns(() => undefined);
    const done: number[] = [];
    turns.spend('a', 100);
    turns.mustWait('a');
    turns.mustWait('b');
    turns.spend('a', 100);
    const reads = Array.from({ length: 5 }, (_, i) =>
      turns.wait('a', () => {
        turns.spend('a', 100);
        if (i === 1) throw new Error('refused');
        done.push(i);
        return i;
      }),
    );
    const settled = Promise.allSettled(reads);
    for (let i = 0; i < 5; i++) turns.begin();
    expect((await settled).map(({ status }) => status)).toEqual([
      ...['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    ]);
    expect(done).toEqual([0, 2, 3, 4]);
  });
});
