// Cost of the functions of a generated module compared with the calls that they replace [P16]: CPU time, the
// lowest of some alternating rounds. `bench client` measures it over a server. The short run allows for other
// tests in the same process.
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { bind, connect } from '../../server/client/client.js';
import { built } from '../support/server/embedded-server.js';
import { makeFolder } from '../support/project.js';
import { expectFigure } from '../support/run/figure.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';

const { open } = await built<typeof import('../../engine/internal.js')>('engine/internal.js');

const text = `
N::Person { name: String, age: U8 }
QUERY add(name: String) => p <- AddN<Person>({ name: name, age: 1 }) RETURN p::ID
QUERY person(id: ID) => p <- N<Person>(id) RETURN p
`;
const shapes = { person: { writes: false, at: 0 } } as const;

interface Typed {
  person(params: { id: string }): Promise<unknown>;
}

/** How many times as much the second takes. */
async function ratioOf(tasks: (() => Promise<unknown>)[], calls: number): Promise<number> {
  const least = tasks.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < 7; round++) {
    for (const [at, task] of tasks.entries()) {
      const before = process.cpuUsage();
      for (let i = 0; i < calls; i++) await task();
      const { user, system } = process.cpuUsage(before);
      least[at] = Math.min(least[at]!, user + system);
    }
  }
  return least[1]! / least[0]!;
}

test('P16 a typed function embedded costs what `call` costs', async () => {
  const dataDir = makeFolder();
  const db = await open({ dataDir, sources: [{ path: 'main.hx', text }] });
  try {
    const { p: id } = await db.call<{ p: string }>('add', { name: 'a' });
    const typed = bind<Typed>(db, shapes);
    expect(await typed.person({ id })).toEqual(await db.call('person', { id }));
    const tasks = [() => db.call('person', { id }), () => typed.person({ id })];
    expectFigure(await ratioOf(tasks, isLong ? 20_000 : 1_000), 1.05, 'times a call');
  } finally {
    await db.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('P16 a typed function over HTTP costs little more than a fetch by hand', async () => {
  const server = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => outgoing.end('{"p":{"id":"1","name":"a"}}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const typed = bind<Typed>(connect({ url }), shapes);
    const headers = { 'Content-Type': 'application/json' };
    const byHand = async () => {
      const body = JSON.stringify({ id: '1' });
      const reply = await fetch(`${url}/person`, { method: 'POST', headers, body });
      if (!reply.ok) throw new Error(await reply.text());
      return reply.json();
    };
    expect(await typed.person({ id: '1' })).toEqual(await byHand());
    const tasks = [byHand, () => typed.person({ id: '1' })];
    // A bare fetch knows no deadline, which it would have to tell and to keep.
    expectFigure(await ratioOf(tasks, isLong ? 1_500 : 150), 1.5, 'times a fetch by hand');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
