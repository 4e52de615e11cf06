// Adjacency chunks, label lists and index lists against plain arrays, with and without undo.
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  appendEdges,
  readAdjacency,
  readDegree,
  removeEdges,
  writeAdjacency,
} from '../../engine/storage/graph/adjacency.js';
import { UndoLog } from '../../engine/storage/table/undo-log.js';
import { openEnv } from '../../engine/storage/table/env.js';
import { addAllToList, removeFromList, scanList } from '../../engine/storage/graph/label-bitmap.js';
import { indexKey, prefixOf } from '../../engine/storage/index/index-key.js';
import { idsWithin } from '../../engine/storage/index/index-scan.js';
import { addEntry, idsUnder, removeEntries } from '../../engine/storage/index/property-index.js';
import { isTaken } from '../../engine/storage/index/unique-value.js';
import type { IndexBounds, StoredProperty } from '../../engine/storage/table/view-types.js';
import { typeNamed } from './support/declare.js';
import { freshFolder } from './support/garden.js';

const env = openEnv(freshFolder());
afterAll(() => env.close());

const log = new UndoLog({ txn_writes: 1e9, txn_bytes: 1e12 });
const numRuns = process.env.TRELLIS_TEST_LONG === '1' ? 2000 : 20;

/** Runs inside a transaction that is given up at the end: no run sees another. */
function attempt(work: () => void): void {
  env.transact(() => {
    log.begin();
    work();
    return false;
  });
}

const flat = (batches: Iterable<Uint32Array>): number[] => [...batches].flatMap((ids) => [...ids]);

describe('adjacency', () => {
  const list = { id: 5, label: 3 };
  const read = () => [...readAdjacency(env.out, 5, 3)];
  const append = (edge: number) =>
    appendEdges(env.out, list, Uint32Array.of(edge, edge * 2), 2, log);
  const pairsOf = (edges: number[]) => edges.flatMap((edge) => [edge, edge * 2]);

  it('equals an array under appends and removals', () => {
    // Steps add many or remove from anywhere, so that lists cross several chunk borders both ways.
    const step = fc.oneof(
      fc.record({ add: fc.integer({ min: 1, max: 150 }) }),
      fc.record({
        cut: fc.integer({ min: 1, max: 120 }),
        at: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        attempt(() => {
          let edges: number[] = [];
          let next = 1;
          for (const step of steps) {
            if ('add' in step) for (let i = 0; i < step.add; i++) edges.push(next++);
            if ('add' in step) for (const edge of edges.slice(-step.add)) append(edge);
            else {
              const from = Math.floor(step.at * Math.max(0, edges.length - step.cut));
              for (const edge of edges.slice(from, from + step.cut))
                removeEdges(log, env.out, list, Uint32Array.of(edge));
              edges = [...edges.slice(0, from), ...edges.slice(from + step.cut)];
            }
            expect(read()).toEqual(pairsOf(edges));
            expect(readDegree(env.out, 5, 3)).toBe(edges.length);
          }
          log.undo();
          expect(read()).toEqual([]);
          expect(
            env.out.keys({
              start: { id: 0, label: 0, chunk: 0 },
              end: { id: 9, label: 0, chunk: 0 },
            }),
          ).toEqual([]);
        });
      }),
      { numRuns },
    );
  });

  it('leaves no chunk when the last edge is deleted', () => {
    attempt(() => {
      for (let edge = 1; edge <= 700; edge++) append(edge);
      for (let edge = 700; edge >= 1; edge--) removeEdges(log, env.out, list, Uint32Array.of(edge));
      expect(
        env.out.keys({ start: { id: 5, label: 3, chunk: 0 }, end: { id: 6, label: 0, chunk: 0 } }),
      ).toEqual([]);
    });
  });

  it('can be replaced as a whole', () => {
    attempt(() => {
      for (const count of [0, 1, 128, 129, 300, 5]) {
        const edges = Array.from({ length: count }, (_, i) => i + 1);
        writeAdjacency(log, env.out, list, Uint32Array.from(pairsOf(edges)));
        append(1000);
        expect(read()).toEqual(pairsOf([...edges, 1000]));
      }
    });
  });

  it('refuses to remove what it does not hold', () => {
    attempt(() => {
      append(1);
      append(3);
      expect(() => removeEdges(log, env.out, list, Uint32Array.of(2))).toThrow(
        /edge \d+ is missing/,
      );
    });
  });
});

describe('label lists', () => {
  it('equal a sorted set', () => {
    const id = fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 0xfffffffe }));
    fc.assert(
      fc.property(fc.uniqueArray(id, { maxLength: 80 }), fc.func(fc.boolean()), (ids, goes) => {
        attempt(() => {
          for (const id of ids) addAllToList(env.labels, 2, [id], log);
          addAllToList(env.labels, 1, [77], log);
          addAllToList(env.labels, 3, [78], log);
          const gone = ids.filter((id) => goes(id));
          for (const id of gone) removeFromList(log, env.labels, 2, Uint32Array.of(id));
          const left = ids.filter((id) => !gone.includes(id)).sort((a, b) => a - b);
          expect(flat(scanList(env.labels, 2))).toEqual(left);
          log.undo();
          expect(flat(scanList(env.labels, 2))).toEqual([]);
        });
      }),
      { numRuns },
    );
  });

  it('hands out dense lists in large batches and may be changed meanwhile', () => {
    attempt(() => {
      for (let id = 1; id <= 60_000; id += 1)
        if (id % 3 !== 0) addAllToList(env.labels, 2, [id], log);
      let count = 0;
      let batches = 0;
      for (const ids of scanList(env.labels, 2)) {
        count += ids.length;
        batches++;
        removeFromList(log, env.labels, 2, Uint32Array.of(ids[0]!));
      }
      expect(count).toBe(40_000);
      expect(batches).toBeLessThan(41);
    });
  });
});

describe('property indexes', () => {
  const property = (name: string): StoredProperty => ({
    name: 'p',
    type: typeNamed(name),
    index: 'index',
    slot: 0,
    indexId: 9,
  });
  const u8 = property('U8');

  it('equal a sorted array of (value, id)', () => {
    const entry = fc.record({
      value: fc.integer({ min: 0, max: 3 }),
      id: fc.integer({ min: 1, max: 400 }),
    });
    const entries = fc.uniqueArray(entry, {
      maxLength: 600,
      minLength: 100,
      selector: ({ value, id }) => `${value}/${id}`,
    });
    fc.assert(
      fc.property(entries, fc.func(fc.boolean()), (all, goes) => {
        attempt(() => {
          for (const { value, id } of all) addEntry(log, env.index, prefixOf(u8, value), id);
          const gone = all.filter((entry) => goes(entry));
          for (const { value, id } of gone)
            removeEntries(log, env.index, indexKey(prefixOf(u8, value), 0), Uint32Array.of(id));
          const left = all.filter((entry) => !gone.includes(entry));
          left.sort((a, b) => a.value - b.value || a.id - b.id);
          for (let value = 0; value < 4; value++) {
            const ids = left.filter((entry) => entry.value === value).map(({ id }) => id);
            expect([...idsUnder(env.index, prefixOf(u8, value))]).toEqual(ids);
            expect(isTaken(env.index, prefixOf(u8, value))).toBe(ids.length > 0);
          }
          const low = { value: 1, inclusive: false };
          const high = { value: 3, inclusive: true };
          const ids = (kept: (value: number) => boolean) =>
            left.filter(({ value }) => kept(value)).map(({ id }) => id);
          const within = (bounds: IndexBounds) => flat(idsWithin(env.index, u8, bounds, false));
          const down = (bounds: IndexBounds) => flat(idsWithin(env.index, u8, bounds, true));
          expect(within({})).toEqual(ids(() => true));
          expect(within({ low })).toEqual(ids((v) => v > 1));
          expect(within({ high })).toEqual(ids((v) => v <= 3));
          const both = { low, high: { ...high, inclusive: false } };
          expect(within(both)).toEqual(ids((v) => v === 2));
          const descending = (values: number[]) =>
            values.flatMap((value) => ids((v) => v === value));
          expect(down({})).toEqual(descending([3, 2, 1, 0]));
          expect(down({ low })).toEqual(descending([3, 2]));
          expect(down(both)).toEqual(descending([2]));
          log.undo();
          expect(within({})).toEqual([]);
          expect(down({})).toEqual([]);
        });
      }),
      { numRuns },
    );
  });

  it('holds thousands of ids under one value', () => {
    attempt(() => {
      const prefix = prefixOf(u8, 7);
      const ids = Array.from({ length: 5000 }, (_, i) => 3 * i + 1);
      for (const id of ids) addEntry(log, env.index, prefix, id);
      expect([...idsUnder(env.index, prefix)]).toEqual(ids);
      expect(flat(idsWithin(env.index, u8, {}, false))).toEqual(ids);
      expect(flat(idsWithin(env.index, u8, {}, true))).toEqual(ids);
      for (const id of ids) removeEntries(log, env.index, indexKey(prefix, 0), Uint32Array.of(id));
      expect(isTaken(env.index, prefix)).toBe(false);
    });
  });

  it('takes bounds longer than any key', () => {
    attempt(() => {
      const text = property('String');
      for (const [i, value] of ['a', 'b', 'b'.repeat(1900), 'c'].entries()) {
        addEntry(log, env.index, prefixOf(text, value), i + 1);
      }
      const bound = { value: 'b'.repeat(5000), inclusive: true };
      expect(flat(idsWithin(env.index, text, { low: bound }, false))).toEqual([4]);
      expect(flat(idsWithin(env.index, text, { high: bound }, false))).toEqual([1, 2, 3]);
      expect([...idsUnder(env.index, prefixOf(text, 'b'.repeat(5000)))]).toEqual([]);
    });
  });
});
