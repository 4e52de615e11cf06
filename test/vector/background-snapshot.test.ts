// Snapshots that are made while the writer goes on: a server that is killed afterwards starts from
// them, with the log after them, and holds exactly what was acknowledged.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../support/http.js';
import type { Server } from '../support/server.js';
import { fill, httpRecall, snapshotFiles, startVectorServer } from '../support/vector-server.js';
import { long } from './fixture.js';
import { clustered, randomFrom } from './random.js';

const vectors = clustered(long ? 40_000 : 5000, 200, { seed: 61 });
const model = new Map<number, Float64Array>();
const ids = new Map<number, string>();
let server: Server;

beforeAll(async () => {
  server = await startVectorServer({ workers: 1 });
  const first = vectors.slice(0, 2500);
  await fill(server, first);
  for (const [no, vector] of first.entries()) model.set(no, vector);
}, 60_000);
afterAll(() => server?.dispose());

/** Adds and drops until it is told to stop; returns the slowest answer in milliseconds. */
async function write(from: number, step: number, going: () => boolean): Promise<number> {
  const client = new Client(server.port);
  const random = randomFrom(from);
  const own: number[] = [];
  let slowest = 0;
  for (let no = from; no < vectors.length && going(); no += step) {
    const started = performance.now();
    if (own.length > 10 && random() < 0.3) {
      const [gone] = own.splice(Math.floor(random() * own.length), 1);
      await client.post('dropId', { id: ids.get(gone!) });
      model.delete(gone!);
    } else {
      ids.set(no, (await client.post('add', { vec: [...vectors[no]!], no })).v);
      model.set(no, vectors[no]!);
      own.push(no);
    }
    slowest = Math.max(slowest, performance.now() - started);
  }
  client.close();
  return slowest;
}

test('writes go on while snapshots are made, and a kill loses nothing', async () => {
  let going = true;
  const writers = [0, 1, 2, 3].map((i) => write(2500 + i, 4, () => going));
  const rounds = long ? 20 : 3;
  for (let i = 0; i < rounds; i++) {
    const reply = await server.client.request({ path: '_admin/snapshot', body: '{}' });
    expect(reply.status).toBe(200);
  }
  going = false;
  await Promise.all(writers);
  const logged = [...server.stderr.matchAll(/"msg":"vector snapshot".*?"still_ms":([\d.]+)/g)];
  expect(logged.length).toBe(rounds);
  expect(snapshotFiles(server).length).toBe(2);
  await server.kill();
  await server.start();
  expect(server.stderr).not.toMatch(/rebuilding vector index|snapshot refused/);
  expect((await server.client.post('count')).n).toBe(model.size);
  const queries = [...model.values()].slice(-40);
  expect(await httpRecall(server, model, queries)).toBeGreaterThanOrEqual(0.97);
}, 600_000);

test('whatever was added is its own nearest, whatever was dropped is gone', async () => {
  const numbers = new Set(model.keys());
  for (const no of [...model.keys()].slice(-200)) {
    const { v } = await server.client.post('like', { vec: [...model.get(no)!], k: 1 });
    expect(v).toEqual([{ no }]);
  }
  for (const no of [...ids.keys()].filter((no) => !numbers.has(no)).slice(-50)) {
    const { v } = await server.client.post('like', { vec: [...vectors[no]!], k: 1 });
    expect(v[0].no).not.toBe(no);
  }
}, 60_000);
