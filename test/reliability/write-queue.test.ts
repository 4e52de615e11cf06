// The queue before the writer: at any depth, with orders (reload, snapshot, load) among the writes,
// every call is answered exactly once and every order arrives behind the writes that came before it.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import type { ErrorData } from '../../engine/base/errors.js';
import { defaultLimits } from '../../engine/base/limits.js';
import {
  type Batch,
  openBatch,
  packBatch,
  requestWords,
} from '../../engine/database/lane/message-batch.js';
import type { Call } from '../../engine/database/call/call.js';
import {
  ControlBlock,
  SlotPool,
  createControlBuffer,
} from '../../engine/database/call/control-block.js';
import type { ToWriter } from '../../engine/database/lane/message.js';
import type { ThreadPool } from '../../engine/database/lane/thread-pool.js';
import {
  type WriterEvents,
  WriterClient,
  flightMax,
} from '../../engine/database/lane/writer-client.js';
import { openEmbedded } from '../support/server/embedded-server.js';
import { Random } from '../support/random.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

/** What a writer has seen: numbers of calls, and orders with how many calls came before them. */
interface Seen {
  calls: number[];
  orders: { id: number; after: number }[];
}

/** The thread's side of the lane, on this thread; answers in random portions. */
function serve(port: MessagePort, random: Random, seen: Seen): void {
  const held: number[] = [];
  const answer = (): void => {
    const portion = held.splice(0, 1 + random.below(held.length));
    const heads = portion.flatMap((slot) => [slot, 0, 0, 0, 1, 0, 0, 0]);
    port.postMessage(packBatch(0, heads));
    if (held.length > 0) setImmediate(answer);
  };
  port.on('message', (message: ToWriter) => {
    if (message instanceof ArrayBuffer) {
      const { heads } = openBatch(message as Batch<{ slot: number }>);
      if (held.length === 0) setImmediate(answer);
      for (let at = 0; at < heads.length; at += requestWords) {
        held.push(heads[at]!);
        seen.calls.push(heads[at + 1]!);
      }
    } else if ('id' in message) {
      seen.orders.push({ id: message.id, after: seen.calls.length });
      port.postMessage({ kind: 'done', id: message.id });
    }
  });
  port.postMessage({ kind: 'ready', indexes: [] });
}

const silent = new Proxy({}, { get: () => () => undefined }) as WriterEvents;

async function linkTo(random: Random, seen: Seen) {
  const { port1, port2 } = new MessageChannel();
  let end!: (error?: Error) => void;
  const threads = {
    startWriter: (_: unknown, onEnd: typeof end) => {
      end = onEnd;
      serve(port2, random, seen);
      return port1;
    },
  } as unknown as ThreadPool;
  const gate = new ControlBlock(createControlBuffer(flightMax));
  const limits = { ...defaultLimits, write_queue: 1e6 };
  const link = new WriterClient(gate, new SlotPool(gate), limits, silent);
  await link.start(threads, {} as never);
  return { link, end, close: () => port2.close() };
}

/** Submits calls and orders as `random` has it; resolves with how often each call was answered. */
async function play(
  link: WriterClient,
  random: Random,
  count: number,
  { callers = 1, onStep }: { callers?: number; onStep?: () => void } = {},
) {
  const answers = new Uint8Array(count);
  const failures: ErrorData[] = [];
  const expected: number[] = [];
  const all: Promise<unknown>[] = [];
  for (let number = 0; number < count; number++) {
    all.push(
      new Promise<void>((resolve) => {
        const settled = (): void => {
          answers[number]!++;
          resolve();
        };
        const call = {
          query: number,
          body: new Uint8Array(random.below(4)),
          cost: 'W',
          deadline: performance.now() + 60_000,
          budgetMs: 60_000,
          slot: -1,
          settled: false,
          caller: String(number % callers),
          ...{
            account: undefined,
            charged: 0,
            arrival: 0,
            drops: number % 5 === 0,
            expected: 0,
            callerNumber: 0,
          },
          resolve: settled,
          reject: (error) => {
            failures.push(error.data);
            settled();
          },
        } as Call;
        link.submit(call);
      }),
    );
    if (random.chance(5 / count)) {
      expected.push(number + 1);
      all.push(link.execute({ kind: 'snapshot' }).catch((error) => failures.push(error.data)));
    }
    if (random.chance(3 / count)) await new Promise((resolve) => setImmediate(resolve));
    onStep?.();
  }
  await Promise.all(all);
  return { answers, failures, expected };
}

describe('T14 the write queue', () => {
  it('answers every call exactly one time, with commands among them, at any depth', async () => {
    for (let seed = 1; seed <= (long ? 300 : 12); seed++) {
      const random = new Random(seed);
      const seen: Seen = { calls: [], orders: [] };
      const callers = seed % 2 === 0 ? 3 : 1;
      const { link, close } = await linkTo(random, seen);
      const count = 1 + random.below(random.pick([10, 5_000, 20_000]));
      const { answers, failures, expected } = await play(link, random, count, { callers });
      expect(
        answers.every((times) => times === 1),
        `seed ${seed}`,
      ).toBe(true);
      expect(failures).toEqual([]);
      // Of each caller in its order; of a sole one, that is the order of all.
      const order = (of: number): number[] => seen.calls.filter((call) => call % callers === of);
      for (let caller = 0; caller < callers; caller++)
        expect(order(caller)).toEqual(order(caller).toSorted((a, b) => a - b));
      expect(new Set(seen.calls).size).toBe(count);
      // Behind all that came before it, and nothing else.
      for (const { after } of seen.orders)
        expect(Math.max(-1, ...seen.calls.slice(0, after))).toBe(after - 1);
      expect(seen.orders.map(({ after }) => after)).toEqual(expected);
      close();
    }
  });

  it('answers every call exactly one time when the writer ends', async () => {
    const random = new Random(7);
    const { link, end } = await linkTo(random, { calls: [], orders: [] });
    const count = 12_000;
    let step = 0;
    const over = play(link, random, count - 1, {
      onStep: () => {
        if (++step === count - 1) end(new Error('killed'));
      },
    });
    const { answers, failures } = await over;
    expect(answers.every((times) => times === 1)).toBe(true);
    expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(['READ_ONLY']));
  });

  it('keeps every write of a deep queue during snapshots, reloads and loads', async () => {
    const text =
      'N::Thing { name: String }\nQUERY add(name: String) =>\n t <- AddN<Thing>({name})\n RETURN NONE\nQUERY count() =>\n n <- N<Thing>::COUNT\n RETURN n\n';
    const { db, dispose } = await openEmbedded({
      sources: { 'main.hx': text },
      // Some of the calls wait for all the others, however long these take here.
      config: { 'limits.write_queue': 100_000, 'limits.query_time': '10m' },
    });
    try {
      const count = long ? 60_000 : 9_000;
      const all: Promise<unknown>[] = [];
      for (let i = 0; i < count; i++) {
        all.push(Promise.resolve(db.callBytes('add', { name: `n${i}` })));
        if (i === count - 10) all.push(db.database.snapshot());
        if (i === count - 5) all.push(db.database.reload(db.database.program));
      }
      const load = db.database.load('deep');
      const row = Buffer.from('{"node":"Thing","properties":{"name":"row"}}\n');
      const bytes = new Uint8Array(new ArrayBuffer(row.length));
      bytes.set(row);
      all.push(load.rows(bytes, 1, { offset: row.length, line: 2 }).then(() => load.finish()));
      const results = await Promise.allSettled(all);
      expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
      expect(await db.call('count')).toEqual({ n: count + 1 });
    } finally {
      await dispose();
    }
  });
});
