// Whatever is written through whichever leader, and wherever one of them dies: all nodes hold the same, byte
// for byte, and nothing that was answered is missing.
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { check } from '../../engine/storage/check/check.js';
import { openEnv } from '../../engine/storage/table/env.js';
import { TestCluster, type TestNode } from './support/nodes.js';
import { Workload, source } from './support/workload.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const names = ['a', 'b', 'c'];
let cluster: TestCluster;

const add = (node: TestNode, code: string) => node.db.call('add', { code, stock: 1 });
const codes = async (node: TestNode): Promise<string[]> => {
  const { items } = await node.db.call<{ items: { code: string }[] }>('all', {});
  return items.map(({ code }) => code);
};

function expectEqual(): void {
  const [first, ...others] = names.map((name) => cluster.hashesOf(name));
  for (const hashes of others) expect(hashes).toEqual(first);
}

describe.runIf(isLong)('random writes', () => {
  beforeAll(async () => {
    cluster = await TestCluster.found(names, source);
    await Promise.all(names.map((name) => cluster.open(name)));
  });
  afterAll(() => cluster.close());

  test.each([1, 2, 3, 4, 5, 6])(
    'CT3 CT8 K34 leave equal tables and searches on all nodes, seed %i',
    async (seed) => {
      const work = new Workload(seed);
      const rounds = 40;
      for (let round = 0; round < rounds; round++) {
        const leader = await cluster.leader();
        if (round % 3 === 1) cluster.log.fault(leader.name, { loseAnswers: 1 });
        await work.burst(leader, 120);
        if (round % 3 === 0) await work.import(leader, 3000);
        cluster.log.fault(leader.name, undefined);
        if (round % 2 === 1) await leader.cluster.stepDown();
      }
      expect(work.done).toBeGreaterThan(rounds * 30);
      await cluster.settle();
      expectEqual();
      const nodes = [...cluster.nodes.values()];
      const vector = work.vector();
      const answers = async (node: TestNode) => [
        await node.db.call('find', { words: 'heron moss' }),
        await node.db.call('near', { vector }),
      ];
      const expected = await answers(nodes[0]!);
      for (const node of nodes) expect(await answers(node)).toEqual(expected);
      for (const { folder } of nodes) {
        const env = openEnv(join(folder, 'graph'), { readOnly: true });
        expect(check(env)).toEqual([]);
        await env.close();
      }
    },
  );
});

/** Where the writer of the leader ends, and whether the write it was about is in the log then. */
const points: [point: string, isThere: boolean][] = [
  ['C6', false],
  ['C7', true],
  ['W9', true],
  ['W10', true],
  ['W11', true],
];
const passes = [1, 2, 7];

describe.runIf(isLong)('a leader that ends', () => {
  afterEach(() => cluster.close());

  const cases = points.flatMap(([point, isThere]) =>
    passes.map((pass) => ({ point, isThere, pass })),
  );
  test.each(cases)(
    'CT5 at $point the time $pass: all or nothing, everywhere',
    async ({ point, isThere, pass }) => {
      cluster = await TestCluster.found(names, source);
      const b = await cluster.open('b');
      const a = await cluster.open('a', { failpoint: `${point}@${pass}:throw` });
      // Where b is first, it hands over.
      if ((await cluster.leader()) === b) await b.cluster.stepDown({ node: 'a', address: 'a:1' });
      await cluster.until(() => a.cluster.role === 'leader');
      const expected: string[] = [];
      for (let i = 1; i <= pass; i++) {
        const done = await add(a, `i${i}`).then(
          () => true,
          () => false,
        );
        if (done || (i === pass && isThere)) expected.push(`i${i}`);
      }
      await cluster.until(() => b.cluster.role === 'leader');
      expect(await codes(b)).toEqual(expected);
      await add(b, 'after');
      expected.push('after');
      await cluster.stop('a');
      const again = await cluster.open('a');
      await again.cluster.waitFor(b.cluster.position, 40_000);
      expect(await codes(again)).toEqual(expected);
      await cluster.settle();
      if (!isLong) expectEqual();
      else expect(cluster.hashesOf('a')).toEqual(cluster.hashesOf('b'));
    },
  );
});
