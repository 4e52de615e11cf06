// Writes that hold the writer for long: one of them is there at a time, and what waits of others goes
// before the next, whoever sent them and whether or not their length was known.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import type { Call } from '../../engine/database/call/call.js';
import {
  ControlBlock,
  SlotPool,
  createControlBuffer,
} from '../../engine/database/call/control-block.js';
import {
  type Batch,
  openBatch,
  packBatch,
  requestWords,
} from '../../engine/database/lane/message-batch.js';
import { notRun, takeGroup } from '../../engine/database/lane/commit-delay.js';
import type { QueuedWrite } from '../../engine/database/lane/group-commit.js';
import { longMicros } from '../../engine/database/lane/long-writes.js';
import type { ToWriter } from '../../engine/database/lane/message.js';
import type { ThreadPool } from '../../engine/database/lane/thread-pool.js';
import {
  type WriterEvents,
  WriterClient,
  flightMax,
} from '../../engine/database/lane/writer-client.js';

const waitingOf = (slot: number, expected: number, query = slot, caller = slot): QueuedWrite => {
  return { slot, query, body: new Uint8Array(8), deadline: 0, budgetMs: 0, expected, caller };
};

/** Groups as they are made when nothing more comes. */
function groupsOf(waiting: QueuedWrite[]): number[][] {
  const groups: number[][] = [];
  while (waiting.length > 0) groups.push(takeGroup(waiting).map(({ slot }) => slot));
  return groups;
}

const L = longMicros;

describe('groups of writes', () => {
  const cases: [string, number[], number[][]][] = [
    ['short ones are together', [0, 0, 9], [[0, 1, 2]]],
    ['a long one is alone', [L], [[0]]],
    ['a long one lets others go first', [L, 0, 0], [[1, 2], [0]]],
    ['long ones go one by one', [L, L, 0, L], [[2], [0], [1], [3]]],
    ['those before a long one do not wait for it', [0, L, 0], [[0], [2], [1]]],
    [
      'what is long together is cut',
      [L / 2, L / 2, L / 2, 0],
      [
        [0, 1],
        [2, 3],
      ],
    ],
  ];
  it.each(cases)('%s', (_, expected, groups) => {
    expect(groupsOf(expected.map((micros, slot) => waitingOf(slot, micros)))).toEqual(groups);
  });

  it('the calls of one caller keep their order', () => {
    // Of two callers, in turn.
    const waiting = [0, L, 0, 0, L, 0].map((micros, slot) =>
      waitingOf(slot, micros, slot, slot % 2),
    );
    expect(groupsOf(waiting)).toEqual([[0], [2], [1], [3], [5], [4]]);
    const behind = [waitingOf(0, 0, 7, 1), waitingOf(1, 0, 7, 1), waitingOf(2, 0, 8, 1)];
    const left = notRun(behind, [{ ok: false, error: undefined, micros: L }]);
    expect(groupsOf(left)).toEqual([[1], [2]]);
  });

  it('a long write waits one time for others, even if they keep coming', () => {
    const waiting = [waitingOf(0, L), waitingOf(1, 0)];
    expect(takeGroup(waiting).map(({ slot }) => slot)).toEqual([1]);
    waiting.push(waitingOf(2, 0));
    expect(takeGroup(waiting).map(({ slot }) => slot)).toEqual([0]);
  });

  it('writes after one that turned out to be long form another group, others first', () => {
    const group = [waitingOf(0, 0, 7), waitingOf(1, 0, 7), waitingOf(2, 0, 8)];
    const left = notRun(group, [{ ok: false, error: undefined, micros: L }]);
    expect(groupsOf([...left, waitingOf(3, 0)])).toEqual([[2, 3], [1]]);
  });
});

/** A writer that answers one request a turn, each of which took `micros` of its query. */
function serve(port: MessagePort, micros: (query: number) => number, seen: number[][]): void {
  const held: { slot: number; query: number }[] = [];
  const answer = (): void => {
    seen.push(held.map(({ query }) => query));
    const { slot, query } = held.shift()!;
    port.postMessage(packBatch(0, [slot, 0, 0, 0, 1, 0, 0, micros(query)]));
    if (held.length > 0) setImmediate(answer);
  };
  port.on('message', (message: ToWriter) => {
    if (!(message instanceof ArrayBuffer)) return;
    const { heads } = openBatch(message as Batch<{ slot: number }>);
    if (held.length === 0) setImmediate(answer);
    for (let at = 0; at < heads.length; at += requestWords) {
      held.push({ slot: heads[at]!, query: heads[at + 1]! });
    }
  });
  port.postMessage({ kind: 'ready', indexes: [] });
}

const silent = new Proxy({}, { get: () => () => undefined }) as WriterEvents;

describe('the queue before the writer', () => {
  const small = 0;
  const kinds: [string, { query: number; drops: boolean }, number][] = [
    ['a DROP that nobody has measured', { query: 1, drops: true }, 1],
    ['a query that was long before', { query: 2, drops: false }, L],
    ['a DROP that is long', { query: 3, drops: true }, 5 * L],
    ['a DROP that is no query of the program', { query: -1, drops: true }, 1],
  ];
  it.each(kinds)('has one at the writer at a time: %s', async (_, long, micros) => {
    const { port1, port2 } = new MessageChannel();
    const seen: number[][] = [];
    const threads = {
      startWriter: () => {
        serve(port2, (query) => (query === small ? 1 : micros), seen);
        return port1;
      },
    } as unknown as ThreadPool;
    const gate = new ControlBlock(createControlBuffer(flightMax));
    const link = new WriterClient(gate, new SlotPool(gate), defaultLimits, silent);
    await link.start(threads, {} as never);
    const order: number[] = [];
    const call = (caller: string, { query, drops }: { query: number; drops: boolean }) =>
      new Promise<void>((resolve, reject) => {
        const settled = (): void => {
          order.push(query);
          resolve();
        };
        const body = new Uint8Array(0);
        const times = { deadline: performance.now() + 60_000, budgetMs: 60_000 };
        const state = { account: undefined, charged: 0, arrival: 0, expected: 0, callerNumber: 0 };
        const rest = { slot: -1, settled: false, cost: 'W', resolve: settled, reject };
        link.submit({ query, drops, caller, body, ...times, ...state, ...rest } as Call);
      });
    // What nobody knows by its form is long once.
    if (!long.drops) await call('first', long);
    const notes: Promise<void>[] = [];
    const drops = Array.from({ length: 6 }, (_, i) => call(`hog ${i}`, long));
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        notes.push(call('small', { query: small, drops: false }));
        await notes.at(-1);
      }
    })();
    await Promise.all(drops);
    isOver = true;
    await writing;
    port2.close();
    // Once it is measured, what is short goes with others.
    const isKnownShort = micros < L && long.query >= 0;
    for (const held of isKnownShort ? seen.slice(0, 1) : seen)
      expect(held.filter((query) => query !== small).length).toBeLessThan(2);
    // Nobody waited for two.
    const longs = order.flatMap((query, at) => (query === small ? [] : [at])).slice(-6);
    if (micros >= L)
      for (const [i, at] of longs.slice(1).entries()) expect(at - longs[i]!).toBeGreaterThan(1);
    expect(longs.length).toBe(6);
  });
});
