// Which data can belong to a cluster: data that were not restored from a backup, and that have the same
// vector settings.
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { TrellisError, errorMessage, open, restore } from '../../../engine/internal.js';
import { TestCluster, type TestNode } from '../support/nodes.js';

const source = `
N::P { age: I64 }
V::T { about: String }
QUERY add(age: I64) => p <- AddN<P>({ age: age }) RETURN p::{age}
QUERY all() => p <- N<P> RETURN p::COUNT
`;

let cluster: TestCluster;
afterEach(() => cluster.close());

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'fine';
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return `${error.code} ${errorMessage(error.data)}`;
  }
};

/** Asks whoever leads, again while nobody does. */
async function ask<T>(work: (leader: TestNode) => Promise<T> | T): Promise<T> {
  for (;;) {
    try {
      return await work(await cluster.leader());
    } catch (error) {
      const code = error instanceof TrellisError ? error.code : '';
      if (!['NOT_LEADER', 'NO_LEADER', 'LOG_UNAVAILABLE'].includes(code)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

const add = (age: number): Promise<unknown> =>
  ask(({ db }) => db.database.call('add', Buffer.from(JSON.stringify({ age }))));

const count = async ({ db }: TestNode): Promise<string> =>
  Buffer.from(await db.database.call('all', Buffer.from('{}'))).toString();

test('K33 restored data neither follow nor append to the log they left, and found another one', async () => {
  cluster = await TestCluster.found(['a'], source);
  const a = await cluster.open('a');
  await add(1);
  const backup = join(cluster.root, 'backup');
  await a.db.database.backUp(backup);
  await add(2);
  const before = cluster.log.last;
  await restore(backup, cluster.folderOf('r'));
  expect(await codeOf(cluster.open('r'))).toMatch(/^CONFIG_INVALID .*restored from a backup/);
  expect(await codeOf(cluster.makeLog('r'))).toMatch(/^CONFIG_INVALID .*another database/);
  expect(await count(a)).toBe('{"p":2}');
  // Beats aside, nobody else has written to it.
  await add(3);
  expect([cluster.log.last > before, a.cluster.role]).toEqual([true, 'leader']);
  // Of a log of its own they are a cluster, whose positions are later than any of the log before.
  const { epoch } = a.cluster.position;
  await cluster.stop('a');
  cluster.log.shorten(0);
  await cluster.makeLog('r');
  const r = await cluster.open('r');
  await cluster.leader();
  expect(r.cluster.position.epoch).toBeGreaterThan(epoch + 1000);
  await add(4);
  expect(await count(r)).toBe('{"p":2}');
});

test('data that went on without their cluster are of it no more', async () => {
  cluster = await TestCluster.found(['a', 'b'], source);
  await cluster.open('a');
  await add(1);
  expect(await codeOf(cluster.makeLog('b'))).toMatch(/^CONFIG_INVALID .*part of a cluster already/);
  const sources = [{ path: 'app.hx', text: source }];
  const alone = await open({ dataDir: cluster.folderOf('b'), sources, minFreeBytes: 0 });
  await alone.database.call('add', Buffer.from('{"age":9}'));
  await alone.close();
  expect(await codeOf(cluster.open('b'))).toMatch(/^CONFIG_INVALID .*went on without/);
  expect(await codeOf(cluster.makeLog('b'))).toMatch(/^CONFIG_INVALID .*another database/);
  // They found another one, and remember that they had one.
  const { epoch } = cluster.nodes.get('a')!.cluster.position;
  await cluster.stop('a');
  cluster.log.shorten(0);
  await cluster.makeLog('b');
  const b = await cluster.open('b');
  await cluster.leader();
  expect(b.cluster.position.epoch).toBeGreaterThan(epoch + 1000);
});

test('K41 metric, dimensions and store of vectors are those that the cluster was founded with', async () => {
  const vectors = (form: object, metric = 'cosine') => ({
    default: { metric },
    types: { T: form },
  });
  const given = { dimensions: 4, store: 'f32', metric: 'dot' } as const;
  cluster = await TestCluster.found(['a', 'b'], source, { vectors: vectors(given) } as never);
  const wrong: [object, RegExp][] = [
    [vectors({ ...given, dimensions: 8 }), /vectors\.T\.dimensions.* is 8 here and 4/],
    [vectors({ ...given, store: 'f64' }), /vectors\.T\.store.* is f64 here and f32/],
    [vectors({ ...given, metric: 'l2' }), /vectors\.T\.metric.* is l2 here and dot/],
    [vectors({}), /vectors\.T\..* is not set here/],
    [vectors(given, 'l2'), /vectors\.metric.* is l2 here and cosine/],
  ];
  for (const [more, said] of wrong) {
    const told = await codeOf(cluster.open('b', { vectors: more } as never));
    expect(told).toMatch(/^CONFIG_INVALID/);
    expect(told).toMatch(said);
  }
  const a = await cluster.open('a');
  // What only costs time may differ.
  const more = { vectors: vectors({ ...given, efSearch: 7, layout: 'compact' }) };
  const b = await cluster.open('b', more as never);
  await add(1);
  await cluster.settle();
  expect([await count(a), await count(b)]).toEqual(['{"p":1}', '{"p":1}']);
});

test('settings that the leader has all nodes know survive changes of leader and a start', async () => {
  cluster = await TestCluster.found(['a', 'b'], source);
  const [a, b] = [await cluster.open('a'), await cluster.open('b')];
  expect([a.cluster.settings(), b.cluster.settings()]).toEqual([undefined, undefined]);
  const set = (text: string) => ask(({ cluster: node }) => node.setSettings(Buffer.from(text)));
  const told = async (): Promise<string[]> => {
    await cluster.settle();
    return [a, b].map(({ cluster: node }) => Buffer.from(node.settings()!).toString());
  };
  await set('one');
  await add(1);
  expect(await told()).toEqual(['one', 'one']);
  await ask(({ cluster: node }) => node.check());
  const first = await cluster.leader();
  const other = first === a ? b : a;
  const refused = await codeOf(other.cluster.setSettings(Buffer.from('x')));
  const said = refused === 'fine' ? other.cluster.role : refused;
  expect(said).toMatch(/^(leader|NOT_LEADER|NO_LEADER|LOG_UNAVAILABLE)/);
  await ask(({ cluster: node }) => node.stepDown());
  await set('two');
  expect(await told()).toEqual(['two', 'two']);
  await ask(({ cluster: node }) => node.check());
  await cluster.settle();
  await cluster.stop('a');
  const again = await cluster.open('a');
  expect(Buffer.from(again.cluster.settings()!).toString()).toBe('two');
  await cluster.settle();
  for (const name of ['a', 'b']) await cluster.stop(name);
  expect(cluster.hashesOf('a')).toEqual(cluster.hashesOf('b'));
});
