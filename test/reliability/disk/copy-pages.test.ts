// Copies of a data file while a server writes to it (T21), page by page: what is in each agrees with itself, as the
// check of all pages, rows, lists and totals sees it. Copies of pages that nobody keeps must be found out.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import { defaultLimits } from '../../../engine/base/limits.js';
import { openStorage } from '../../../engine/storage/open-storage.js';
import { checkData } from '../../../engine/storage/page/file-check.js';
import { makeFolder, root } from '../../support/project.js';
import { noteProof } from '../../support/proof.js';
import { Client } from '../../support/server/http.js';
import { startServer } from '../../support/server/server.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const copies = long ? 300 : 10;
const clients = 8;
/** Long enough to copy for some commits to fall into each. */
const rows = 8_000;
const text = 'x'.repeat(1_500);

const sources = {
  'main.hx': `
N::Item { UNIQUE INDEX no: I64, text: String }
QUERY fill(rows: [{no: I64, text: String}]) =>
  FOR {no, text} IN rows { AddN<Item>({no: no, text: text}) }
  RETURN "done"
QUERY change(no: I64, text: String) => i <- N<Item>({no: no})::UPDATE({text: text}) RETURN i::{no}
`,
};
const config = { 'storage.ballast': 0, 'storage.min_free': 0, 'text.enabled': false };
const server = await startServer({ sources, config });
for (let from = 0; from < rows; from += 500) {
  const part = Array.from({ length: 500 }, (_, i) => ({ no: from + i, text }));
  await server.client.post('fill', { rows: part });
}
const graph = join(server.data, 'graph');
const storage = openStorage(graph, { limits: defaultLimits, mode: 'attach' });
const copied = join(makeFolder(), 'data.mdb');

/** In a thread of its own, so that clients go on in this one. */
const copier = new Worker(
  `const { parentPort, workerData } = require('node:worker_threads');
   const copying = import(workerData);
   parentPort.on('message', async ([from, to]) => {
     (await copying).copyPages(from, to);
     parentPort.postMessage('done');
   });`,
  {
    eval: true,
    workerData: pathToFileURL(join(root, 'dist/engine/storage/folder/copy-pages.js')).href,
  },
);

afterAll(async () => {
  await copier.terminate();
  await storage.close();
  await server.dispose();
});

/** Fails with what the thread fails with. */
function copy(): Promise<unknown> {
  copier.postMessage([join(graph, 'data.mdb'), copied]);
  return once(copier, 'message');
}

/** How many of the copies that are made beside writes are not sound, and the writes that fell into their making. */
async function unsound(isKept: boolean): Promise<{ faults: string[][]; beside: number }> {
  let isOver = false;
  let done = 0;
  const write = async (first: number): Promise<void> => {
    const client = new Client(server.port);
    for (let i = first; !isOver; i += clients, done++)
      await client.post('change', { no: (i * 7919) % rows, text: text.slice(i % 900) });
    client.close();
  };
  const writing = Promise.all(Array.from({ length: clients }, (_, i) => write(i)));
  const faults: string[][] = [];
  let beside = 0;
  for (let i = 0; i < copies; i++) {
    const release = isKept ? storage.env.keep() : () => {};
    const before = done;
    await copy();
    beside += done - before;
    release();
    const { rows: damaged, broken } = checkData(copied);
    if (damaged.length + broken.length > 0) faults.push([...damaged, ...broken]);
    rmSync(copied);
  }
  isOver = true;
  await writing;
  return { faults, beside };
}

test(`T21 ${copies} copies during writes are intact`, async () => {
  const { faults, beside } = await unsound(true);
  expect(faults).toEqual([]);
  expect(beside).toBeGreaterThan(copies);
  noteProof('T21', `${copies} copies of pages while ${beside} writes fell into them: all sound`);
}, 600_000);

test('T21 copies of pages without protection are detected as damaged', async () => {
  const { faults } = await unsound(false);
  expect(faults.length).toBeGreaterThan(0);
  noteProof('T21', `canary: ${faults.length} of ${copies} copies of pages that nobody kept`);
}, 600_000);
