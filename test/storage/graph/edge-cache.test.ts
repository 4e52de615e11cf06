// Kept lists of edges against the lists themselves, under commits of every kind: whatever a snapshot
// says, the cache says too.
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { EdgeCache } from '../../../engine/storage/graph/edge-cache.js';
import { Random } from '../../support/random.js';
import { freshFolder, labelNamed, openGarden, values, write } from '../support/garden.js';

const storage = openGarden(freshFolder(), {});
afterAll(() => storage.close());
const numRuns = process.env.TRELLIS_TEST_LONG === '1' ? 500 : 15;

it('lists are those of the snapshot after every commit', () => {
  const [gardener, follows] = ['Gardener', 'Follows'].map((name) => labelNamed(storage, name));
  const view = storage.reader();
  const people: number[] = [];
  const edges: number[] = [];
  const joined = new Set<number>();
  write(storage, (txn) => {
    for (let i = 0; i < 6; i++) people.push(txn.createNode(gardener!, values({ city: `${i}` })));
  });
  const act = fc.record({
    kind: fc.constantFrom('link', 'link', 'cut', 'nothing'),
    from: fc.nat({ max: 5 }),
    to: fc.nat({ max: 5 }),
  });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 20 }), (acts) => {
      for (const { kind, from, to } of acts) {
        write(storage, (txn) => {
          expect(txn.committed).toBeUndefined();
          const pair = 6 * from + to;
          // Two of these people are joined once at most.
          if (kind === 'link' && !joined.has(pair) && joined.add(pair))
            edges.push(txn.createEdge(follows!, people[from]!, people[to]!, values({})));
          const edge = edges[from];
          if (kind === 'cut' && edge !== undefined && txn.record(edge)) txn.remove(edge);
        });
        view.refresh();
        for (const direction of ['out', 'in'] as const) {
          const lists = view.committed!.edgeCache().of(follows!.id, direction);
          for (const id of people) {
            const wanted = view.adjacency(id, follows!.id, direction);
            // A second look is answered without reading.
            for (let look = 0; look < 2; look++) expect(lists.get(id)).toEqual(wanted);
            const word = lists.find(id);
            const found = lists.words.subarray(word + 1, word + 1 + lists.words[word]!);
            expect(found).toEqual(wanted);
          }
        }
      }
    }),
    { numRuns },
  );
});

it('returns every list unchanged and caches a bounded part', () => {
  const random = new Random(3);
  const listOf = (id: number): Uint32Array => {
    const list = new Uint32Array(id % 997 === 0 ? 140_000 : 2 + 2 * (id % 901));
    list[list.length - 1] = id;
    return list;
  };
  let reads = 0;
  const cache = new EdgeCache((id) => {
    reads++;
    return listOf(id);
  }).moveTo(1);
  const held = new Map<number, Uint32Array>();
  const looks = 30_000;
  for (let i = 0; i < looks; i++) {
    // Ids that share low bits, and ids that share high ones.
    const id = 1 + (random.chance(0.5) ? random.below(3000) : (random.below(5000) << 16) >>> 0);
    const list = cache.of(i & 1, 'out').get(id);
    if (i % 50 === 0) held.set(id, list);
    if (list.at(-1) !== id || list.length !== listOf(id).length) expect(list).toEqual(listOf(id));
  }
  for (const [id, list] of held)
    expect(
      Buffer.from(list.buffer, list.byteOffset, list.byteLength).equals(
        new Uint8Array(listOf(id).buffer),
      ),
    ).toBe(true);
  expect(reads).toBeLessThan(looks);
  const before = reads;
  const last = cache.moveTo(1).of(0, 'in');
  expect([last.known(5), last.get(5), last.known(5) > 0]).toEqual([0, listOf(5), true]);
  expect(cache.moveTo(2).of(0, 'in').known(5)).toBe(0);
  expect(reads).toBe(before + 1);
});
