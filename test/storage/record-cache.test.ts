// Kept records against the records themselves, under commits of every kind: whatever a snapshot
// says, the cache says too.
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { RecordCache } from '../../engine/storage/record/record-cache.js';
import { Random } from '../support/random.js';
import { nextTurn } from '../support/run/next-turn.js';
import { freshFolder, labelNamed, openGarden, values, write } from './support/garden.js';

const storage = openGarden(freshFolder(), {});
afterAll(() => storage.close());
const numRuns = process.env.TRELLIS_TEST_LONG === '1' ? 150 : 15;

type Act = { kind: 'create' | 'update' | 'remove' | 'nothing'; which: number };

describe('cached records', () => {
  const gardener = labelNamed(storage, 'Gardener');
  const act: fc.Arbitrary<Act> = fc.record({
    kind: fc.constantFrom('create', 'update', 'update', 'remove', 'nothing'),
    which: fc.nat({ max: 50 }),
  });

  it('are those of the snapshot after every commit', async () => {
    const view = storage.reader();
    const known: number[] = [];
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 20 }), async (acts) => {
        await nextTurn();
        for (const { kind, which } of acts) {
          const id = known[which % Math.max(known.length, 1)];
          write(storage, (txn) => {
            expect(txn.committed).toBeUndefined();
            const city = values({ city: `city ${round++}` });
            if (kind === 'create') known.push(txn.createNode(gardener, city));
            else if (id === undefined || txn.record(id) === undefined) return;
            else if (kind === 'update') txn.update([{ id, values: city }]);
            else if (kind === 'remove') txn.remove(id);
          });
          view.refresh();
          const kept = view.committed!.recordCache();
          for (const each of known) expect(kept.get(each)).toEqual(view.record(each));
          // A second look is answered without reading.
          for (const each of known) expect(kept.get(each)).toEqual(view.record(each));
        }
      }),
      { numRuns },
    );
  });
});

describe('a record cache', () => {
  it('reads each record one time per commit', () => {
    let reads = 0;
    const bytes = Uint8Array.of(1, 2, 3);
    const cache = new RecordCache((id) => {
      reads++;
      return id === 9 ? undefined : bytes;
    });
    expect(cache.moveTo(1).get(5)).toEqual(bytes);
    bytes[0] = 7;
    expect(cache.moveTo(1).get(5)).toEqual(Uint8Array.of(1, 2, 3));
    expect(reads).toBe(1);
    expect(cache.moveTo(2).get(5)).toEqual(bytes);
    expect(cache.get(9)).toBeUndefined();
    expect(cache.get(9)).toBeUndefined();
    expect(reads).toBe(4);
  });

  it('returns every record unchanged', () => {
    const random = new Random(3);
    const bytesOf = (id: number): Uint8Array =>
      new Uint8Array(id % 97 === 0 ? 70_000 : id % 131).fill(id & 255);
    const cache = new RecordCache((id) => (id === 0 ? undefined : bytesOf(id))).moveTo(1);
    const held = new Map<number, Uint8Array>();
    for (let i = 0; i < 60_000; i++) {
      // Ids that share low bits, and ids that share high ones.
      const id = random.chance(0.5) ? random.below(30_000) : (random.below(5000) << 16) >>> 0;
      const record = cache.get(id);
      if (id === 0) expect(record).toBeUndefined();
      else if (i % 50 === 0) held.set(id, record!);
      if (id !== 0 && record!.length !== bytesOf(id).length) expect(record).toEqual(bytesOf(id));
      if (record !== undefined && record.length > 0 && record.at(-1) !== (id & 255))
        expect(record.at(-1)).toBe(id & 255);
    }
    for (const [id, record] of held)
      if (Buffer.compare(record, bytesOf(id)) !== 0) expect(record).toEqual(bytesOf(id));
  });

  it('holds a bounded number of bytes, the newest records', () => {
    let reads = 0;
    const cache = new RecordCache((id) => {
      reads++;
      return new Uint8Array(10_000).fill(id & 255);
    });
    cache.moveTo(1);
    const count = 3000;
    for (let id = 0; id < count; id++) expect(cache.get(id)![0]).toBe(id & 255);
    expect(reads).toBe(count);
    for (let id = count - 700; id < count; id++) expect(cache.get(id)![9999]).toBe(id & 255);
    expect(reads).toBe(count);
    cache.get(0);
    expect(reads).toBe(count + 1);
  });
});
