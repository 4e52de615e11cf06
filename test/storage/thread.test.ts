// A reader in a real worker thread sees every commit that was acknowledged before it was asked
// (operations.md L12).
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import { compileStorage } from './support/compiled.js';
import { freshFolder, labelNamed, openGarden, values, write } from './support/garden.js';

const rounds = process.env.TRELLIS_TEST_LONG === '1' ? 5000 : 300;

const path = freshFolder();
const storage = openGarden(path);
const compiled = await compileStorage();
const reader = `
  const { parentPort } = require('node:worker_threads');
  (async () => {
    const { openStorage } = await import('${compiled}/storage/open-storage.js');
    const { defaultLimits } = await import('${compiled}/base/limits.js');
    const { decodeProperty } = await import('${compiled}/storage/record/record.js');
    const storage = openStorage('${path}', { limits: defaultLimits, mode: 'read' });
    const view = storage.reader();
    const plant = view.catalog.labels().find(({ name }) => name === 'Plant');
    const [species] = plant.properties;
    parentPort.on('message', ({ id, value }) => {
      view.refresh();
      const record = view.record(id);
      parentPort.postMessage({
        count: view.count(plant.id),
        value: record && decodeProperty(record, species),
        found: [...view.lookup(species, value)],
      });
    });
    parentPort.postMessage('ready');
  })();`;
const worker = new Worker(reader, { eval: true });
const answer = () => new Promise<unknown>((resolve) => worker.once('message', resolve));

afterAll(async () => {
  await worker.terminate();
  storage.close();
});

describe('a reader on another thread', () => {
  it('never sees less than what was committed before', async () => {
    await answer();
    const plant = labelNamed(storage, 'Plant');
    let id = 0;
    for (let round = 1; round <= rounds; round++) {
      const value = `round ${round}`;
      if (round % 3 === 1)
        id = write(storage, (view) => view.createNode(plant, values({ species: value })));
      else write(storage, (view) => view.update([{ id, values: values({ species: value }) }]));
      const reply = answer();
      worker.postMessage({ id, value });
      expect(await reply).toEqual({ count: Math.ceil(round / 3), value, found: [id] });
    }
  });
});
