// Several threads read the same snapshot as a single thread, however the chunks are distributed. Each of them
// detects damage, and no thread waits for a thread that never began.
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createVectorIndex, type SharedIndex } from '../../engine/vector/shared-index.js';
import { type PageShare, readShare } from '../../engine/vector/parallel-load.js';
import { readSnapshot, writeSnapshot } from '../../engine/vector/snapshot.js';
import { defaults, long } from './fixture.js';
import { clustered } from './random.js';

const identity = { dbUuid: '0190a1b2-0000-7000-8000-000000000001', typeId: 7, seq: 5 };
const folder = mkdtempSync(join(tmpdir(), 'page-share-'));
const path = join(folder, 'Test.5.snap');
const vectors = clustered(long ? 4000 : 2000, 64, { seed: 31 });
let index: SharedIndex;

beforeAll(() => {
  // Several segments, so that pieces are of several memories.
  index = createVectorIndex('Test', defaults, { segmentBytes: 2 ** 21 });
  for (const [i, vector] of vectors.entries()) index.put(i + 1, vector);
  index.finishGraph();
  expect(index.segments.length).toBeGreaterThan(1);
  writeSnapshot(index, path, identity);
});
afterAll(() => rmSync(folder, { recursive: true }));

const worker = new URL('../../dist/engine/database/vectors/snapshot-worker.js', import.meta.url);
const workers: Worker[] = [];
afterAll(() => Promise.all(workers.map((each) => each.terminate())));

const helpers: Record<string, (share: PageShare) => void> = {
  nobody: () => undefined,
  'one thread': (share) => void workers.push(new Worker(worker, { workerData: share })),
  'three threads': (share) => {
    for (let i = 0; i < 3; i++) workers.push(new Worker(worker, { workerData: share }));
  },
  'somebody who reads all of it before': readShare,
  'a thread that ends at once': () => {
    workers.push(new Worker('process.exit(1)', { eval: true }));
  },
};

const read = (start: (share: PageShare) => void, file = path) =>
  readSnapshot(file, 'Test', defaults, {
    ...{ dbUuid: identity.dbUuid, typeId: 7, dimension: 64 },
    shareOut: { fromPages: 0, start },
  });

describe.each(Object.entries(helpers))('a snapshot read with the help of %s', (_, start) => {
  it('is whole', () => {
    for (let round = 0; round < 5; round++) {
      const { index: copy, reason } = read(start);
      expect(reason).toBeUndefined();
      expect(copy!.segments.length).toBe(index.segments.length);
      for (const query of vectors.slice(0, 20)) {
        expect([...copy!.search(query, 10).ids]).toEqual([...index.search(query, 10).ids]);
      }
      copy!.close();
    }
  });

  it('is refused if a byte of any chunk differs', () => {
    const bytes = readFileSync(path);
    const file = join(folder, 'Damaged.snap');
    const pages = Math.floor((bytes.length - 4096) / 4104);
    for (let part = 0; part < 6; part++) {
      const page = Math.floor((part * (pages - 1)) / 5);
      const damaged = Buffer.from(bytes);
      damaged[4096 + page * 4096 + 77]! ^= 1;
      writeFileSync(file, damaged);
      expect(read(start, file).reason, `page ${page}`).toBe('a page fails its checksum');
    }
  });
});

it('a snapshot that is cut while it is read is refused', () => {
  const file = join(folder, 'Cut.snap');
  writeFileSync(file, readFileSync(path));
  const { reason } = read(() => truncateSync(file, 2 ** 20), file);
  expect(reason).toBe('it is truncated');
});

it('a snapshot that is deleted during the read is refused', () => {
  const file = join(folder, 'Gone.snap');
  writeFileSync(file, readFileSync(path));
  expect(read(() => rmSync(file), file).reason).toBe('it cannot be read');
});
