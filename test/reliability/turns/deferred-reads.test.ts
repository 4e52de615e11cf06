// Reads that wait for a later turn of the event loop: their order, the time of a turn, and failures.
import { describe, expect, it } from 'vitest';
import { DeferredReads } from '../../../engine/database/call/deferred-reads.js';

const busy = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

/** Reads that take this long, with the names of their callers in the order in which they ran. */
function start(ms: number) {
  const ran: string[] = [];
  let armed = 0;
  const deferred = new DeferredReads(() => armed++);
  const add = (caller: string, count: number): Promise<string>[] =>
    Array.from({ length: count }, (_, i) =>
      deferred.add(caller, () => {
        busy(ms);
        ran.push(`${caller}${i}`);
        return caller;
      }),
    );
  return { ran, deferred, add, armed: () => armed };
}

describe('deferred reads', () => {
  it('run one of each caller in rotation, those of one caller in order', async () => {
    const { ran, deferred, add } = start(0);
    const reads = [...add('hog', 5), ...add('a', 1), ...add('b', 2)];
    expect(ran).toEqual([]);
    while (deferred.count > 0) deferred.runSome();
    expect(ran).toEqual(['hog0', 'a0', 'b0', 'hog1', 'b1', 'hog2', 'hog3', 'hog4']);
    expect(await Promise.all(reads)).toHaveLength(8);
  });

  it('take no more than a small part of a millisecond of a turn, but one at least', () => {
    const { ran, deferred, add } = start(0.3);
    add('hog', 50);
    deferred.runSome();
    expect(ran.length).toBeLessThan(3);
    const long = start(3);
    long.add('hog', 3);
    for (let turn = 1; turn <= 3; turn++) {
      long.deferred.runSome();
      expect(long.ran).toHaveLength(turn);
    }
  });

  it('arrange another turn while some wait, and refuse to grow without bound', () => {
    const { deferred, add, armed } = start(1);
    add('hog', 256);
    expect(deferred.isFull).toBe(true);
    const before = armed();
    deferred.runSome();
    expect(armed()).toBe(before + 1);
    expect(deferred.isFull).toBe(false);
    while (deferred.count > 0) deferred.runSome();
    const last = armed();
    deferred.runSome();
    expect(armed()).toBe(last);
  });

  it('settle as the read does, and a failure stops no other read', async () => {
    const deferred = new DeferredReads(() => undefined);
    const failed = deferred.add('a', () => {
      throw new Error('refused');
    });
    const moved = deferred.add('a', () => Promise.resolve(7));
    const settled = Promise.allSettled([failed, moved]);
    deferred.runSome();
    deferred.runSome();
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });
});
