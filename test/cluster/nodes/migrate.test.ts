// CT8, K28, K31: changes of the schema on all nodes at once, told as what they change or, where that is too much, as
// what every node has to do: both ways leave the same bytes as a process of its own would have.
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { hashTables } from '../../../engine/database/replication/table-check.js';
import { openEnv } from '../../../engine/storage/table/env.js';
import { TestCluster, type TestNode } from '../support/nodes.js';

const queries = `
  QUERY add(code: String, stock: I64) =>
      item <- AddN<Item>({ code: code, stock: stock })
      RETURN item::{ code }
  QUERY note(vector: [F64], text: String) =>
      note <- AddV<Note>(vector, { text: text })
      RETURN note::COUNT
  QUERY near(vector: [F64]) =>
      notes <- SearchV<Note>(vector, 5)
      RETURN notes::{ text }
  QUERY all() =>
      items <- N<Item>
      RETURN items`;
const first = `schema::1 { N::Item { INDEX code: String, stock: I64 } V::Note { text: String } }`;
const second = `
  schema::2 {
      N::Item { INDEX code: String, INDEX stock: F64, seen: Date DEFAULT NOW, note: String }
      V::Note { text: String, lang: String }
  }
  MIGRATION schema::1 => schema::2 {
      N::Item => _:: { code: code, stock: stock AS F64, note: "from the first" }
      V::Note => _:: { text: text, lang: "en" }
  }`;

const isLong = process.env.TRELLIS_TEST_LONG === '1';

let cluster: TestCluster;
// Threads of two nodes on a busy machine.
vi.setConfig({ testTimeout: 120_000 });
afterEach(() => cluster.close());

const other = (node: TestNode): TestNode =>
  [...cluster.nodes.values()].find((each) => each !== node)!;

function hashesNow(name: string): object {
  const env = openEnv(join(cluster.folderOf(name), 'graph'), { readOnly: true });
  const hashes = hashTables(env);
  void env.close();
  return hashes;
}

async function fill(leader: TestNode): Promise<void> {
  const calls = Array.from({ length: 30 }, (_, i) =>
    leader.db.call('add', { code: `i${i}`, stock: i }),
  );
  const notes = Array.from({ length: 12 }, (_, i) =>
    leader.db.call('note', { vector: [i, 30 - i, 1], text: `t${i}` }),
  );
  await Promise.all([...calls, ...notes]);
}

const counted = (node: TestNode, name: string, label: string): number | undefined =>
  node.cluster
    .metrics()
    .find((each) => each.name === name && Object.values(each.labels ?? {}).includes(label))?.value;

describe.each([
  ['as what it changes', 1 << 28],
  ['as an intent', 0],
])('a migration %s', (how, schemaBytes) => {
  const isIntent = schemaBytes === 0;
  const more = (name: string) => ({
    cluster: { schemaBytes, log: cluster.log.urlOf(name), node: name, advertise: `${name}:1` },
  });

  test(`CT8 K31 ${how}: all nodes have it, with equal tables and answers`, async () => {
    cluster = await TestCluster.found(['a', 'b'], first + queries);
    await Promise.all(['a', 'b'].map((name) => cluster.open(name, more(name))));
    const leader = await cluster.leader();
    const follower = other(leader);
    await fill(leader);
    await cluster.settle();
    await cluster.reload(leader, second + first + queries);
    await leader.db.call('add', { code: 'later', stock: 1.5 }).catch(() => undefined);
    await cluster.settle();
    expect(hashesNow('b')).toEqual(hashesNow('a'));
    expect(counted(leader, 'cluster_entries_total', 'intent')).toBe(isIntent ? 1 : 0);
    expect(counted(leader, 'cluster_entries_total', 'check')).toBe(isIntent ? 1 : 0);
    expect(counted(follower, 'cluster_check_total', 'equal')).toBe(isIntent ? 1 : 0);
    expect(follower.cluster.fault).toBeUndefined();
    for (const [query, args] of [
      ['all', {}],
      ['near', { vector: [3, 27, 1] }],
    ] as const)
      expect(await follower.db.call(query, args)).toEqual(await leader.db.call(query, args));
    const { items } = await leader.db.call<{ items: { note: string }[] }>('all', {});
    expect(items.filter(({ note }) => note === 'from the first')).toHaveLength(30);
    // The other one leads, and what it has made of it goes on.
    await leader.cluster.stepDown({ node: follower.name, address: `${follower.name}:1` });
    await cluster.until(() => follower.cluster.role === 'leader');
    await follower.db.call('note', { vector: [1, 1, 1], text: 'after' });
    await cluster.settle();
    expect(hashesNow('b')).toEqual(hashesNow('a'));
  });

  async function endsAt(point: string): Promise<{ a: TestNode; b: TestNode }> {
    cluster = await TestCluster.found(['a', 'b'], first + queries);
    const b = await cluster.open('b', more('b'));
    await cluster.leader();
    await fill(b);
    // The first thing that it commits as the leader is the migration.
    const a = await cluster.open('a', { ...more('a'), failpoint: `${point}@1:throw` });
    await a.cluster.waitFor(b.cluster.position, 40_000);
    await b.cluster.stepDown({ node: 'a', address: 'a:1' });
    await cluster.until(() => a.cluster.role === 'leader');
    const told = cluster.reload(a, second + first + queries);
    await expect(told).rejects.toThrow();
    return { a, b };
  }

  const migrated = async (node: TestNode): Promise<number> => {
    const { items } = await node.db.call<{ items: { note?: string }[] }>('all', {});
    return items.filter(({ note }) => note === 'from the first').length;
  };

  test.runIf(isLong)(`CT8 CT5 ${how}: at C6 no node has it, and it can be repeated`, async () => {
    const { a, b } = await endsAt('C6');
    expect(await migrated(a)).toBe(0);
    expect(a.cluster.role).toBe('leader');
    await cluster.reload(a, second + first + queries);
    await cluster.settle();
    expect([await migrated(a), await migrated(b)]).toEqual([30, 30]);
    expect(hashesNow('b')).toEqual(hashesNow('a'));
  });

  test(`CT8 CT5 ${how}: at C7 its leader leads no more, and all have it`, async () => {
    const { a, b } = await endsAt('C7');
    await expect(a.db.call('note', { vector: [1, 1, 1], text: 'no' })).rejects.toThrow();
    await cluster.until(() => b.cluster.role === 'leader');
    expect(await migrated(b)).toBe(30);
    await cluster.stop('a');
    const again = await cluster.open('a', more('a'));
    await b.db.call('note', { vector: [1, 1, 1], text: 'after' });
    await again.cluster.waitFor(b.cluster.position, 40_000);
    expect(hashesNow('b')).toEqual(hashesNow('a'));
    // Whoever leads next makes sure of what its leader could not compare.
    expect(counted(b, 'cluster_entries_total', 'check')).toBe(isIntent ? 1 : 0);
    expect(counted(again, 'cluster_check_total', 'equal')).toBe(isIntent ? 1 : 0);
  });
});
