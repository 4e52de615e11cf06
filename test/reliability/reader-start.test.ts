// Reader threads that end before they can take calls: opening goes on with the next one or says that
// it cannot be done, and a thread that keeps ending is not started without a pause.
import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { Dispatcher } from '../../engine/database/lane/dispatcher.js';
import { Gate, SlotPool, createGateBuffer } from '../../engine/database/call/gate.js';

/** A dispatcher of one lane whose first `failures` threads end at once. */
function dispatcherOf(failures: number) {
  let starts = 0;
  const gate = new Gate(createGateBuffer(64));
  const dispatcher = new Dispatcher(gate, new SlotPool(gate), {
    count: 1,
    queueMax: 10,
    start: (onEnd) => {
      const { port1, port2 } = new MessageChannel();
      if (++starts <= failures) setImmediate(() => onEnd(new Error('ended')));
      else port2.postMessage({ kind: 'ready', indexes: [] });
      port2.unref();
      return port1;
    },
    equip: () => ({ kind: 'equip', program: {}, generation: 0, schema: 0, indexes: [] }),
    onSettled: () => undefined,
    onRestart: () => undefined,
  });
  return { dispatcher, starts: () => starts };
}

describe('reader threads', () => {
  it('are started anew when they end before they are ready', async () => {
    const { dispatcher, starts } = dispatcherOf(2);
    const began = performance.now();
    await dispatcher.start();
    expect(starts()).toBe(3);
    expect(performance.now() - began).toBeGreaterThan(100);
    dispatcher.close();
  });

  it('that never get ready end the opening with an error', async () => {
    const { dispatcher, starts } = dispatcherOf(Number.POSITIVE_INFINITY);
    await expect(dispatcher.start()).rejects.toThrow('ended');
    expect(starts()).toBeLessThan(10);
  });
});
