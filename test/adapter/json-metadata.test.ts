// Metadata of the type Json [HT05]: the store of a framework filters by members that no schema declares, as a
// naive program does; values come back as they were put.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedDatabase, open } from '../../engine/internal.js';
import { type Filter, conditionOf } from '../../server/integrations/filter.js';
import { readMetadata, VectorType } from '../../server/integrations/vector-type.js';
import { makeFolder } from '../support/project.js';
import { Random } from '../support/random.js';

const schema = `V::Chunk { UNIQUE INDEX key: String, text: String, metadata: Json }
QUERY count() => RETURN V<Chunk>::COUNT`;

let db: EmbeddedDatabase;
let store: VectorType;
const random = new Random(5);
const words = ['ann', 'bo', 'cy'];
const rows = Array.from({ length: 80 }, (_, i) => ({
  key: `k${i}`,
  text: 't',
  vector: [random.next(), random.next()],
  metadata: {
    ...(random.chance(0.8) && { page: random.below(6) }),
    ...(random.chance(0.8) && { author: { name: random.pick(words) } }),
    ...(random.chance(0.5) && { kind: random.chance(0.5) ? 'page' : random.below(3) }),
    draft: random.chance(0.5),
  } as Record<string, unknown>,
}));

beforeAll(async () => {
  db = await open({ dataDir: makeFolder(), sources: [{ path: 'a.hx', text: schema }] });
  store = new VectorType({ caller: db, type: 'Chunk', metadataType: 'Json' });
  await store.put(rows);
});
afterAll(() => db.close());

async function found(filter: Filter): Promise<{ key: string; metadata: unknown }[]> {
  const { text, declared, values } = store.condition(filter);
  const lines = [
    `QUERY search(vector: [F64]${declared}) =>`,
    `hits <- SearchV<Chunk>(vector, 100)::PREFILTER(${text})`,
    'RETURN hits::{ key, metadata }',
  ];
  const { hits } = await store.run<{ hits: { key: string; metadata: unknown }[] }>(lines, {
    ...values,
    vector: [1, 0],
  });
  return hits;
}

const at = (metadata: Record<string, unknown>, path: string): unknown =>
  path.split('.').reduce<unknown>((of, name) => (of as Record<string, unknown>)?.[name], metadata);

const filters: [Filter, (metadata: Record<string, unknown>) => boolean][] = [
  [{ page: 3 }, (m) => m.page === 3],
  [{ page: '3' }, () => false],
  [{ 'author.name': 'bo' }, (m) => at(m, 'author.name') === 'bo'],
  [{ page: { $gte: 2, $lt: 5 } }, (m) => (m.page as number) >= 2 && (m.page as number) < 5],
  [{ 'author.name': { $in: ['ann', 'cy'] } }, (m) => /ann|cy/.test(String(at(m, 'author.name')))],
  [{ kind: 'page' }, (m) => m.kind === 'page'],
  [{ kind: 1 }, (m) => m.kind === 1],
  [{ draft: true }, (m) => m.draft === true],
  [{ page: { $ne: 1 } }, (m) => m.page !== 1],
  [{ $or: [{ page: 0 }, { draft: false }] }, (m) => m.page === 0 || m.draft === false],
  [{ nothing: 'x' }, () => false],
];

// A title reads `$gte` as a name of its own.
const titled = filters.map(
  ([filter, passes]) => [JSON.stringify(filter).replaceAll('$', ''), filter, passes] as const,
);
test.each(titled)('%s finds what a naive program finds', async (_, filter, passes) => {
  const hits = await found(filter);
  const wanted = rows.filter(({ metadata }) => passes(metadata)).map(({ key }) => key);
  expect(hits.map(({ key }) => key).sort()).toEqual(wanted.sort());
  for (const { key, metadata } of hits)
    expect(readMetadata(metadata)).toEqual(rows.find((row) => row.key === key)!.metadata);
});

test.each(['a"b', 'a\\b', '', 'a..b', '.a', 'a\nb', '")::EQ(1) DROP V<Chunk> //'])(
  'the name %j is no path',
  async (name) => {
    expect(() => conditionOf({ [name]: 1 }, new Map(), 'metadata')).toThrow(TypeError);
    expect(await db.call('count')).toEqual({ data: 80 });
  },
);

test('the declaration has the type, and a filter without it is refused', () => {
  expect(store.declaration).toContain('metadata: Json');
  const plain = new VectorType({ caller: db, type: 'Chunk' });
  expect(plain.declaration).toContain('metadata: String');
  expect(() => plain.condition({ page: 1 })).toThrow(/not in `properties`/);
});
