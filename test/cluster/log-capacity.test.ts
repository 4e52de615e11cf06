// K42: a node without room for vectors that another one had room for serves them all the same, looking at each,
// and refuses only what it would have to take itself.
import { cpSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../support/random.js';
import { TestCluster, type TestNode } from './support/nodes.js';

const source = `
  V::Note { INDEX kind: I64, text: String }
  V::Mark { text: String }
  QUERY note(rows: [{ vector: [F64], kind: I64, text: String }]) =>
      FOR {vector, kind, text} IN rows {
          AddV<Note>(vector, { kind: kind, text: text })
      }
      RETURN "done"
  QUERY mark(vector: [F64]) =>
      mark <- AddV<Mark>(vector, { text: "one" })
      RETURN mark::COUNT
  QUERY drop(text: String) =>
      DROP V<Note>::WHERE(_::{text}::EQ(text))
      RETURN "done"
  QUERY near(vector: [F64]) =>
      notes <- SearchV<Note>(vector, 10)
      RETURN notes::{ text }
  QUERY nearOf(vector: [F64], kind: I64) =>
      notes <- SearchV<Note>(vector, 10)::PREFILTER(_::{kind}::EQ(kind))
      RETURN notes::{ text }
  QUERY marks(vector: [F64]) =>
      marks <- SearchV<Mark>(vector, 10)
      RETURN marks::{ text }
`;
const dimension = 8;
const random = new Random(42);
const vector = (): number[] =>
  Array.from({ length: dimension }, () => random.below(2000) / 1000 - 1);
let next = 0;
const rows = (count: number) =>
  Array.from({ length: count }, () => ({ vector: vector(), kind: next % 2, text: `n${next++}` }));

let cluster: TestCluster;
/**
 * After the first election the lease is so long that no leader loses it on a slow machine. Then a leader
 * changes only by `stepDown` and by a stop.
 */
const settings = { leaseMs: 600, appendTimeoutMs: 20_000 };
const longLeaseMs = 60_000;
/** Room for some hundred vectors, not for thousands. */
const small = { vectors: { default: { metric: 'dot', memoryBytes: 200_000 } } } as const;
const large = { vectors: { default: { metric: 'dot' } } } as const;
const exact = { vectors: { default: { metric: 'dot', exact: true } } } as const;

beforeAll(async () => {
  cluster = await TestCluster.found(['a', 'b'], source, large, settings);
  const first = await cluster.open('a');
  await cluster.leader();
  settings.leaseMs = longLeaseMs;
  // A node that is named leads at once, whatever the lease: b leads until a has the long lease too.
  const second = await cluster.open('b');
  await second.cluster.waitFor(first.cluster.position, 40_000);
  await first.cluster.stepDown({ node: 'b', address: 'b:1' });
  await cluster.stop('a');
  await cluster.until(() => second.cluster.role === 'leader');
  const again = await cluster.open('a', exact);
  await again.cluster.waitFor(second.cluster.position, 40_000);
  await second.cluster.stepDown({ node: 'a', address: 'a:1' });
  await cluster.until(() => again.cluster.role === 'leader');
  await cluster.stop('b');
});
afterAll(() => cluster.close());

const noted = (node: TestNode) =>
  node.db.database.indexes().find((each) => each.kind === 'vector' && each.type === 'Note');

const countOf = (node: TestNode): number => {
  const index = noted(node);
  return index?.kind === 'vector' ? index.vectors : -1;
};

async function expectSame(a: TestNode, b: TestNode): Promise<void> {
  await b.cluster.waitFor(a.cluster.position, 40_000);
  for (let i = 0; i < 8; i++) {
    const asked = vector();
    for (const [query, args] of [
      ['near', { vector: asked }],
      ['nearOf', { vector: asked, kind: i % 2 }],
      ['marks', { vector: asked }],
    ] as const)
      expect(await b.db.call(query, args), query).toEqual(await a.db.call(query, args));
  }
}

describe('a follower without room', () => {
  test('K42 searches exactly once the vectors are too many, and says so', async () => {
    const a = await cluster.leader();
    const told: string[] = [];
    const log = (_: string, message: string): void => void told.push(message);
    const b = await cluster.open('b', { ...small, log });
    await a.db.call('mark', { vector: vector() });
    await a.db.call('note', { rows: rows(100) });
    await expectSame(a, b);
    expect(noted(b)).toMatchObject({ givenUp: false, vectors: 100 });
    for (let i = 0; i < 2; i++) await a.db.call('note', { rows: rows(500) });
    await expectSame(a, b);
    expect(noted(b)).toMatchObject({ givenUp: true, vectors: 1100 });
    expect(noted(a)).toMatchObject({ givenUp: false, vectors: 1100 });
    expect(told.filter((text) => text.startsWith('no room for the vectors'))).toHaveLength(1);
    // Each later change is seen at once.
    await a.db.call('drop', { text: 'n7' });
    await a.db.call('note', { rows: rows(1) });
    await a.db.call('mark', { vector: vector() });
    await expectSame(a, b);
  });

  test('K42 starts like that, with or without snapshots, and as the leader refuses more', async () => {
    await cluster.stop('b');
    const b = await cluster.open('b', small);
    const a = await cluster.leader();
    expect(a.name).toBe('a');
    await b.cluster.waitFor(a.cluster.position, 40_000);
    expect(noted(b)).toMatchObject({ givenUp: true });
    await expectSame(a, b);
    await a.cluster.stepDown({ node: 'b', address: 'b:1' });
    await cluster.until(() => b.cluster.role === 'leader');
    await expect(b.db.call('note', { rows: rows(1) })).rejects.toMatchObject({
      code: 'VECTOR_CAPACITY',
    });
    await b.db.call('mark', { vector: vector() });
    await b.db.call('drop', { text: 'n8' });
    await expectSame(b, a);
    await b.db.database.snapshot();
    await cluster.stop('b');
    const again = await cluster.open('b', large);
    const { role } = again.cluster;
    expect([role, noted(again)]).toMatchObject([role, { givenUp: false, vectors: 1099 }]);
  });
});

describe('a reader that skips a type', () => {
  const reader = (skipVectors: string[]) => ({
    ...large,
    workers: 1,
    cluster: {
      role: 'reader' as const,
      skipVectors,
      log: cluster.log.urlOf('c'),
      node: 'c',
      advertise: 'c:1',
    },
  });
  const skipped = { code: 'VECTORS_SKIPPED', data: { args: { type: 'Note' } } };

  test('K42 refuses such a search, also in its lanes, keeps no index, and has all other data', async () => {
    const a = await cluster.leader();
    await a.db.call('note', { rows: rows(20) });
    cpSync(cluster.folderOf('a'), cluster.folderOf('c'), { recursive: true });
    const c = await cluster.open('c', reader(['Note']));
    // What comes later is not indexed either, nor what the first vector of a type would begin.
    await a.db.call('note', { rows: rows(1200) });
    await c.cluster.waitFor(a.cluster.position, 40_000);
    const asked = vector();
    for (let i = 0; i < 3; i++) {
      await expect(c.db.call('near', { vector: asked })).rejects.toMatchObject(skipped);
      await expect(c.db.call('nearOf', { vector: asked, kind: 1 })).rejects.toMatchObject(skipped);
    }
    expect(await c.db.call('marks', { vector: asked })).toEqual(
      await a.db.call('marks', { vector: asked }),
    );
    expect(noted(c)).toMatchObject({ givenUp: true, vectors: countOf(a) });
    expect(c.cluster.isReady).toBe(true);
    await cluster.stop('c');
    const again = await cluster.open('c', reader([]));
    await expectSame(a, again);
    expect(noted(again)).toMatchObject({ givenUp: false, vectors: countOf(a) });
    await cluster.stop('c');
  });

  test('a node that may lead skips no vectors', async () => {
    const { cluster: place, ...rest } = reader(['Note']);
    const member = { ...rest, cluster: { ...place, role: 'member' as const } };
    await expect(cluster.open('c', member)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
