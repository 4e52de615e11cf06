// Vector searches against the index and the transaction: what the index does not know, what the
// store no longer has, and filters; always exactly the k best of an exhaustive comparison.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { execute } from '../../engine/exec/run.js';
import { similarity } from '../../engine/exec/runtime/similarity.js';
import type { Access, ItemExpression } from '../../engine/plan/expression.js';
import { decodeProperty } from '../../engine/storage/record/record.js';
import type { Metric } from '../../engine/vector/index.js';
import { numCandidates } from '../../engine/vector/oversampling.js';
import { MemoryIndex } from '../support/memory-index.js';
import { Garden, gardenSchema, plan } from './support/garden.js';
import { kit } from './support/kit.js';

const { compare, get, lit, many, slot } = kit;

const note = (garden: Garden) => garden.view.catalog.find('vector', 'Note')!;

/** With an index on the language. */
const schema = {
  ...gardenSchema,
  vectors: gardenSchema.vectors.map((type) => ({
    ...type,
    properties: type.properties.map((each) =>
      each.name === 'lang' ? { ...each, index: 'index' as const } : each,
    ),
  })),
};

/** Ids and scores of the k nearest notes; `indexed`: what the filter allows comes from an index. */
function search(
  garden: Garden,
  query: number[],
  k: number,
  least?: string,
  indexed = false,
): [number, number][] {
  if (least === undefined) return searchBy(garden, query, k, {});
  const prefilter = { slot: 1, value: compare('GTE', get(slot(1), 'lang'), lit(least)) };
  const low = { value: lit(least), inclusive: true };
  const access: Access = { path: { kind: 'between', property: 'lang', low }, covers: 1 };
  return searchBy(garden, query, k, indexed ? { prefilter, access } : { prefilter });
}

function searchBy(
  garden: Garden,
  query: number[],
  k: number,
  filter: { prefilter?: ItemExpression; access?: Access },
): [number, number][] {
  const value = many({
    kind: 'searchVector',
    type: 'Note',
    vector: lit(Float64Array.from(query)),
    k: lit(k),
    ...filter,
  });
  const made = plan({ kind: 'items', value, answer: 'all', data: false });
  const { items } = execute(made, [], garden.context(garden.view));
  return Array.from(items!.ids, (id, i) => [id, items!.scores![2 * i]!]);
}

/** The same by looking at everything. */
function naive(
  garden: Garden,
  query: number[],
  k: number,
  metric: Metric,
  least?: string,
): [number, number][] {
  const lang = note(garden).properties.find((each) => each.name === 'lang')!;
  const found: [number, number][] = [];
  for (const [id, vector] of garden.view.vectors) {
    const value = decodeProperty(garden.view.records.get(id)!, lang) as string;
    if (least !== undefined && value < least) continue;
    found.push([id, similarity(metric, Float64Array.from(query), vector).score]);
  }
  return found.sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, k);
}

const languages = new Map([
  [0, 'a'],
  [1, 'b'],
  [2, 'c'],
]);
const vectors = fc.array(
  fc.tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -3, max: 3 })),
  { maxLength: 12 },
);
const metrics = fc.constantFrom<Metric>('cosine', 'dot', 'l2');

/**
 * A garden of notes: some in the index, some only in the transaction, some deleted or replaced in
 * it.
 */
function mixed(
  committed: [number, number][],
  fresh: [number, number][],
  deleted: number[],
  replaced: number[],
  metric: Metric,
): Garden {
  const garden = new Garden(schema, false);
  const label = note(garden);
  garden.indexes.set(label.id, new MemoryIndex('Note', metric));
  const add = ([x, y]: [number, number]) => {
    const id = 1 + garden.view.records.size;
    garden.view.createVector(
      label,
      Float64Array.of(x, y),
      new Map([['lang', languages.get(id % 3)!]]),
    );
  };
  for (const each of committed) add(each);
  garden.commit();
  for (const each of fresh) add(each);
  const ids = [...garden.view.vectors.keys()];
  for (const at of replaced) {
    const id = ids[at % (ids.length || 1)];
    if (id !== undefined) garden.view.replaceVector(id, Float64Array.of(at % 5, 1));
  }
  const gone = new Set(deleted.map((at) => ids[at % (ids.length || 1)]));
  for (const id of gone) if (id !== undefined) garden.view.remove(id);
  return garden;
}

describe('vector search', () => {
  it('finds the k best of index and transaction together', () => {
    const positions = fc.array(fc.nat(20), { maxLength: 4 });
    fc.assert(
      fc.property(
        vectors,
        vectors,
        positions,
        positions,
        fc.integer({ min: 1, max: 15 }),
        metrics,
        (a, b, gone, moved, k, metric) => {
          const garden = mixed(a, b, gone, moved, metric);
          expect(search(garden, [1, 2], k)).toEqual(naive(garden, [1, 2], k, metric));
          const best = naive(garden, [1, 2], k, metric, 'b');
          expect(search(garden, [1, 2], k, 'b')).toEqual(best);
          expect(search(garden, [1, 2], k, 'b', true)).toEqual(best);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('requests more from the index if the store no longer has its hits', () => {
    const garden = new Garden(schema, false);
    const label = note(garden);
    for (let i = 0; i < 50; i++)
      garden.view.createVector(label, Float64Array.of(50 - i, i), new Map());
    garden.commit();
    const index = garden.indexes.get(label.id)!;
    // Deleted behind the index's back, as by a writer whose publication has not arrived.
    for (let id = 1; id <= 30; id++) garden.view.remove(id);
    garden.view.pending.length = 0;
    expect(search(garden, [1, 0], 5).map(([id]) => id)).toEqual([31, 32, 33, 34, 35]);
    const first = numCandidates(index.options, 2, 5);
    expect(index.asked.slice(0, 2)).toEqual([first, 2 * first]);
    expect(search(garden, [1, 0], 100).length).toBe(20);
  });

  it('checks the limits while it requests more candidates', () => {
    const garden = new Garden(schema, false);
    const label = note(garden);
    for (let i = 0; i < 3000; i++)
      garden.view.createVector(label, Float64Array.of(3000 - i, i), new Map());
    garden.commit();
    for (let id = 1; id <= 2999; id++) garden.view.remove(id);
    garden.view.pending.length = 0;
    let asked = 0;
    const context = { ...garden.context(garden.view), cancelled: () => ++asked > 2 };
    const value = many({
      kind: 'searchVector',
      type: 'Note',
      vector: lit(Float64Array.of(1, 0)),
      k: lit(5),
    });
    const made = plan({ kind: 'items', value, answer: 'all', data: false });
    expect(() => execute(made, [], context)).toThrow();
  });

  it('separates near vectors whose scores round to the same number', () => {
    for (const metric of ['cosine', 'l2'] as const) {
      const garden = new Garden(schema, false);
      const label = note(garden);
      garden.indexes.set(label.id, new MemoryIndex('Note', metric));
      const off = [3e-9, 1e-9, 2e-9].map((x) => (metric === 'l2' ? x * 0.1 : x));
      for (const x of off) garden.view.createVector(label, Float64Array.of(1, x), new Map());
      garden.commit();
      const found = search(garden, [1, 0], 3);
      expect(new Set(found.map(([, score]) => score))).toEqual(new Set([1]));
      expect(found.map(([id]) => id)).toEqual([2, 3, 1]);
    }
  });

  it('goes through the index if many vectors match a filter', () => {
    const garden = new Garden(schema, false);
    const label = note(garden);
    for (let i = 0; i < 1500; i++) {
      const values = new Map([['lang', i % 10 === 0 ? 'a' : 'b']]);
      garden.view.createVector(label, Float64Array.of(Math.cos(i), Math.sin(i)), values);
    }
    garden.commit();
    const index = garden.indexes.get(label.id)!;
    const hits = search(garden, [1, 0], 20, 'b');
    expect(index.asked).toEqual([numCandidates(index.options, 2, 20)]);
    expect(hits.length).toBe(20);
    expect(hits.every(([id]) => (id - 1) % 10 !== 0)).toBe(true);
    expect(search(garden, [1, 0], 20, 'c')).toEqual([]);
  });

  it('works without an index', () => {
    const garden = mixed(
      [
        [1, 0],
        [0, 1],
      ],
      [],
      [],
      [],
      'cosine',
    );
    garden.indexes.clear();
    expect(search(garden, [0, 1], 1)).toEqual([[2, 1]]);
  });
});
