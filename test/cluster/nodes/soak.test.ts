// CT11: nodes under reads, writes and searches for a long time, one follower started anew again and again: the others
// stay close behind the leader, the log stays as small as it may be, and nothing that was answered is missing.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random } from '../../support/random.js';
import { expectFigure } from '../../support/run/figure.js';
import { TestCluster, type TestNode } from '../support/nodes.js';
import { source } from '../support/workload.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const keepBytes = 256 * 1024;
/** How often the whole log is written anew. */
const turns = isLong ? 200 : 3;
const callsAtOnce = 10;

let cluster: TestCluster;
beforeAll(async () => {
  // It is looked at twice a second.
  cluster = await TestCluster.found(['a', 'b', 'c'], source, {}, { keepBytes, keepMs: 8000 });
  await Promise.all(['a', 'b', 'c'].map((name) => cluster.open(name)));
});
afterAll(() => cluster.close());

test(
  'CT11 a long run with restarts',
  async () => {
    const random = new Random(11);
    const added: string[] = [];
    const lags: number[] = [];
    const sizes: number[] = [];
    let leader = await cluster.leader();
    const vector = (): number[] => Array.from({ length: 8 }, () => random.next() - 0.5);
    const followers = (): TestNode[] => [...cluster.nodes.values()].filter((one) => one !== leader);

    /** Of ten calls seven read, two write, one searches. */
    const call = async (i: number): Promise<void> => {
      const reader = random.pick(followers()).db;
      if (i === 9) await reader.call('near', { vector: vector() });
      else if (i === 8)
        await leader.db.call('note', { vector: vector(), text: `t${added.length}` });
      else if (i === 7) {
        const code = `i${added.length}-${random.below(1e9)}`;
        await leader.db.call('add', { code, stock: random.below(1000) });
        added.push(code);
      } else await reader.call('find', { words: added.at(-1 - random.below(5)) ?? 'none' });
    };
    const work = async (until: number, measured: boolean): Promise<void> => {
      while (cluster.log.written < until) {
        await Promise.all(Array.from({ length: callsAtOnce }, (_, i) => call(i)));
        sizes.push(cluster.log.size);
        if (measured) for (const { cluster: node } of followers()) lags.push(node.lagMs);
      }
    };

    for (let turn = 0; turn < turns; turn++) {
      leader = await cluster.leader();
      const { written } = cluster.log;
      const [restarted] = followers();
      await cluster.stop(restarted!.name);
      // It finds what it needs: an eighth of what the log may keep.
      await work(written + keepBytes / 8, false);
      const back = await cluster.open(restarted!.name);
      await back.cluster.waitFor(leader.cluster.position, 40_000);
      await work(written + keepBytes, true);
    }
    await cluster.until(() => cluster.log.size <= keepBytes);
    // It refuses at twice as many.
    expect(Math.max(...sizes)).toBeLessThan(2 * keepBytes);
    expect(cluster.log.first).toBeGreaterThan(1);
    lags.sort((a, b) => a - b);
    expectFigure(lags[Math.floor(0.99 * lags.length)]!, 1000, 'ms behind the leader, p99');
    await cluster.settle();
    for (const { db, cluster: node } of cluster.nodes.values()) {
      const { items } = await db.call<{ items: { code: string }[] }>('all', {});
      expect(items.map(({ code }) => code).sort()).toEqual([...added].sort());
      expect(node.fault).toBeUndefined();
    }
    for (const name of ['a', 'b', 'c']) await cluster.stop(name);
    const [one, ...others] = ['a', 'b', 'c'].map((name) => cluster.hashesOf(name));
    for (const other of others) expect(other).toEqual(one);
  },
  isLong ? 3_600_000 : 300_000,
);
