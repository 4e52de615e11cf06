// Whatever of the configuration shapes stored derived data may differ from one start to the next: old
// elements are still found, changed and deleted as if the present values had always held.
import { afterEach, expect, test } from 'vitest';
import { LoneDatabase, type LoneOptions } from './lone-database.js';

const declare = (properties: string): string => `
N::Item { INDEX key: String, ${properties} }
V::Emb { key: String }
QUERY add(key: String, note: String, tail: String) =>
  i <- AddN<Item>({ key: key, note: note, tail: tail }) RETURN i::ID
QUERY change(key: String, note: String) =>
  i <- N<Item>({ key: key })::UPDATE({ note: note }) RETURN NONE
QUERY rename(key: String, to: String) => i <- N<Item>({ key: key })::UPDATE({ key: to }) RETURN NONE
QUERY drop(key: String) => DROP N<Item>({ key: key }) RETURN NONE
QUERY find(w: String) => i <- SearchBM25<Item>(w, 100) RETURN i::{key}
QUERY have(key: String) => i <- N<Item>({ key: key }) RETURN i::{key}
QUERY addV(vec: [F64], key: String) => v <- AddV<Emb>(vec, { key: key }) RETURN v::ID
QUERY dropV(key: String) => DROP V<Emb>::WHERE(_::{key}::EQ(key)) RETURN NONE
QUERY near(vec: [F64]) => v <- SearchV<Emb>(vec, 100) RETURN v::{key}
`;
const source = declare('note: String, tail: String');
const reordered = declare('tail: String, note: String');

const long = 'word '.repeat(60);
const many = Array.from({ length: 9 }, (_, i) => `heron${i}`).join(' ');

const everyEnd = process.env.TRELLIS_TEST_LONG === '1' ? [false, true] : [true];

let database: LoneDatabase;
afterEach(() => database.dispose());

function fill(): void {
  for (const key of ['a', 'b', 'c', 'd'])
    database.call('add', { key, note: many, tail: `x ${key}` });
  database.call('add', { key: long, note: 'stork', tail: 'y' });
  for (let i = 0; i < 5; i++) database.call('addV', { vec: [i / 3, 1 / 3], key: `v${i}` });
}

const keys = (rows: { key: string }[]): string[] => rows.map(({ key }) => key).sort();
const find = (w: string): string[] => keys(database.call('find', { w }).i);

/** Old elements are searched, changed and deleted; `terms` is how many words of one count. */
function expectRight(terms: number): void {
  expect(database.verify()).toEqual([]);
  for (const i of [0, 8]) expect(find(`heron${i}`)).toEqual(i < terms ? ['a', 'b', 'c', 'd'] : []);
  database.call('change', { key: 'a', note: 'crane' });
  database.call('change', { key: 'b', note: `crane ${many}` });
  database.call('drop', { key: 'c' });
  database.call('change', { key: long, note: 'crane' });
  database.call('rename', { key: long, to: 'short' });
  expect(find('crane')).toEqual(['a', 'b', 'short']);
  expect(find('heron0')).toEqual(['b', 'd']);
  expect(keys(database.call('have', { key: 'short' }).i)).toEqual(['short']);
  expect(database.call('have', { key: long }).i).toEqual([]);
  database.call('drop', { key: 'short' });
  database.call('dropV', { key: 'v1' });
  database.call('addV', { vec: [9, 1], key: 'v9' });
  expect(keys(database.call('near', { vec: [1, 1] }).v)).toEqual(['v0', 'v2', 'v3', 'v4', 'v9']);
  expect(database.verify()).toEqual([]);
}

const emb = (options: NonNullable<LoneOptions['types']>[string]): LoneOptions => ({
  types: { Emb: options },
});

const cases: [what: string, before: LoneOptions, after: LoneOptions, terms: number][] = [
  ['fewer terms of a document', {}, { limits: { document_terms: 3 } }, 3],
  ['more terms of a document', { limits: { document_terms: 3 } }, {}, 99],
  ['keyword search after a time without', { textEnabled: false }, {}, 99],
  ['shorter keys of indexes', {}, { limits: { index_key_bytes: 20 } }, 99],
  ['embeddings kept as f32', emb({ store: 'f64' }), emb({ store: 'f32' }), 99],
  ['embeddings kept as f64', emb({ store: 'f32' }), emb({ store: 'f64' }), 99],
  ['another metric', emb({ metric: 'cosine' }), emb({ metric: 'l2' }), 99],
  ['another layout', emb({ layout: 'fast' }), emb({ layout: 'compact' }), 99],
  ['no graph', emb({}), emb({ exact: true }), 99],
  ['another graph', emb({ m: 8 }), emb({ m: 32, efConstruction: 32 }), 99],
  ['a length asked for', emb({}), emb({ dimensions: 2 }), 99],
  ['shorter vectors of requests', {}, { limits: { vector_dimensions: 2 } }, 99],
];

test.each(cases)('%s', (_, before, after, terms) => {
  for (const isClean of everyEnd) {
    database = new LoneDatabase().open(source, before);
    fill();
    if (isClean) database.stop();
    else database.kill();
    database.open(source, after);
    expectRight(terms);
    if (!isClean) database.dispose();
  }
});

test('documents that are cut short, under a declaration in another order', () => {
  database = new LoneDatabase().open(source, { limits: { document_terms: 5 } });
  fill();
  database.reload(reordered);
  expectRight(5);
});
