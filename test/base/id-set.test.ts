// Sets and tables of ids against those of the language: few ids and many, near each other and far apart.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newIds } from '../../engine/base/u32-array.js';
import { IdSet } from '../../engine/base/id-set.js';
import { IdDistances } from '../../engine/exec/search/id-distances.js';

const last = 0xffff_fffe;
const id = fc.oneof(
  fc.integer({ min: 0, max: 70 }),
  fc.integer({ min: 0, max: last }),
  fc.constantFrom(0, 1, 0x7fff_fffe, 0x7fff_ffff, 0x8000_0000, last),
);
const lists = fc.array(fc.array(id, { maxLength: 120, size: 'max' }), { maxLength: 3 });

describe('ids', () => {
  it('a set contains what was added since it was cleared', () => {
    fc.assert(
      fc.property(lists, (rounds) => {
        const set = new IdSet();
        for (const ids of rounds) {
          const wanted = new Set<number>();
          for (const each of ids) {
            expect(set.add(each)).toBe(!wanted.has(each));
            wanted.add(each);
            expect(set.size).toBe(wanted.size);
          }
          for (const each of [...ids, ...rounds.flat()])
            expect(set.has(each)).toBe(wanted.has(each));
          set.clear();
          for (const each of ids) expect(set.has(each)).toBe(false);
          expect(set.size).toBe(0);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('a table of distances has the first distance of each id since it was cleared', () => {
    fc.assert(
      fc.property(lists, fc.integer({ min: 0, max: 8000 }), (rounds, more) => {
        const table = new IdDistances();
        for (const [round, ids] of rounds.entries()) {
          table.clear();
          const wanted = new Map<number, number>();
          const all =
            round === 0 ? [...ids, ...Array.from({ length: more }, (_, i) => i * 7)] : ids;
          for (const [at, each] of all.entries()) {
            expect(table.add(each, at)).toBe(!wanted.has(each));
            if (!wanted.has(each)) wanted.set(each, at);
          }
          for (const each of rounds.flat()) expect(table.get(each)).toBe(wanted.get(each) ?? -1);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('lists of the arena are zeros and share no element', () => {
    const all = Array.from({ length: 500 }, (_, i) => newIds((i * 37) % 3000));
    for (const list of all) expect(list.every((value) => value === 0)).toBe(true);
    for (const [i, list] of all.entries()) list.fill(i + 1);
    for (const [i, list] of all.entries())
      expect(list.every((value) => value === i + 1)).toBe(true);
  });
});
