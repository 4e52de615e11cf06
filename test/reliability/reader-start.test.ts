// Reader threads: one is started when calls find all there are busy, and so the first one; whatever is told
// meanwhile, it hears. One that ends before it can take calls is started anew, not without a pause.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import {
  type Batch,
  openBatch,
  packBatch,
  replyWords,
  requestWords,
} from '../../engine/database/lane/message-batch.js';
import type { Call } from '../../engine/database/call/call.js';
import type { ToReader } from '../../engine/database/lane/message.js';
import { packProgram } from '../../engine/database/call/serialized-program.js';
import { compile } from '../../engine/internal.js';
import { openEmbedded } from '../support/server/embedded-server.js';
import { Random } from '../support/random.js';
import { Dispatcher } from '../../engine/database/lane/dispatcher.js';
import {
  ControlBlock,
  SlotPool,
  createControlBuffer,
} from '../../engine/database/call/control-block.js';

const program = packProgram(compile([], { compat: false }).program!);

const long = process.env.TRELLIS_TEST_LONG === '1';
/** Soon: lanes answer within a turn or two. */
const soon = { interval: 2 };

/** A dispatcher of one lane whose first `failures` threads end at once. */
function dispatcherOf(failures: number) {
  let starts = 0;
  const gate = new ControlBlock(createControlBuffer(64));
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
    configuration: () => ({ kind: 'configure', program, generation: 0, schema: 0, indexes: [] }),
    onSettled: () => undefined,
    onRestart: () => undefined,
  });
  return {
    dispatcher,
    starts: () => starts,
    call: () => dispatcher.submit(callOf(() => undefined)),
  };
}

const callOf = (settle: () => void, cost: Call['cost'] = 'C'): Call => {
  const call = { query: 0, body: new Uint8Array(0), cost, slot: -1, settled: false };
  const time = { deadline: performance.now() + 60_000, budgetMs: 60_000 };
  const turn = {
    caller: '',
    account: undefined,
    charged: 0,
    arrival: 0,
    drops: false,
    expected: 0,
    callerNumber: 0,
  };
  return { ...call, ...time, ...turn, resolve: settle, reject: settle };
};

describe('reader threads', () => {
  it('are started again when they end before they are ready', async () => {
    const { dispatcher, starts, call } = dispatcherOf(2);
    expect(starts()).toBe(0);
    const began = performance.now();
    call();
    await expect.poll(() => dispatcher.hasLane(), soon).toBe(true);
    expect(starts()).toBe(3);
    expect(performance.now() - began).toBeGreaterThan(100);
    dispatcher.close();
  });

  it('that never get ready are started with pauses that grow, until the end', async () => {
    const { dispatcher, starts, call } = dispatcherOf(Number.POSITIVE_INFINITY);
    for (let i = 0; i < 5; i++) call();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(starts()).toBeGreaterThan(1);
    expect(starts()).toBeLessThan(10);
    expect([dispatcher.hasLane(), dispatcher.queued]).toEqual([false, 5]);
    dispatcher.close();
    expect(dispatcher.queued).toBe(0);
  });
});

/** The thread's side of one lane, on this thread. */
class FakeLane {
  readonly heard: string[] = [];
  readonly calls: number[] = [];
  isReady = false;
  isClosed = false;
  readonly #configurations: ToReader[] = [];

  constructor(
    private readonly port: MessagePort,
    readonly end: (error?: Error) => void,
  ) {
    port.on('message', (message: ToReader) => {
      if (message instanceof ArrayBuffer) {
        const { heads } = openBatch(message as Batch<{ slot: number }>);
        for (let at = 0; at < heads.length; at += requestWords) this.calls.push(heads[at]!);
      } else if ('kind' in message) this.#hear(message as Exclude<ToReader, ArrayBuffer>);
    });
  }

  #hear(message: Exclude<ToReader, ArrayBuffer>): void {
    this.heard.push(
      message.kind === 'configure' ? `configure ${message.generation}` : message.kind,
    );
    if (message.kind === 'configure') {
      if (this.isReady) this.port.postMessage({ kind: 'ready', indexes: [] });
      else this.#configurations.push(message);
    }
    if (message.kind === 'release') this.port.postMessage({ kind: 'released' });
    if (message.kind !== 'close') return;
    this.isClosed = true;
    this.port.close();
    this.end();
  }

  getReady(): void {
    this.isReady = true;
    for (const _ of this.#configurations.splice(0))
      this.port.postMessage({ kind: 'ready', indexes: [] });
  }

  answerAll(): void {
    const empty = new Array<number>(replyWords).fill(0);
    const heads = this.calls.splice(0).flatMap((slot) => empty.with(0, slot).with(4, 1));
    if (heads.length > 0) this.port.postMessage(packBatch(0, heads));
  }
}

async function growing(count: number) {
  const lanes: FakeLane[] = [];
  let generation = 0;
  const gate = new ControlBlock(createControlBuffer(1024));
  const dispatcher = new Dispatcher(gate, new SlotPool(gate), {
    count,
    queueMax: 1000,
    start: (onEnd) => {
      const { port1, port2 } = new MessageChannel();
      lanes.push(new FakeLane(port2, onEnd));
      return port1;
    },
    configuration: () => ({ kind: 'configure', program, generation, schema: 0, indexes: [] }),
    onSettled: () => undefined,
    onRestart: () => undefined,
  });
  const settled: boolean[] = [];
  const submit = (cost: Call['cost'] = 'C'): void => {
    const at = settled.push(false) - 1;
    dispatcher.submit(callOf(() => void (settled[at] = true), cost));
  };
  const reload = (): void => {
    generation++;
    dispatcher.broadcast({ kind: 'configure', program, generation, schema: 0, indexes: [] });
  };
  expect(lanes).toHaveLength(0);
  submit();
  await expect.poll(() => lanes[0]?.heard, soon).toEqual(['configure 0']);
  lanes[0]!.getReady();
  await expect
    .poll(() => {
      lanes[0]!.answerAll();
      return settled.every(Boolean);
    }, soon)
    .toBe(true);
  settled.length = 0;
  return { dispatcher, lanes, submit, reload, settled, generation: () => generation };
}

describe('readers', () => {
  it('are started one by one, while calls find all others busy, up to the maximum', async () => {
    const { dispatcher, lanes, submit, settled } = await growing(3);
    expect(lanes).toHaveLength(1);
    submit();
    await expect.poll(() => lanes[0]!.calls.length, soon).toBe(1);
    lanes[0]!.answerAll();
    await expect.poll(() => settled, soon).toEqual([true]);
    // One after another, they need no second one.
    submit();
    expect(lanes).toHaveLength(1);
    for (const most of [2, 3, 3]) {
      submit();
      submit();
      expect(lanes).toHaveLength(most);
      lanes[most - 1]!.getReady();
      await expect.poll(() => lanes.every(({ heard }) => heard.length > 0), soon).toBe(true);
      submit();
      await expect.poll(() => lanes.flatMap(({ calls }) => calls, soon).length).toBeGreaterThan(1);
    }
    for (let open = 1; open > 0; open = settled.filter((is) => !is).length) {
      for (const lane of lanes) lane.answerAll();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(lanes).toHaveLength(3);
    dispatcher.close();
    await expect.poll(() => lanes.every(({ isClosed }) => isClosed), soon).toBe(true);
  });

  it('receive the messages that arrive while they start: programs, closing the file, the end', async () => {
    const { dispatcher, lanes, submit, reload } = await growing(2);
    submit();
    submit();
    expect(lanes).toHaveLength(2);
    reload();
    const released = dispatcher.release();
    await expect
      .poll(() => lanes[1]!.heard, soon)
      .toEqual(['configure 0', 'configure 1', 'release']);
    await released;
    dispatcher.reopen();
    dispatcher.close();
    await expect
      .poll(() => lanes[1]!.heard.slice(3), soon)
      .toEqual(['reopen', 'configure 1', 'close']);
    expect(lanes.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  });

  it('answer every call exactly one time, whichever lanes are slow to start or end', async () => {
    const random = new Random(14);
    for (let round = 0; round < (long ? 100 : 4); round++) {
      const count = 1 + random.below(4);
      const { dispatcher, lanes, submit, reload, settled, generation } = await growing(count);
      for (let step = 0; step < 60; step++) {
        const lane = lanes[random.below(lanes.length)]!;
        const deed = random.below(10);
        if (deed < 4) submit(random.below(2) === 0 ? 'C' : 'B');
        else if (deed < 7) lane.answerAll();
        else if (deed === 7) lane.getReady();
        else if (deed === 8) reload();
        else if (lane.isReady && !lane.isClosed) {
          lane.isClosed = true;
          lane.end(new Error('ended'));
        }
        if (deed % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
        const alive = lanes.filter(({ isClosed }) => !isClosed);
        expect(alive.length).toBeLessThanOrEqual(count);
      }
      await expect
        .poll(() => {
          for (const lane of lanes) lane.getReady();
          for (const lane of lanes.filter(({ isClosed }) => !isClosed)) lane.answerAll();
          return settled.every(Boolean);
        }, soon)
        .toBe(true);
      const newest = `configure ${generation()}`;
      const alive = lanes.filter(({ isClosed }) => !isClosed);
      await expect.poll(() => alive.every(({ heard }) => heard.includes(newest)), soon).toBe(true);
      dispatcher.close();
    }
  });

  it('run the program that running calls have requested, after a reload as before it', async () => {
    const source = (version: number) => `
      N::Item { no: I64 }
      QUERY fill(rows: [{no: I64}]) => FOR {no} IN rows { AddN<Item>({no: no}) } RETURN "ok"
      QUERY sum() => n <- N<Item>::WHERE(_::{no}::GTE(0))::COUNT RETURN n
      QUERY version() => RETURN ${version}`;
    const files = (version: number) => [{ path: 'main.hx', text: source(version) }];
    const project = { sources: { 'main.hx': source(0) } };
    const { db, dispose } = await openEmbedded(project, undefined, { workers: 2 });
    try {
      const rows = Array.from({ length: 1_000 }, (_, no) => ({ no }));
      await db.call('fill', { rows });
      for (let version = 1; version <= (long ? 20 : 1); version++) {
        const calls = Array.from({ length: 8 }, () => db.call('sum'));
        await db.database.reload(compile(files(version), { compat: false }).program!);
        calls.push(...Array.from({ length: 8 }, () => db.call('sum')));
        expect(new Set((await Promise.all(calls)).map((one) => JSON.stringify(one)))).toEqual(
          new Set([JSON.stringify({ n: rows.length })]),
        );
      }
    } finally {
      await dispose();
    }
  });
});
