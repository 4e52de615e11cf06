// A load with exclusive access defers its adjacency entries. Wherever the load ends or is cut off, the
// adjacency lists become those of a load that defers none.
import { describe, expect, it } from 'vitest';
import { randomOf } from '../../../bench/support/seeded-random.js';
import { instantFromMicros } from '../../../engine/base/date.js';
import { armFailpoint } from '../../../engine/base/failpoint.js';
import { defaultLimits } from '../../../engine/base/limits.js';
import { NameIds } from '../../../engine/database/load/name-ids.js';
import { RowReader } from '../../../engine/database/load/row/row-reader.js';
import { RowWriter } from '../../../engine/database/load/row-writer.js';
import { catalogOf } from '../../../engine/storage/catalog/catalog.js';
import { readCatalog } from '../../../engine/storage/catalog/catalog-record.js';
import { check } from '../../../engine/storage/check/check.js';
import { type Storage, openStorage } from '../../../engine/storage/open-storage.js';
import { checkData } from '../../../engine/storage/page/file-check.js';
import { WriteFence } from '../../../engine/storage/lock/write-fence.js';
import type { LoadView } from '../../../engine/storage/view/load-view.js';
import {
  DeferredAdjacency,
  oldestDeferredEdge,
} from '../../../engine/storage/view/deferred-adjacency.js';
import { Writer } from '../../../engine/storage/view/writer.js';
import { edge, node, vector } from '../support/declare.js';
import { freshFolder, labelNamed, openGarden, write } from '../support/garden.js';

const schema = {
  version: 1,
  nodes: [node('Plant')],
  edges: [
    edge('Grows', ['Plant', 'Plant']),
    edge('Tells', ['Plant', 'Note']),
    edge('Follows', ['Plant', 'Plant'], {}, true),
  ],
  vectors: [vector('Note')],
};

const isLong = process.env.TRELLIS_TEST_LONG === '1';

const plants = 60;

/** Pieces of rows: ends at random but for a hub, loops and twins among them, new elements in between. */
function piecesOf(seed: number, pieces: number): object[][] {
  const random = randomOf(seed);
  const below = (end: number): number => Math.floor(random() * end);
  const plant = (): string => (random() < 0.2 ? 'p0' : `p${below(plants)}`);
  const made: object[][] = [
    Array.from({ length: plants }, (_, i) => ({ node: 'Plant', id: `p${i}` })),
    Array.from({ length: 9 }, (_, i) => ({ vector: 'Note', id: `n${i}`, values: [i, 1] })),
  ];
  const pairs = new Set<string>();
  for (let piece = 0; piece < pieces; piece++) {
    const rows: object[] = [{ node: 'Plant' }];
    for (let i = 0; i < 200; i++) {
      const [from, to] = [plant(), plant()];
      if (i % 3 === 0) rows.push({ edge: 'Tells', from, to: `n${below(9)}` });
      else if (i % 3 === 1 || pairs.has(`${from} ${to}`)) rows.push({ edge: 'Grows', from, to });
      else {
        pairs.add(`${from} ${to}`);
        rows.push({ edge: 'Follows', from, to });
      }
    }
    made.push(rows);
  }
  return made;
}

type Run = (work: (view: LoadView) => unknown) => void;

/** Loads pieces, each in what `run` makes a transaction. */
function load(storage: Storage, pieces: readonly object[][], run: Run): void {
  const reader = new RowReader(storage.catalog, {
    limits: defaultLimits,
    textEnabled: false,
    textLanguage: 'english',
  });
  const names = new NameIds();
  for (const rows of pieces) {
    const bytes = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const batch = reader.read(bytes, 1, instantFromMicros(0));
    run((view) => {
      const { rejects } = new RowWriter(view, batch, names).write();
      expect([...batch.rejects, ...rejects]).toEqual([]);
    });
  }
}

/** All lists, as they are on disk. */
function listsOf({ env }: Storage): string[] {
  const all: string[] = [];
  for (const table of [env.out, env.in]) {
    for (const { key, value } of table.withChecksum({ id: 0, label: 0, chunk: 0 }, 1e6)) {
      all.push(`${table.name} ${JSON.stringify(key)} ${Buffer.from(value).toString('hex')}`);
    }
  }
  return all;
}

const garden = (): { path: string; storage: Storage } => {
  const path = freshFolder();
  return { path, storage: openGarden(path, {}, schema) };
};
const reopen = (path: string): Storage =>
  openStorage(path, { limits: defaultLimits, mode: 'attach' });

function plainLists(pieces: readonly object[][]): string[] {
  const { storage } = garden();
  load(storage, pieces, (work) => void storage.load(0, work));
  expect(oldestDeferredEdge(storage.env)).toBe(0);
  return listsOf(storage);
}

/** Pieces into a store whose unlisted edges have this room; the failpoint may cut it off. */
async function loadAlone(
  pieces: readonly object[][],
  most: { edges: number; elements: number },
  failpoint?: string,
): Promise<{ path: string; isCut: boolean }> {
  const { path, storage } = garden();
  const writer = new Writer(storage.env, defaultLimits, {});
  const unlisted = new DeferredAdjacency(writer.context, (work) => writer.transact(work), most);
  const catalog = catalogOf(readCatalog(storage.env.meta));
  let isCut = false;
  armFailpoint(failpoint);
  try {
    load(storage, pieces, (work) => {
      let view: LoadView | undefined;
      writer.load(catalog, 0, (given) => work((view = given)), true);
      unlisted.take(view!.deferred!);
    });
    unlisted.flush();
  } catch (error) {
    expect(String(error)).toContain('failpoint');
    isCut = true;
  } finally {
    armFailpoint(undefined);
  }
  await storage.close();
  return { path, isCut };
}

describe('edges whose adjacency is deferred', () => {
  const pieces = piecesOf(1, 8);
  const wanted = plainLists(pieces);

  it('has a hub of several chunks to compare', () => {
    expect(wanted.filter((line) => line.includes('"id":1,')).length).toBeGreaterThan(4);
  });

  it.each([
    { edges: 1, elements: 1 },
    { edges: 1, elements: 1000 },
    { edges: 300, elements: 7 },
    { edges: 500, elements: 1000 },
    { edges: 1e6, elements: 13 },
    { edges: 1e6, elements: 1e6 },
  ])('are listed in the end: room for $edges, $elements elements together', async (most) => {
    const { path, isCut } = await loadAlone(pieces, most);
    expect(isCut).toBe(false);
    const storage = reopen(path);
    expect(listsOf(storage)).toEqual(wanted);
    expect([oldestDeferredEdge(storage.env), [...check(storage.env)]]).toEqual([0, []]);
  });

  it('are listed when the data are opened after a crash at any step', async () => {
    let cuts = 0;
    const rooms = [{ edges: 400, elements: 25 }];
    if (isLong) rooms.push({ edges: 900, elements: 1000 }, { edges: 1e6, elements: 9 });
    for (const most of rooms) {
      for (let step = 1, isCut = true; isCut; step++) {
        const loaded = await loadAlone(pieces, most, `listEdges@${step}:throw`);
        ({ isCut } = loaded);
        cuts += Number(isCut);
        // The file shows that lists are not whole, and no damage.
        expect(checkData(`${loaded.path}/data.mdb`).broken).toEqual([]);
        const storage = reopen(loaded.path);
        // Those of the pieces that were committed.
        const found = listsOf(storage);
        const done = pieces.findIndex((_, i) => found.join() === listsUpTo(i + 1).join());
        expect({ most, step, done }).not.toEqual({ most, step, done: -1 });
        if (!isCut) expect(done).toBe(pieces.length - 1);
        expect(oldestDeferredEdge(storage.env)).toBe(0);
        expect([...check(storage.env)]).toEqual([]);
        await storage.close();
      }
    }
    expect(cuts).toBeGreaterThan(isLong ? 60 : 30);
  });

  const known = new Map<number, string[]>();
  function listsUpTo(count: number): string[] {
    if (!known.has(count)) known.set(count, plainLists(pieces.slice(0, count)));
    return known.get(count)!;
  }

  it('are listed again after a crash during the listing, at any step', async () => {
    const { path } = await loadAlone(pieces, { edges: 1e6, elements: 9 }, 'listEdges@5:throw');
    let storage: Storage | undefined;
    let cuts = 0;
    for (let step = 1; storage === undefined; step++) {
      armFailpoint(`listEdges@${step}:throw`);
      try {
        storage = reopen(path);
      } catch (error) {
        expect(String(error)).toContain('failpoint');
        cuts++;
      }
    }
    armFailpoint(undefined);
    expect(cuts).toBeGreaterThan(3);
    expect(listsOf(storage)).toEqual(wanted);
    expect(storage.listedAtOpen).toBeGreaterThan(500);
    await storage.close();
    expect(reopen(path).listedAtOpen).toBe(0);
  });

  it('are listed before anything else is written', () => {
    const { storage } = garden();
    load(storage, pieces, (work) => void storage.load(0, work, true));
    expect(oldestDeferredEdge(storage.env)).toBeGreaterThan(0);
    expect([...check(storage.env)]).toEqual([]);
    expect(listsOf(storage).length).toBeLessThan(wanted.length);
    write(storage, (view) => view.createNode(labelNamed(storage, 'Plant'), new Map()));
    expect(oldestDeferredEdge(storage.env)).toBe(0);
    expect(listsOf(storage)).toEqual(wanted);
  });

  it('are not listed by a read-only opener, which fails', async () => {
    const { path } = await loadAlone(pieces, { edges: 1e6, elements: 9 }, 'listEdges@3:throw');
    const permit = new WriteFence(undefined, undefined, 'the configuration says so');
    const open = (): Storage =>
      openStorage(path, { limits: defaultLimits, mode: 'attach', permit });
    expect(open).toThrow(/cut off/);
    await reopen(path).close();
    expect(open).not.toThrow();
  });
});
