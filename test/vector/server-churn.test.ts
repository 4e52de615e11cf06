// A life of adds, drops and searches over HTTP on several workers: every search that is sent after an
// answered add finds it, wherever it runs; what was dropped is gone; recall stays; tombstones are
// reclaimed. And several segments through a whole life of a database.
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '../support/server/http.js';
import { makeFolder, removeFolder } from '../support/project.js';
import type { Server } from '../support/server/server.js';
import {
  fill,
  httpRecall,
  startVectorServer,
  vectorSources,
} from '../support/server/vector-server.js';
import { defaults, long } from './fixture.js';
import { clustered, randomFrom } from './random.js';

describe('churn over HTTP', () => {
  const rounds = long ? 20_000 : 150;
  const base = 1500;
  const vectors = clustered(base + rounds, 64, { seed: 81 });
  const model = new Map<number, Float64Array>();
  const ids = new Map<number, string>();
  let server: Server;

  beforeAll(async () => {
    server = await startVectorServer({ workers: 3 });
    await fill(server, vectors.slice(0, base));
    for (let no = 0; no < base; no++) model.set(no, vectors[no]!);
  });
  afterAll(() => server?.dispose());

  test('each added vector is found on every worker after the response, each dropped one is not', async () => {
    const readers = Array.from({ length: 6 }, () => new Client(server.port));
    const random = randomFrom(82);
    const lost: string[] = [];
    for (let no = base; no < base + rounds; no++) {
      const vec = [...vectors[no]!];
      ids.set(no, (await server.client.post('add', { vec, no })).v);
      model.set(no, vectors[no]!);
      const gone = random() < 0.6 ? [...ids.keys()][Math.floor(random() * ids.size)]! : no;
      const asked = no % 10 === 0 ? readers : readers.slice(0, 1);
      const found = await Promise.all(asked.map((each) => each.post('like', { vec, k: 1 })));
      for (const { v } of found) if (v[0]?.no !== no) lost.push(`${no} after its add`);
      if (gone === no) continue;
      await server.client.post('dropId', { id: ids.get(gone) });
      ids.delete(gone);
      model.delete(gone);
      const left = await readers[no % 6]!.post('like', { vec: [...vectors[gone]!], k: 1 });
      if (left.v[0]?.no === gone) lost.push(`${gone} is found after its drop`);
    }
    for (const client of readers) client.close();
    expect(lost.slice(0, 10)).toEqual([]);
    expect((await server.client.post('count')).n).toBe(model.size);
    const queries = [...model.values()].slice(-40);
    expect(await httpRecall(server, model, queries)).toBeGreaterThanOrEqual(0.95);
  }, 900_000);

  test('tombstones are reclaimed while no request writes', async () => {
    const tombstones = async (): Promise<number> => {
      const reply = await server.client.request({ method: 'GET', path: '_admin/indexes' });
      const { indexes } = JSON.parse(reply.text) as {
        indexes: { type: string; kind: string; tombstones: number }[];
      };
      return indexes.find(({ type }) => type === 'Doc')!.tombstones;
    };
    const until = Date.now() + 60_000;
    while ((await tombstones()) > model.size / 32 && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(await tombstones()).toBeLessThanOrEqual(model.size / 32);
    const queries = [...model.values()].slice(0, 40);
    expect(await httpRecall(server, model, queries)).toBeGreaterThanOrEqual(0.95);
  });
});

const face = new URL('../../dist/engine/internal.js', import.meta.url);

describe.skipIf(!existsSync(face))('several segments', () => {
  const folder = makeFolder();
  afterAll(() => removeFolder(folder));
  const vectors = clustered(3000, 64, { seed: 83 });
  const sources = [{ path: 'main.hx', text: vectorSources['main.hx'] }];
  const logged: string[] = [];

  const openSmall = async () => {
    const { open } = (await import(face.href)) as typeof import('../../engine/internal.js');
    return open({
      dataDir: folder,
      sources,
      workers: 1,
      vectors: {
        default: { ...defaults, metric: 'cosine' },
        types: {},
        segmentBytes: 2 ** 21,
      },
      log: (_, message) => void logged.push(message),
    });
  };
  type Opened = Awaited<ReturnType<typeof openSmall>>;

  /** Numbers of the index of Doc. */
  function docIndex(db: Opened): { vectors: number; segments: number } {
    for (const info of db.database.indexes()) {
      if (info.kind === 'vector' && info.type === 'Doc') return info;
    }
    return { vectors: -1, segments: -1 };
  }

  async function expectAll(db: Opened, count: number): Promise<void> {
    expect(docIndex(db).vectors).toBe(count);
    for (let no = 0; no < vectors.length; no += 101) {
      const { v } = await db.call<{ v: unknown }>('like', { vec: [...vectors[no]!], k: 1 });
      expect(v).toEqual(no === 0 ? [{ no: 3000 }] : [{ no }]);
    }
  }

  test('a full segment opens the next; snapshots and the log contain all of them', async () => {
    let db = await openSmall();
    for (let at = 0; at < vectors.length; at += 300) {
      const rows = vectors.slice(at, at + 300).map((vec, i) => ({ no: at + i, vec: [...vec] }));
      await db.call('fill', { rows });
    }
    await db.call('drop', { no: 0 });
    await db.call('add', { vec: [...vectors[0]!], no: 3000 });
    const { segments } = docIndex(db);
    expect(segments).toBeGreaterThan(1);
    await expectAll(db, 3000);
    await db.database.snapshot();
    await db.call('add', { vec: [...vectors[7]!].map((x) => x + 9), no: 3001 });
    await db.database.close({ snapshot: false });
    logged.length = 0;
    db = await openSmall();
    expect(logged).not.toContain('rebuilding vector index');
    expect(docIndex(db).segments).toBe(segments);
    await expectAll(db, 3001);
    await db.close();
  });
});
