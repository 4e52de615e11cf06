// T23: servers of one directory. Whoever comes while one serves it ends with 75, and the one is not disturbed; of
// several that come at once to a free directory, also one left behind by a dead server, one serves. From other
// namespaces: test/storage/lock.test.ts.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Server, StartFailed, startServer } from '../support/server/server.js';
import { noteProof } from '../support/proof.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const starts = long ? 100 : 3;
const rounds = long ? 12 : 2;
const atOnce = 3;

let server: Server;
beforeAll(async () => {
  server = await startServer({
    sources: {
      'main.hx': `N::A { UNIQUE INDEX x: I64 }
        QUERY add(x: I64) => a <- AddN<A>({ x: x }) RETURN a::{x}
        QUERY all() => n <- N<A>::COUNT RETURN n`,
    },
  });
});
afterAll(() => server.dispose());

/** Another process on the same project and directory; the server, or the code with which it ended. */
async function another(): Promise<Server | number | null> {
  const other = new Server(server.folder, server.options);
  try {
    return await other.start();
  } catch (error) {
    if (!(error instanceof StartFailed)) throw error;
    // Who has just taken the directory may not have written down yet who it is.
    expect(error.output).toMatch(/^DATA_LOCKED: .*: (process \d+ holds it|another process)\./);
    return error.exit.code;
  }
}

test(`T23 ${starts} starts while a server runs exit with 75, and the server continues`, async () => {
  let [isOver, written] = [false, 0];
  const client = (async () => {
    while (!isOver) {
      expect(await server.client.post('add', { x: written })).toEqual({ a: { x: written } });
      written++;
      await pause(2);
    }
  })();
  for (let i = 0; i < starts; i++) expect(await another()).toBe(75);
  isOver = true;
  await client;
  expect(await server.client.post('all')).toEqual({ n: written });
  expect(server.child.exitCode).toBeNull();
  noteProof('T23', `${starts} starts beside a server: 75 each time, ${written} writes meanwhile`);
}, 600_000);

test(`T23 of ${atOnce} simultaneous starts one serves, ${rounds} times`, async () => {
  let held = (await server.client.post('all')).n as number;
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) await server.kill();
    else await server.stop();
    const came = await Promise.all(Array.from({ length: atOnce }, another));
    const serving = came.filter((one) => one instanceof Server);
    expect([serving.length, came.filter((one) => one === 75).length]).toEqual([1, atOnce - 1]);
    server = serving[0]!;
    expect(await server.client.post('add', { x: held })).toEqual({ a: { x: held } });
    expect(await server.client.post('all')).toEqual({ n: ++held });
  }
  noteProof('T23', `${rounds} times ${atOnce} starts at once: one serves, the others end with 75`);
}, 600_000);
