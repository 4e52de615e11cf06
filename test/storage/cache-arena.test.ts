// Compares the caches with a map: after additions and removals in any order, every entry is found, arrays
// returned earlier are unchanged, and the arena is no longer than its entries require.
import { expect, it } from 'vitest';
import { EdgeCache } from '../../engine/storage/graph/edge-cache.js';
import { RecordCache } from '../../engine/storage/record/record-cache.js';
import { CacheArena } from '../../engine/storage/record/cache-arena.js';
import { Random } from '../support/random.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const most = 1 << 16;

class Lists extends CacheArena {
  protected override lengthOf(header: number): number {
    return header;
  }
}

function contentOf(arena: CacheArena, word: number): Uint32Array {
  return arena.words.subarray(word + 1, word + 1 + arena.words[word]!);
}

function expectEqual(got: Uint32Array, wanted: Uint32Array): void {
  if (got.length !== wanted.length || got.some((word, i) => word !== wanted[i]))
    expect(got).toEqual(wanted);
}

it.each([
  { live: 1, longest: 4 },
  { live: 10, longest: 900 },
  { live: 300, longest: 40 },
  { live: 2000, longest: 12 },
])('$live at a time, of up to $longest words', ({ live, longest }) => {
  const random = new Random(live);
  const arena = new Lists(16, most);
  const model = new Map<number, Uint32Array>();
  const held: [Uint32Array, Uint32Array][] = [];
  let longestYet = 0;
  for (let turn = 0; turn < (isLong ? 200_000 : 6_000); turn++) {
    const id = 1 + random.below(2 * live) * 7919;
    if (model.delete(id)) {
      arena.drop(id);
      if (arena.known(id) !== 0) expect.fail(`turn ${turn}: a dropped id is known`);
    } else if (model.size < live) {
      const content = Uint32Array.from({ length: random.below(longest) }, () => random.below(1e9));
      const word = arena.add(id, content.length);
      if (word <= 0) expect.fail(`turn ${turn}: no space`);
      arena.words.set(content, word + 1);
      model.set(id, content);
    }
    longestYet = Math.max(longestYet, arena.words.length);
    const some = 1 + random.below(2 * live) * 7919;
    const [found, wanted] = [arena.known(some), model.get(some)];
    if (found > 0 !== (wanted !== undefined)) expect(found).toBe(wanted);
    if (wanted === undefined) continue;
    expectEqual(contentOf(arena, found), wanted);
    if (turn % 100 === 0) held.push([contentOf(arena, found), wanted]);
  }
  for (const [id, wanted] of model) expectEqual(contentOf(arena, arena.known(id)), wanted);
  for (const [was, wanted] of held) expectEqual(was, wanted);
  expect(longestYet).toBeLessThanOrEqual(Math.max(16, 4 * (1 + live * longest) + 2 * longest));
});

it('a full arena has space again after drops', () => {
  const arena = new Lists(16, 1000);
  let count = 0;
  while (arena.add(count + 1, 9) > 0) count++;
  expect(count).toBe(99);
  for (let id = 1; id <= 50; id++) arena.drop(id);
  expect(arena.add(1000, 9)).toBeGreaterThan(0);
  expect(arena.known(99)).toBeGreaterThan(0);
});

/** Changed again and again, as `since` says; what was read before is asked for after each change. */
it('caches do not grow while the same elements are changed', () => {
  let changed: number[] = [];
  const since = {
    move(_commits: number, drop: (id: number) => void): boolean {
      for (const id of changed) drop(id);
      return true;
    },
  };
  const records = new RecordCache((id) => new Uint8Array(30 + (id % 7)).fill(id & 255), since);
  const edges = new EdgeCache((id) => Uint32Array.of(id, id + 1, id + 2, id + 3), since);
  let lengths: number[] = [];
  const count = 500;
  for (let commits = 1; commits < (isLong ? 200_000 : 4_000); commits++) {
    changed = Array.from({ length: 5 }, (_, i) => 1 + ((commits * 5 + i) % count));
    for (const id of changed) {
      const [record, list] = [
        records.moveTo(commits).get(id)!,
        edges.moveTo(commits).of(1, 'out').get(id),
      ];
      if (record[0] !== (id & 255) || list[3] !== id + 3)
        expect([id, record, list]).toBe('its own');
    }
    if (commits === 1000) lengths = [records.bytes.length, edges.of(1, 'out').words.length];
  }
  expect([records.bytes.length, edges.of(1, 'out').words.length]).toEqual(lengths);
  expect(lengths[0]).toBeLessThan(4 * count * 44);
});
