// A client that closes its connection has given up: the call it made is stopped, on both
// transports.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { EmbeddedDatabase } from '../../engine/internal.js';
import { makeFolder, removeFolder } from '../support/project.js';
import { built } from '../support/server/embedded-server.js';
import { requestBytes } from '../support/server/http.js';
import { type RunningApp, startApp, transports } from '../server/running-app.js';
import { expectFigure } from '../support/run/figure.js';

const { open } = await built<typeof import('../../engine/internal.js')>('engine/internal.js');
const { ControlBlock } = await built<typeof import('../../engine/database/call/control-block.js')>(
  'engine/database/call/control-block.js',
);

const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}';
const endings = {
  'ends its side': (socket: import('node:net').Socket) => socket.end(),
  'breaks it off': (socket: import('node:net').Socket) => socket.destroy(),
};
type Leave = (typeof endings)[keyof typeof endings];

describe.each(transports)('%s', (transport) => {
  test.each(Object.entries(endings))('M20 a client that %s', async (_, leave) => {
    const running = await startApp(transport);
    try {
      const waits: number[] = [];
      const { database } = running;
      for (let i = 0; i < 5; i++)
        waits.push(await cancelTime(running, leave, () => database.cancelled));
      // Other work of this machine may be in the way of one of them, not of all.
      expectFigure(Math.min(...waits), 50, 'ms to the cancel');
      const { text } = await running.request({ path: 'ping', body: '{}' });
      expect(text).toBe('{"pong":true}');
    } finally {
      running.close();
    }
  });

  test('M20 the cancel word of the lane is set, and the lane is free', async () => {
    const running = await startApp(transport, { 'limits.query_time': '60s' });
    const folder = makeFolder();
    const db = await openSlow(folder);
    const words = cancelWords();
    try {
      running.app.attach(db.database);
      const waits: number[] = [];
      const [set, taken] = [() => words.set.length, () => words.taken];
      for (let i = 0; i < 3; i++) {
        waits.push(await cancelTime(running, endings['breaks it off'], set, taken));
        await expect.poll(() => running.app.inFlight).toBe(0);
      }
      expectFigure(Math.min(...waits), 50, 'ms to the cancel word');
      expect(words.set).toEqual([true, true, true]);
      // Else the one lane would walk on for a minute, and this would wait for it.
      expect(await db.call('few')).toEqual({ n: 3_600 });
    } finally {
      words.restore();
      running.close();
      await db.close();
      removeFolder(folder);
    }
  });
});

/** Waits for the call to be under way and taken up, leaves, and waits until one more is cancelled. */
async function cancelTime(
  { app, connect }: RunningApp,
  leave: Leave,
  cancelled: () => number,
  taken?: () => number,
): Promise<number> {
  const before = cancelled();
  const takenBefore = taken?.();
  const { inFlight } = app;
  const connection = await connect();
  connection.send(requestBytes({ path: 'mcp', body: call }));
  await expect.poll(() => app.inFlight, { interval: 2 }).toBe(inFlight + 1);
  if (taken) await expect.poll(taken, { interval: 2 }).toBe(takenBefore! + 1);
  const started = performance.now();
  leave(connection.socket);
  await expect.poll(cancelled, { interval: 1 }).toBe(before + 1);
  return performance.now() - started;
}

/** Where every node is a neighbour of every one, a walk takes longer than anybody waits. */
async function openSlow(folder: string): Promise<EmbeddedDatabase> {
  const walk = `N<Person>${'::Out<Knows>'.repeat(8)}`;
  const text = `
N::Person { UNIQUE INDEX no: U8 }
E::Knows { From: Person, To: Person }
QUERY add(no: U8) => p <- AddN<Person>({no: no}) RETURN p::ID
QUERY know(pairs: [{from: ID, to: ID}]) =>
  FOR {from, to} IN pairs { AddE<Knows>::From(from)::To(to) }
  RETURN "ok"
QUERY hang() => n <- ${walk}::COUNT RETURN n
QUERY few() => n <- N<Person>::Out<Knows>::COUNT RETURN n
`;
  const sources = [{ path: 'main.hx', text }];
  const db = await open({
    dataDir: join(folder, 'data'),
    sources,
    workers: 1,
    minFreeBytes: 0,
    limits: { query_time: 60_000 },
  });
  const ids: string[] = [];
  for (let no = 0; no < 60; no++) ids.push((await db.call<{ p: string }>('add', { no })).p);
  await db.call('know', { pairs: ids.flatMap((from) => ids.map((to) => ({ from, to }))) });
  return db;
}

interface Words {
  /** Calls that a lane has taken up. */
  taken: number;
  /** Of every cancel word that was set: whether it then says so. */
  set: boolean[];
  restore(): void;
}

function cancelWords(): Words {
  const { cancel, clear } = ControlBlock.prototype;
  const restore = () => void Object.assign(ControlBlock.prototype, { cancel, clear });
  const words: Words = { taken: 0, set: [], restore };
  ControlBlock.prototype.clear = function (slot) {
    clear.call(this, slot);
    words.taken++;
  };
  ControlBlock.prototype.cancel = function (slot) {
    cancel.call(this, slot);
    words.set.push(this.isCancelled(slot));
  };
  return words;
}
