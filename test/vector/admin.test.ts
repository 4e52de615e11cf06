// What operators choose and see of vector indexes, on a real server: parameters per type, the list of
// indexes, recall by endpoint, command and metric, and that a changed choice or a damaged snapshot
// leads to a rebuild.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { writeProject } from '../support/project.js';
import { commandHere } from '../support/server/command-here.js';
import type { Server } from '../support/server/server.js';
import {
  fill,
  httpRecall,
  snapshotFiles,
  startVectorServer,
  vectorSources,
} from '../support/server/vector-server.js';
import { clustered, randomFrom } from './random.js';

/** More than are searched one by one, a thousand. */
const isLong = process.env.TRELLIS_TEST_LONG === '1';
const [count, width, others] = isLong ? [1500, 256, 1200] : [1100, 256, 60];
const vectors = clustered(count, width, { seed: 71, clusters: 60, spread: 1 });
const model = new Map(vectors.map((vector, no) => [no, vector]));
const queries = vectors.slice(0, 40);
const other = '[vectors.Other]\nlayout = "flat"\n';
let server: Server;

// biome-ignore lint/suspicious/noExplicitAny: entries of several shapes.
async function indexOf(type: string, kind = 'vector'): Promise<any> {
  const reply = await server.client.request({ method: 'GET', path: '_admin/indexes' });
  expect(reply.status).toBe(200);
  const { indexes } = JSON.parse(reply.text);
  return indexes.find((entry: { type: string; kind: string }) => {
    return entry.type === type && entry.kind === kind;
  });
}

/** Starts again with these keys for the type Doc. */
async function restartWith(doc: string): Promise<void> {
  if (server.child.exitCode === null) await server.stop();
  writeProject(server.project, { sources: vectorSources, toml: `${other}[vectors.Doc]\n${doc}\n` });
  await server.start();
}

beforeAll(async () => {
  server = await startVectorServer({ workers: 1, toml: other });
  await fill(server, vectors);
  await fill(server, vectors.slice(0, others), { query: 'fillOther' });
  // The first graph is made between writes.
  await vi.waitUntil(async () => (await indexOf('Doc')).graph, { timeout: 120_000 });
  // And then it is measured how wide it must be walked.
  await vi.waitUntil(async () => (await indexOf('Doc')).ef_measured >= 128, { timeout: 120_000 });
});
afterAll(() => server?.dispose());

describe('the list of indexes', () => {
  test('vector types with their parameters, numbers and snapshot', async () => {
    const { snapshot, bytes, ...doc } = await indexOf('Doc');
    expect(doc).toMatchObject({
      dimensions: width,
      metric: 'cosine',
      layout: 'auto',
      layout_used: 'fast',
      exact: false,
      m: 16,
      ef_construction: 128,
      ef_search: 128,
      graph: true,
      vectors: count,
      tombstones: 0,
      segments: 1,
    });
    expect(snapshot).toBeNull();
    expect(bytes).toBeGreaterThan(count * width * 4);
    expect(await indexOf('Other')).toMatchObject({ layout_used: 'flat', graph: false });
    await server.client.request({ path: '_admin/snapshot', body: '' });
    const after = (await indexOf('Doc')).snapshot;
    expect(snapshotFiles(server)).toContain(after.file);
    expect(after.seq).toBe(count + others);
    expect(after.age_seconds).toBeLessThan(60);
    const metrics = await server.client.request({ method: 'GET', path: 'metrics' });
    expect(metrics.text).toMatch(/trellis_snapshot_write_pause_seconds\{type="Doc"\} \d/);
  });

  test('property and keyword indexes', async () => {
    expect(await indexOf('Note', 'property')).toMatchObject({ property: 'title', unique: false });
    expect(await indexOf('Note', 'keyword')).toBeUndefined();
    const reply = await server.client.request({ path: '_admin/indexes', body: '{}' });
    expect(reply.status).toBe(405);
  });
});

describe('recall', () => {
  test('by endpoint and as a metric', async () => {
    const { recall } = await server.client.post('_admin/recall?type=Doc&samples=20&k=5');
    expect(recall).toMatchObject([{ type: 'Doc', samples: 20, k: 5, vectors: count }]);
    expect(recall[0].recall).toBeGreaterThanOrEqual(0.97);
    const metrics = await server.client.request({ method: 'GET', path: 'metrics' });
    expect(metrics.text).toContain(`trellis_vector_recall{type="Doc",k="5"} ${recall[0].recall}`);
  });

  test('what cannot be measured is refused', async () => {
    const codeOf = async (asked: string): Promise<string> => {
      const reply = await server.client.request({ path: `_admin/recall?${asked}`, body: '' });
      return JSON.parse(reply.text).code;
    };
    expect(await codeOf('type=None')).toBe('UNKNOWN_TYPE');
    expect(await codeOf('samples=0')).toBe('PARAM_RANGE');
    expect(await codeOf('k=1e9')).toBe('PARAM_RANGE');
  });

  test('by command: from the running server, and from the directory', async () => {
    const argv = ['recall', 'Doc', '--samples', '10', '--data', server.data];
    const running = await commandHere([...argv, '--project', server.project]);
    const said = `^Doc: recall@10 \\d+\\.\\d\\d % \\(10 samples of ${count} vectors, `;
    expect(running.stdout).toMatch(new RegExp(said));
    expect(running.code).toBe(0);
    await server.stop();
    const here = await commandHere([
      ...argv.slice(0, 1),
      ...argv.slice(2),
      '--project',
      server.project,
    ]);
    expect(here.stdout).toMatch(/^Doc: recall@10 .*\nOther: recall@10 100\.00 % /);
    await server.start();
  });
});

describe('a changed configuration takes effect', () => {
  test.each([
    ['layout = "compact"', { layout_used: 'compact', graph: true }, 0.9],
    ['resident = false', { layout_used: 'compact', resident: false, graph: true }, 0.9],
    ['layout = "flat"', { layout_used: 'flat', graph: false }, 1],
    ['exact = true', { layout_used: 'flat', exact: true }, 1],
    ['layout = "fast"\nm = 24\nef_construction = 300', { m: 24, ef_construction: 300 }, 0.98],
  ])(
    '%s',
    async (toml, expected, floor) => {
      const before = await indexOf('Doc');
      await restartWith(toml);
      const after = await indexOf('Doc');
      expect(after).toMatchObject({ ...expected, vectors: count });
      if (after.layout_used !== before.layout_used || after.resident !== before.resident) {
        expect(server.stderr).toContain('it has another layout');
        expect(server.stderr).toContain('rebuilding vector index');
        expect(after.bytes).not.toBe(before.bytes);
      }
      expect(await httpRecall(server, model, queries)).toBeGreaterThanOrEqual(floor);
    },
    60_000,
  );

  test('another dimension than the stored one ends the start', async () => {
    await server.stop();
    const doc = '[vectors.Doc]\ndimensions = 100\n';
    writeProject(server.project, { sources: vectorSources, toml: other + doc });
    const failure = await server.start().catch((error: unknown) => error);
    expect(failure).toMatchObject({ exit: { code: 65 } });
    expect(String((failure as { output: string }).output)).toContain(
      `Doc holds vectors of ${width} numbers, not 100.`,
    );
  });

  test('ef_search', async () => {
    await restartWith('layout = "fast"\nef_search = 1\nm = 4\nef_construction = 8');
    expect(server.stderr).not.toContain('rebuilding');
    const low = await httpRecall(server, model, queries);
    await restartWith('layout = "fast"\nef_search = 400');
    expect(await httpRecall(server, model, queries)).toBeGreaterThan(low);
  });

  test('m and ef_construction shape what is built', async () => {
    const weak = 'ef_search = 10\nm = 2\nef_construction = 4\nmetric = "l2"';
    await restartWith(weak);
    expect(server.stderr).toContain('it has another metric');
    expect(server.stderr).toContain('rebuilding vector index');
    const low = await recallOfDoc();
    await restartWith('ef_search = 10\nmetric = "cosine"');
    expect(await recallOfDoc()).toBeGreaterThan(low);
  });
});

const recallOfDoc = async (): Promise<number> =>
  (await server.client.post('_admin/recall?type=Doc&samples=100&k=10')).recall[0].recall;

describe('an invalid snapshot is refused, and the index rebuilt', () => {
  const random = randomFrom(9);
  beforeAll(() => restartWith('layout = "fast"'), 60_000);
  const damages: [string, (bytes: Buffer) => Buffer][] = [
    ['truncated', (bytes) => bytes.subarray(0, Math.floor(random() * bytes.length))],
    ['torn: the last pages are zero', (bytes) => bytes.fill(0, bytes.length - 50_000)],
    ['a flipped bit', (bytes) => flip(bytes, Math.floor(random() * bytes.length))],
    ['of another database', (bytes) => flip(bytes, 12)],
    ['empty', () => Buffer.alloc(0)],
  ];

  test.each(damages)(
    '%s',
    async (_, damage) => {
      await server.stop();
      for (const file of snapshotFiles(server)) {
        if (!file.startsWith('Doc.')) continue;
        const path = join(server.data, 'vec', file);
        writeFileSync(path, damage(readFileSync(path)));
      }
      await server.start();
      expect(server.stderr).toContain('vector snapshot refused');
      expect(server.stderr).toContain('rebuilding vector index');
      expect((await indexOf('Doc')).vectors).toBe(count);
      expect(await httpRecall(server, model, queries.slice(0, 10))).toBeGreaterThanOrEqual(0.95);
    },
    60_000,
  );
});

function flip(bytes: Buffer, at: number): Buffer {
  bytes[at] = bytes[at]! ^ 4;
  return bytes;
}
