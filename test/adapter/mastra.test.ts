// `trellisdb/mastra` over a database in this process, with a stand-in for what is used of `@mastra/core`: what a
// vector store of Mastra has to do. The real one, which needs Node 22, is asked in framework.test.ts.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Filter } from '../../server/integrations/filter.js';
import type { TrellisVector } from '../../server/integrations/mastra.js';
import { makeFolder, removeFolder, root } from '../support/project.js';

const schema = `
V::Chunk {
    UNIQUE INDEX key: String, text: String, metadata: String,
    source: String, year: I32
}
N::Topic { name: String }
E::About { From: Chunk, To: Topic }
QUERY about(key: String) =>
    t <- AddN<Topic>({name: "one"})
    AddE<About>::From(V<Chunk>({key: key}))::To(t)
    RETURN "done"
QUERY topics(key: String) => t <- V<Chunk>({key: key})::Out<About>::COUNT RETURN t
QUERY texts() => c <- V<Chunk> RETURN c::{key, text}
`;
const standIn = {
  'package.json': JSON.stringify({
    name: '@mastra/core',
    type: 'module',
    exports: { './vector': './vector.js' },
  }),
  'vector.js': 'export class MastraVector { constructor({ id }) { this.id = id; } }',
};

// biome-ignore lint/suspicious/noExplicitAny: as it is built, without its types.
let adapter: any;
// biome-ignore lint/suspicious/noExplicitAny: as it is built, without its types.
let database: any;
let folder: string;
let store: TrellisVector;
const indexName = 'Chunk';
const of = (indexes: object): TrellisVector =>
  new adapter.TrellisVector({ id: 'trellis', caller: database, indexes });
const properties = { source: 'String', year: 'I32' };

beforeAll(async () => {
  folder = makeFolder();
  const core = join(folder, 'node_modules/@mastra/core');
  mkdirSync(core, { recursive: true });
  for (const [name, text] of Object.entries(standIn)) writeFileSync(join(core, name), text);
  const path = join(folder, 'node_modules/mastra.mjs');
  cpSync(join(root, 'dist/bin/mastra.js'), path);
  adapter = await import(pathToFileURL(path).href);
  const { open } = await import(join(root, 'dist/bin/index.js'));
  const sources = [{ path: 'main.hx', text: schema }];
  database = await open({ dataDir: join(folder, 'data'), sources, workers: 0 });
  store = of({ Chunk: { properties } });
});
afterAll(async () => {
  await database?.close();
  removeFolder(folder);
});

const vectors = [
  [1, 0, 0],
  [0.9, 0.1, 0],
  [0, 1, 0],
];
const metadata = [
  { source: 'a.pdf', year: 1, text: 'one' },
  { source: 'a.pdf', year: 2, text: 'two', deep: { list: [1, null] } },
  { source: 'b.pdf', year: 3 },
];
const ids = ['a1', 'a2', 'b1'];
const idsOf = (hits: { id: string }[]): string[] => hits.map(({ id }) => id);
const all = { indexName, queryVector: [1, 0, 0], topK: 9 };

beforeEach(async () => {
  await store.deleteIndex({ indexName });
  expect(await store.upsert({ indexName, vectors, metadata, ids })).toEqual(ids);
});

test('W16 upsert and query: the nearest, with scores, metadata, and vectors on request', async () => {
  const hits = await store.query({ ...all, includeVector: true });
  expect(idsOf(hits)).toEqual(ids);
  expect(hits[1]).toMatchObject({ id: 'a2', metadata: metadata[1] });
  expect(hits[0]!.score).toBeCloseTo(1, 5);
  expect(hits[0]!.vector).toHaveLength(3);
  expect((await store.query(all))[0]).not.toHaveProperty('vector');
  const filter: Filter = { $and: [{ source: 'a.pdf' }, { year: { $gt: 1 } }] };
  expect(idsOf(await store.query({ ...all, filter }))).toEqual(['a2']);
  expect(idsOf(await store.query({ indexName, filter: { source: 'b.pdf' } }))).toEqual(['b1']);
  expect(await store.query({ ...all, topK: 2, filter: { year: { $gte: 2 } } })).toHaveLength(2);
  await store.upsert({ indexName, vectors: [[0, 0, 1]], ids: ['a1'] });
  expect((await store.query({ ...all, queryVector: [0, 0, 1] }))[0]).toMatchObject({
    id: 'a1',
    metadata: {},
  });
  const [made] = await store.upsert({ indexName, vectors: [[1, 1, 1]] });
  expect(made).toMatch(/^[0-9a-f-]{36}$/);
});

test('W16 a source is replaced in one request, or not at all', async () => {
  const deleteFilter = { source: 'a.pdf' };
  const one = { indexName, vectors: [[1, 0, 0]], deleteFilter };
  await store.upsert({ ...one, ids: ['a3'], metadata: [{ source: 'a.pdf' }] });
  expect(idsOf(await store.query(all))).toEqual(['a3', 'b1']);
  const wrong = store.upsert({ ...one, metadata: [{ year: 'no year' }] });
  await expect(wrong).rejects.toThrow(/year/);
  expect(idsOf(await store.query(all))).toEqual(['a3', 'b1']);
});

test('W16 indexes: what there is, as it is declared, or what to declare', async () => {
  expect(await store.listIndexes()).toEqual(['Chunk']);
  const stats = { dimension: 3, count: 3, metric: 'cosine' };
  expect(await store.describeIndex({ indexName })).toEqual(stats);
  await store.createIndex({ indexName, dimension: 3 });
  await expect(store.createIndex({ indexName, dimension: 4 })).rejects.toThrow('has 3 dimensions');
  const other = store.createIndex({ indexName, dimension: 3, metric: 'euclidean' });
  await expect(other).rejects.toThrow('measures by cosine');
  await store.deleteIndex({ indexName });
  const empty = { ...stats, dimension: 0, count: 0 };
  expect(await store.describeIndex({ indexName })).toEqual(empty);
  await store.createIndex({ indexName, dimension: 4 });
  const missing = of({ Missing: { properties } });
  const declared = 'V::Missing {\n    UNIQUE INDEX key: String,\n    text: String,';
  await expect(missing.createIndex({ indexName: 'Missing', dimension: 3 })).rejects.toThrow(
    declared,
  );
  expect(missing.declaration('Missing')).toContain('year: I32');
  await expect(store.query({ ...all, indexName: 'Nothing' })).rejects.toThrow('`indexes`');
});

test('W16 update: by id or filter, the vector or the metadata, in place', async () => {
  await database.call('about', { key: 'a1' });
  await store.updateVector({ indexName, id: 'a1', update: { vector: [0, 0, 1] } });
  const at = async (queryVector: number[]) => (await store.query({ ...all, queryVector }))[0];
  expect(await at([0, 0, 1])).toMatchObject({ id: 'a1', metadata: metadata[0] });
  const about = { source: 'c.pdf', text: 'new' };
  await store.updateVector({ indexName, id: 'a1', update: { metadata: about } });
  expect(await at([0, 0, 1])).toMatchObject({ id: 'a1', metadata: about });
  // What it says no longer is no property, either.
  expect(idsOf(await store.query({ ...all, filter: { year: { $lt: 2 } } }))).toEqual([]);
  const both = { vector: [0, 1, 1], metadata: { source: 'd.pdf', year: 9 } };
  const filter = { year: { $in: [2, 3] } };
  await store.updateVector({ indexName, filter, update: both });
  const changed = await store.query({ ...all, filter: { source: 'd.pdf', year: 9 } });
  expect(idsOf(changed).sort()).toEqual(['a2', 'b1']);
  // The element is the one it was: its edges are there, and its text where none came.
  expect(await database.call('topics', { key: 'a1' })).toEqual({ t: 1 });
  const { c } = await database.call('texts');
  expect(c).toContainEqual({ key: 'a1', text: 'new' });
  expect(c).toContainEqual({ key: 'a2', text: 'two' });
  await store.updateVector({ indexName, id: 'nobody', update: both });
  expect(await store.query({ ...all, filter: { year: 9 } })).toHaveLength(2);
});

test('W16 delete: by id, by ids, by filter', async () => {
  await store.deleteVector({ indexName, id: 'a1' });
  expect(idsOf(await store.query(all))).toEqual(['a2', 'b1']);
  await store.deleteVectors({ indexName, filter: { source: 'b.pdf' } });
  await store.deleteVectors({ indexName, ids: ['nobody'] });
  expect(idsOf(await store.query(all))).toEqual(['a2']);
});

test('W16 what cannot be done is said before anything is', async () => {
  const sparse = { indices: [1], values: [1] };
  const refused: [() => Promise<unknown>, string][] = [
    [() => store.upsert({ indexName, vectors, sparseVectors: [sparse] }), 'Sparse'],
    [() => store.query({ ...all, sparseVector: sparse }), 'Sparse'],
    [() => store.query({ indexName }), 'queryVector or a filter'],
    [() => store.query({ ...all, filter: { source: { $regex: 'a' } } }), 'cannot be asked'],
    [() => store.updateVector({ indexName, id: 'a1', update: {} }), 'a vector or metadata'],
    [() => store.updateVector({ indexName, update: { vector: [1, 0, 0] } }), 'an id or a filter'],
    [() => store.deleteVectors({ indexName }), 'ids or a filter'],
    [() => store.deleteVectors({ indexName, ids, filter: { year: 1 } }), 'ids or a filter'],
  ];
  for (const [act, why] of refused) await expect(act()).rejects.toThrow(why);
  expect(await store.query(all)).toHaveLength(3);
});
