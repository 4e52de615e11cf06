// Compares pages deep in a list with the list itself, under commits of every kind: a position that a thread
// has counted belongs to its snapshot, whatever was added, removed or refused since.
import fc from 'fast-check';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { addAllToList, scanList } from '../../../engine/storage/graph/label-bitmap.js';
import { LabelRank } from '../../../engine/storage/graph/label-rank.js';
import { openEnv } from '../../../engine/storage/table/env.js';
import type { ReadView } from '../../../engine/storage/table/view-types.js';
import { joinWords } from '../../../engine/storage/table/little-endian.js';
import { freshFolder, labelNamed, openGarden, values, write } from '../support/garden.js';

const storage = openGarden(freshFolder(), {});
afterAll(() => storage.close());
const isLong = process.env.TRELLIS_TEST_LONG === '1';

const idsFrom = (view: ReadView, label: number, skip?: number): Uint32Array =>
  joinWords([...view.scan(label, skip)]);

it('a page begins at its position in the list after every commit', () => {
  const labels = ['Gardener', 'Plant'].map((name) => labelNamed(storage, name));
  const [often, seldom] = [storage.reader(), storage.reader()];
  const act = fc.record({
    kind: fc.constantFrom('add', 'add', 'cut', 'swap', 'refused', 'nothing'),
    which: fc.nat({ max: 1 }),
    count: fc.constantFrom(1, 40, 700, 2500),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    looks: fc.boolean(),
  });
  const check = (view: ReadView & { refresh(): void }, at: number): void => {
    view.refresh();
    for (const { id } of labels) {
      const all = idsFrom(view, id);
      expect(all.length).toBe(view.count(id));
      const places = [Math.floor(at * all.length), 2048, 4096, all.length - 1, all.length, 1e6];
      for (const skip of places.filter((place) => place >= 0)) {
        const [found, wanted] = [idsFrom(view, id, skip), all.subarray(skip)];
        if (Buffer.compare(bytesOf(found), bytesOf(wanted)) !== 0) expect(found).toEqual(wanted);
      }
    }
  };
  fc.assert(
    fc.property(fc.array(act, { maxLength: 12 }), (acts) => {
      for (const { kind, which, count, at, looks } of acts) {
        const label = labels[which]!;
        const add = (): void =>
          write(storage, (txn) => {
            for (let i = 0; i < count; i++) txn.createNode(label, values({}));
            if (kind === 'refused') throw new RangeError('refused');
          });
        const cut = (): void =>
          write(storage, (txn) => {
            const all = idsFrom(txn, label.id);
            const first = Math.floor(at * all.length);
            txn.removeAll(all.slice(first, first + count), () => undefined);
            // As many as before, elsewhere.
            for (let i = first; kind === 'swap' && i < all.length && i < first + count; i++)
              txn.createNode(label, values({}));
          });
        if (kind === 'add') add();
        else if (kind === 'refused') expect(add).toThrow('refused');
        else if (kind !== 'nothing') cut();
        if (looks) check(seldom, at);
        check(often, 1 - at);
      }
    }),
    { numRuns: isLong ? 300 : 8 },
  );
});

it('blocks without a removal count are valid for one commit', () => {
  const env = openEnv(join(freshFolder(), 'graph'));
  const put = (...ids: number[]): void =>
    env.transact(() => {
      addAllToList(env.labels, 1, ids);
      return true;
    });
  const idAt = (places: LabelRank, commits: number, departures: number): number | undefined => {
    const from = places.find(1, 3, { nextId: 20_000, commits, removalCount: departures });
    return joinWords([...scanList(env.labels, 1, undefined, 3, from)])[0];
  };
  const places = new LabelRank(env.labels);
  put(3000, 3001, 6000, 9000, 9001);
  for (const departures of [0, 7]) expect(idAt(places, 1, departures)).toBe(9000);
  for (const id of [1, 2]) {
    // As a writer that does not count moves one into a block that was counted.
    put(id);
    expect(idAt(places, 1 + id, 0)).toBe(id === 1 ? 6000 : 3001);
  }
  env.close();
});

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
