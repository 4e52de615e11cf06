// Recovery through the real server: an index whose snapshot is gone is built again from the store
// by several threads, with progress, and answers as before.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Server } from '../support/server/server.js';
import {
  fill,
  httpRecall,
  removeSnapshots,
  snapshotFiles,
  startVectorServer,
} from '../support/server/vector-server.js';
import { clustered } from './random.js';

const vectors = clustered(4000, 200, { seed: 51 });
const queries = vectors.slice(0, 30);
const model = new Map(vectors.map((vector, i) => [i, vector]));
let server: Server;

beforeAll(async () => {
  server = await startVectorServer({ workers: 2 });
  await fill(server, vectors);
});
afterAll(() => server?.dispose());

test('vectors of large requests are found after the response', async () => {
  expect(await httpRecall(server, model, queries)).toBeGreaterThanOrEqual(0.97);
});

test('a stop writes a snapshot that the next start loads', async () => {
  await server.restart();
  expect(server.stderr).not.toContain('rebuilding vector index');
  expect(await httpRecall(server, model, queries)).toBeGreaterThanOrEqual(0.97);
});

test('without a snapshot the index is rebuilt and reports its progress', async () => {
  await server.stop();
  removeSnapshots(server);
  await server.start();
  const progress = [...server.stderr.matchAll(/"msg":"indexing vectors".*?"done":(\d+)/g)];
  expect(progress.length).toBeGreaterThan(2);
  expect(await httpRecall(server, model, queries)).toBeGreaterThanOrEqual(0.97);
  expect((await server.client.post('count')).n).toBe(4000);
  await server.stop();
  expect(snapshotFiles(server)).toEqual(['Doc.4000.snap']);
  await server.start();
});
